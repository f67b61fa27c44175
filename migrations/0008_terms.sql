-- Terms, the jobs that take them through their stages, and the inputs of a term.

create table terms (
  tenant_id bigint not null references tenants (tenant_id),
  term_id bigint not null,
  context_id bigint not null,
  batch_id bigint not null,
  billing_period_id bigint not null,
  term_type text not null check (term_type in ('Regular', 'OffCycle', 'Final')),
  label text not null check (label <> ''),
  start_date date not null,
  end_date date not null,
  due_date date not null,
  post_type text not null check (post_type in ('Post Subscription', 'Post Account', 'Post Party')),
  status text not null check (status in ('Open', 'Posted', 'Published', 'Cancelled')),
  stage text not null check (stage in (
    'Created', 'ReadingsUploaded', 'ReadingsPosted', 'ComponentsPosted', 'Generating', 'Generated',
    'Posting', 'Posted', 'Publishing', 'Published', 'Distributing', 'Distributed', 'Cancelled'
  )),
  is_stale boolean not null default false,
  readings_posted_at timestamptz,
  run_number integer not null default 0,
  cancel_reason text,
  issue_date date,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  is_estimated boolean not null default false,
  replaces_bill_id bigint,
  primary key (tenant_id, term_id),
  constraint terms_context_fkey foreign key (tenant_id, context_id)
    references pricing_contexts (tenant_id, context_id),
  constraint terms_batch_fkey foreign key (tenant_id, batch_id)
    references batches (tenant_id, batch_id),
  constraint terms_period_fkey foreign key (tenant_id, billing_period_id)
    references billing_periods (tenant_id, period_id),
  constraint terms_dates check (
    end_date >= start_date and due_date >= start_date and end_date - start_date < 366
  ),
  -- No day of a batch is billed by two regular terms of one billing period.
  constraint terms_overlap exclude using gist (
    tenant_id with =, context_id with =, batch_id with =, billing_period_id with =,
    daterange(start_date, end_date, '[]') with &&
  ) where (term_type = 'Regular' and status <> 'Cancelled')
);
comment on table terms is
  'A term: one billing cycle of a batch, with its dates, its stage and its bills.';
comment on column terms.is_stale is
  'True if something was uploaded, posted or taken back since the last generation.';
comment on column terms.readings_posted_at is
  'When readings were last locked into the term. Null until that was done once.';
comment on column terms.run_number is 'The last run, 0 before the first.';
comment on column terms.is_estimated is
  'True if missing readings were estimated when readings were last posted. A bill without a '
  'reading then says that none could be estimated.';
comment on column terms.replaces_bill_id is 'The cancelled bill that this term bills again.';
-- Labels of the terms of a batch are unique. A term that bills a cancelled bill again has the label
-- of the term of that bill, so that documents and charts name the month.
create unique index terms_label_key
  on terms (tenant_id, context_id, batch_id, label, replaces_bill_id) nulls not distinct
  where status <> 'Cancelled';
create index terms_newest on terms (tenant_id, start_date desc, term_id desc);
create index terms_context on terms (tenant_id, context_id, start_date desc, term_id desc);
create index terms_batch on terms (tenant_id, batch_id);
create index terms_period on terms (tenant_id, billing_period_id);
call wall_off('terms');
grant select, insert, update on terms to billwright_api, billwright_worker;

create table jobs (
  tenant_id bigint not null references tenants (tenant_id),
  job_id bigint not null,
  operation text not null,
  term_id bigint,
  bill_id bigint,
  status text not null
    check (status in ('Scheduled', 'Running', 'Succeeded', 'Failed', 'Cancelled')),
  is_immediate boolean not null,
  parameters jsonb not null default '{}' check (jsonb_typeof(parameters) = 'object'),
  schedule_time text,
  due_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  done integer not null default 0,
  total integer not null default 0,
  error jsonb,
  outcome jsonb,
  requested_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, job_id),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
comment on table jobs is
  'A job: one step of a bill run that was requested. This row is authoritative; the queue only '
  'says that there is something to look at.';
comment on column jobs.is_immediate is
  'True if it was requested to run at once: it blocks other jobs of the term from then on.';
comment on column jobs.schedule_time is 'As it was sent, in the tenant''s time zone.';
comment on column jobs.due_at is 'The instant of schedule_time.';
comment on column jobs.done is 'Set when the job ends. While it runs, its chunks are counted.';
comment on column jobs.error is '{code, message, details}';
-- One at a time for each term.
create unique index jobs_one_per_term on jobs (tenant_id, term_id)
  where term_id is not null and (status = 'Running' or (status = 'Scheduled' and is_immediate));
create index jobs_term on jobs (tenant_id, term_id, job_id) where term_id is not null;
create index jobs_due on jobs (tenant_id, due_at) where status in ('Scheduled', 'Running');
create index jobs_finished on jobs (tenant_id, finished_at) where finished_at is not null;
call wall_off('jobs');
grant select, insert, update on jobs to billwright_api, billwright_worker;

create table workspace_jobs (
  tenant_id bigint not null primary key references workspaces (tenant_id),
  next_job_at timestamptz
);
comment on table workspace_jobs is
  'When a worker next has to look at the jobs of a workspace. One look at this table shows where '
  'there is work, and no row of a workspace: it has no wall, and the API role has no right to it.';
comment on column workspace_jobs.next_job_at is
  'By the clock of the machine. Null if no job waits.';
create index workspace_jobs_next on workspace_jobs (next_job_at) where next_job_at is not null;
grant select, insert, update on workspace_jobs to billwright_worker;

-- Sets when a worker has to look at the workspace, and wakes the workers.
create function note_job() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  ahead interval;
  look_at timestamptz := '-infinity';
begin
  -- A sandbox is ahead of the machine: there the job is due sooner than its own date says. What was
  -- asked for at once is due whatever the clocks of two machines show.
  if not new.is_immediate then
    select make_interval(secs => clock_offset_ms / 1000.0) into ahead
    from tenants where tenant_id = require_tenant();
    look_at := new.due_at - ahead;
  end if;
  insert into workspace_jobs as w (tenant_id, next_job_at) values (require_tenant(), look_at)
  on conflict (tenant_id) do update
    set next_job_at = least(w.next_job_at, excluded.next_job_at);
  -- A workspace with a new job is counted at the next opportunity, also if the job has ended by
  -- then.
  insert into operation_counts (tenant_id, kind, state, amount, counted_at)
  values (require_tenant(), 'job', 'Scheduled', 0, clock_timestamp())
  on conflict do nothing;
  perform pg_notify('billwright_jobs', '');
  return null;
end
$$;
revoke all on function note_job() from public;
create trigger jobs_noted
  after insert on jobs
  for each row execute function note_job();

-- A clock that was moved and a workspace that is resumed may have jobs that are due at once.
create function note_moved_clock() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  update workspace_jobs set next_job_at = '-infinity'
  where tenant_id = require_tenant() and next_job_at is not null;
  perform pg_notify('billwright_jobs', '');
  perform pg_notify('billwright_clocks', require_tenant()::text);
  return null;
end
$$;
revoke all on function note_moved_clock() from public;
create trigger tenants_clock_moved
  after update on tenants
  for each row
  when (old.clock_offset_ms <> new.clock_offset_ms or old.status <> new.status)
  execute function note_moved_clock();

create table job_chunks (
  tenant_id bigint not null,
  job_id bigint not null,
  chunk integer not null check (chunk > 0),
  first_id bigint not null,
  last_id bigint not null,
  is_done boolean not null default false,
  done integer not null default 0,
  outcome jsonb,
  error jsonb,
  primary key (tenant_id, job_id, chunk),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
comment on table job_chunks is
  'A chunk: the part of a job that one worker does in one transaction. The worker locks the row '
  'and marks it done together with its effect, so that it is done once even if a worker dies. The '
  'rows are deleted when the job has ended.';
comment on column job_chunks.first_id is
  'The range of ids that the chunk works on (subscriptions, accounts, parties or bills), both '
  'inclusive.';
comment on column job_chunks.error is 'Why the chunk was set aside: {code, message}.';
create index job_chunks_open on job_chunks (tenant_id, job_id, chunk) where not is_done;
call wall_off('job_chunks');
grant select on job_chunks to billwright_api;
grant select, insert, update, delete on job_chunks to billwright_worker;

create table chunk_attempts (
  tenant_id bigint not null,
  job_id bigint not null,
  chunk integer not null,
  attempt integer not null,
  worker text not null,
  backend_pid integer not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  error text,
  primary key (tenant_id, job_id, chunk, attempt),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
comment on table chunk_attempts is
  'An attempt of a worker at a chunk. It is written by a connection of its own before the work '
  'begins and deleted with the effect: a row that remains shows a worker that died or failed. '
  'Without its row no chunk can be marked done.';
comment on column chunk_attempts.chunk is '0 is the beginning of the job, -1 its end.';
comment on column chunk_attempts.backend_pid is 'The connection that holds the chunk.';
comment on column chunk_attempts.seen_at is 'The heartbeat of the worker.';
call wall_off('chunk_attempts');
grant select, insert, update, delete on chunk_attempts to billwright_worker;

-- Ends the connections of workers without a heartbeat for that long: their work is rolled back and
-- free for others, and a worker that was only paused can no longer commit. The connection is the
-- right one if its transaction is older than the attempt; a reused process id has a younger one.
create function end_lost_attempts(lease interval) returns setof bigint
language plpgsql volatile security definer
set search_path = public, pg_temp
as $$
declare
  lost record;
begin
  -- A loop, so that nothing is ended before every condition was looked at.
  for lost in
    select a.job_id, s.pid
    from chunk_attempts a
    join pg_stat_activity s on s.pid = a.backend_pid and s.xact_start <= a.started_at
    where a.tenant_id = require_tenant() and a.seen_at < clock_timestamp() - lease
  loop
    if pg_terminate_backend(lost.pid) then
      return next lost.job_id;
    end if;
  end loop;
end
$$;
revoke all on function end_lost_attempts(interval) from public;
grant execute on function end_lost_attempts(interval) to billwright_worker;

create table daily_runs (
  tenant_id bigint not null references tenants (tenant_id),
  job text not null,
  local_date date not null,
  finished_at timestamptz not null,
  outcome jsonb not null,
  primary key (tenant_id, job, local_date)
);
comment on table daily_runs is
  'A daily job that ran for a local date of a workspace. Each job runs once for each date.';
call wall_off('daily_runs');
grant select, insert on daily_runs to billwright_worker;
grant select on daily_runs to billwright_api;

create table term_readings (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  assignment_id bigint not null,
  position smallint not null,
  previous_date date,
  previous_value numeric,
  previous_type text,
  reading_id bigint not null,
  reading_date date not null,
  value numeric not null,
  reading_type text not null,
  rollover boolean not null default false,
  estimates smallint not null default 0,
  is_stand_in boolean not null default false,
  locked_at timestamptz not null,
  locked_by text not null,
  primary key (tenant_id, term_id, subscription_id, assignment_id, position),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, reading_id) references readings (tenant_id, reading_id)
);
comment on table term_readings is
  'The reading that a register is billed with in a term, and the one it starts from. The reading '
  'is Locked, and Billed once the term is posted.';
comment on column term_readings.estimates is
  'How many readings in a row were estimates, this one included.';
comment on column term_readings.is_stand_in is
  'True if the register was not read: the reading was estimated for this term, or the previous '
  'one is used again. A later reading replaces it.';
create index term_readings_reading on term_readings (tenant_id, reading_id);
create index term_readings_register
  on term_readings (tenant_id, assignment_id, position, reading_date desc);
call wall_off('term_readings');
grant select on term_readings to billwright_api;
grant select, insert, update, delete on term_readings to billwright_worker;

-- A reading that a term took does not change.
create function keep_locked_readings() returns trigger
language plpgsql
as $$
begin
  if exists (
    select from term_readings t where t.tenant_id = old.tenant_id and t.reading_id = old.reading_id
  ) then
    raise exception 'reading % is locked by a term', old.reading_id
      using errcode = 'check_violation', constraint = 'readings_locked';
  end if;
  return new;
end
$$;
create trigger readings_locked
  before update on readings
  for each row
  when (old.value is distinct from new.value or old.status is distinct from new.status
    or old.reading_date is distinct from new.reading_date)
  execute function keep_locked_readings();

create table manual_values (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  component text not null,
  value numeric not null,
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, term_id, subscription_id, component),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table manual_values is
  'A value that was uploaded for a component of a subscription in a term.';
create index manual_values_subscription on manual_values (tenant_id, subscription_id);
call wall_off('manual_values');
grant select on manual_values to billwright_api;
grant select, insert, update, delete on manual_values to billwright_worker;

create table term_usage (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  input text not null,
  usage_date date not null,
  quantity numeric not null,
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, term_id, subscription_id, input, usage_date),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table term_usage is
  'Uploaded usage of a subscription: of one day, or of the whole term, whose date is infinity.';
create index term_usage_subscription on term_usage (tenant_id, subscription_id);
call wall_off('term_usage');
grant select on term_usage to billwright_api;
grant select, insert, update, delete on term_usage to billwright_worker;

create table term_subscriptions (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  primary key (tenant_id, term_id, subscription_id),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table term_subscriptions is
  'A subscription that an off-cycle or final term bills. Such a term bills these and no others.';
create index term_subscriptions_subscription on term_subscriptions (tenant_id, subscription_id);
call wall_off('term_subscriptions');
grant select, insert, delete on term_subscriptions to billwright_api, billwright_worker;
