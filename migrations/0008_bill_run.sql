-- The bill run: terms, the jobs that take them through their steps, what was taken into a term, and
-- the bills that come out.

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
  -- Something was uploaded, posted or taken back since the last generation.
  is_stale boolean not null default false,
  -- When readings were last locked into the term; null until step 4 was done once.
  readings_posted_at timestamptz,
  -- The last generation, 0 before the first.
  run_number integer not null default 0,
  cancel_reason text,
  issue_date date,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
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
create unique index terms_label_key on terms (tenant_id, context_id, batch_id, label)
  where status <> 'Cancelled';
create index terms_newest on terms (tenant_id, start_date desc, term_id desc);
create index terms_context on terms (tenant_id, context_id, start_date desc, term_id desc);
create index terms_batch on terms (tenant_id, batch_id);
create index terms_period on terms (tenant_id, billing_period_id);
call wall_off('terms');
grant select, insert, update on terms to billwright_api, billwright_worker;

-- A step of a bill run that was asked for. The row, not the queue, is the truth: the queue only
-- says that there is something to look at.
create table jobs (
  tenant_id bigint not null references tenants (tenant_id),
  job_id bigint not null,
  operation text not null,
  term_id bigint,
  bill_id bigint,
  status text not null check (status in ('Scheduled', 'Running', 'Succeeded', 'Failed', 'Cancelled')),
  -- Asked for at once: it holds the term's place from the moment it is asked for.
  is_immediate boolean not null,
  parameters jsonb not null default '{}' check (jsonb_typeof(parameters) = 'object'),
  -- As it was sent, in the tenant's time zone, and the instant that is.
  schedule_time text,
  due_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- While it runs, what is done is counted by its parts; at its end it stands here.
  done integer not null default 0,
  total integer not null default 0,
  -- {code, message, details}
  error jsonb,
  outcome jsonb,
  requested_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, job_id),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
-- One at a time for each term.
create unique index jobs_one_per_term on jobs (tenant_id, term_id)
  where term_id is not null and (status = 'Running' or (status = 'Scheduled' and is_immediate));
create index jobs_term on jobs (tenant_id, term_id, job_id) where term_id is not null;
create index jobs_due on jobs (tenant_id, due_at) where status in ('Scheduled', 'Running');
call wall_off('jobs');
grant select, insert, update on jobs to billwright_api, billwright_worker;

-- When a worker next has to look at the jobs of a workspace, by the clock of the machine: null
-- where nothing waits. One look at the registry thus tells where there is work, and shows no row of
-- any workspace.
alter table workspaces add column next_job_at timestamptz;
create index workspaces_next_job on workspaces (next_job_at) where next_job_at is not null;
grant update (next_job_at) on workspaces to billwright_worker;

create function note_job() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  -- A sandbox is ahead of the machine: there the job is due sooner than its own date says. What was
  -- asked for at once is due whatever the clocks of two machines show.
  update workspaces
  set next_job_at = least(next_job_at, case when new.is_immediate then '-infinity' else
    new.due_at - (
      select make_interval(secs => clock_offset_ms / 1000.0) from tenants
      where tenant_id = require_tenant()) end)
  where tenant_id = require_tenant();
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
  update workspaces set next_job_at = '-infinity'
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

-- The parts of a job, each worked in one transaction: claimed with its row lock and marked done
-- with its effect, so that it is done once whoever dies. They go when the job has ended.
create table job_chunks (
  tenant_id bigint not null,
  job_id bigint not null,
  chunk integer not null check (chunk > 0),
  -- Ids of what is worked on (subscriptions, accounts, parties or bills), both inclusive.
  first_id bigint not null,
  last_id bigint not null,
  is_done boolean not null default false,
  done integer not null default 0,
  outcome jsonb,
  -- Why it was set aside: {code, message}.
  error jsonb,
  primary key (tenant_id, job_id, chunk),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
create index job_chunks_open on job_chunks (tenant_id, job_id, chunk) where not is_done;
call wall_off('job_chunks');
grant select on job_chunks to billwright_api;
grant select, insert, update, delete on job_chunks to billwright_worker;

-- A worker that is killed in the middle of a long statement must not hold its part until that ends.
alter role billwright_worker set client_connection_check_interval = '2s';
-- A plan that was made while a table was small must not read all of it when it has grown.
alter role billwright_worker set enable_seqscan = 'off';

-- Who works on which part. Written by a connection of its own before the work begins and taken away
-- with the effect, so that what is left tells of workers that died or failed over the part. Without
-- its row here no part can be marked done.
create table chunk_attempts (
  tenant_id bigint not null,
  job_id bigint not null,
  -- 0 is the beginning of the job, -1 its end.
  chunk integer not null,
  attempt integer not null,
  worker text not null,
  -- The connection that holds the part.
  backend_pid integer not null,
  started_at timestamptz not null default clock_timestamp(),
  -- Renewed while the worker lives.
  seen_at timestamptz not null default clock_timestamp(),
  error text,
  primary key (tenant_id, job_id, chunk, attempt),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
call wall_off('chunk_attempts');
grant select, insert, update, delete on chunk_attempts to billwright_worker;

-- Ends the connections of workers that were not heard of for so long: what they hold is rolled back
-- and free for others, and one that was only paused can no longer commit. The connection is the
-- right one if its transaction is older than the attempt; a number given again has a younger one.
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

-- The reading with which each register is billed in a term, and the one it begins from. What is
-- named here is Locked, and Billed once the term is posted.
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
  -- How many readings in a row were estimates, this one included.
  estimates smallint not null default 0,
  -- Nobody read the register: the reading was estimated for this term, or the one before is taken
  -- again. One that comes in later takes its place.
  is_stand_in boolean not null default false,
  locked_at timestamptz not null,
  locked_by text not null,
  primary key (tenant_id, term_id, subscription_id, assignment_id, position),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, reading_id) references readings (tenant_id, reading_id)
);
create index term_readings_reading on term_readings (tenant_id, reading_id);
create index term_readings_register
  on term_readings (tenant_id, assignment_id, position, reading_date desc);
call wall_off('term_readings');
grant select on term_readings to billwright_api;
grant select, insert, update, delete on term_readings to billwright_worker;

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
create index manual_values_subscription on manual_values (tenant_id, subscription_id);
call wall_off('manual_values');
grant select on manual_values to billwright_api;
grant select, insert, update, delete on manual_values to billwright_worker;

-- Uploaded use: of a day, or of the whole term, whose date is infinity.
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
create index term_usage_subscription on term_usage (tenant_id, subscription_id);
call wall_off('term_usage');
grant select on term_usage to billwright_api;
grant select, insert, update, delete on term_usage to billwright_worker;

-- Who a term is for that is not Regular: it bills these subscriptions and no others.
create table term_subscriptions (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  primary key (tenant_id, term_id, subscription_id),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
create index term_subscriptions_subscription on term_subscriptions (tenant_id, subscription_id);
call wall_off('term_subscriptions');
grant select, insert, delete on term_subscriptions to billwright_api, billwright_worker;

-- Every generation of a term. A bill that comes out the same as before is not written again: it
-- belongs to every run from its first one on.
create table bill_runs (
  tenant_id bigint not null,
  term_id bigint not null,
  run_number integer not null check (run_number > 0),
  job_id bigint not null,
  -- Null for the whole term, or the one bill that was generated again.
  bill_id bigint,
  -- Of the context and its plans, as it was rated with.
  book_version bigint not null,
  -- {context, plans: {planId: version}}: the newest versions then, by which a bill can be rated
  -- again as it was, whatever was saved since.
  versions jsonb not null,
  -- Ids set aside for new bills, and how many billed units go into one part: the bills of the n-th
  -- part take theirs from the n-th piece. Null where there were no new billed units.
  first_bill_id bigint,
  part_size integer not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- {subscriptions, bills, errors, holds, currentCharges, ...} when it is finished.
  totals jsonb,
  -- What was set aside when its bills began to be posted, so that whoever goes on after a failure
  -- gives every bill the number that was meant for it:
  -- {firstNumber, firstEntry, firstJournal, bills, skipped, postingDate, ranges: [[first, last]]}.
  reserved jsonb,
  generated_by text not null,
  primary key (tenant_id, term_id, run_number),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
call wall_off('bill_runs');
grant select, insert, update on bill_runs to billwright_api, billwright_worker;

-- Whoever writes bills in bulk. COPY is refused to a role that a policy binds; this one is not
-- bound, and can nevertheless write into no other tenant: it has no right to the column tenant_id,
-- whose default is the tenant of the transaction. Where the owner may not create such a role (some
-- hosted databases) it is bound like any other, and bills take a way that is slower.
do $$
begin
  if not exists (select from pg_roles where rolname = 'billwright_bulk') then
    begin
      create role billwright_bulk nologin bypassrls;
    exception when insufficient_privilege then
      create role billwright_bulk nologin;
    end;
  end if;
end
$$;
grant billwright_bulk to current_user;
grant usage on schema public to billwright_bulk;

-- A bill is a document: one row. Amounts are minor units. `document` (readings, usage, lines,
-- surcharges, sections) and `frozen` (the frozen inputs) are kept as the bytes that were hashed;
-- `usage` and `charges` say in short what posting books, so that it need not read all of them. What
-- it refers to is checked by who makes it, for a thousand rows at once; a foreign key checked for
-- each row would cost as much as the row.
create table bills (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  term_id bigint not null,
  -- The run that made this version of the bill.
  first_run integer not null,
  context_id bigint not null,
  batch_id bigint not null,
  -- The subscription, account or party that the bill is for, by the term's post type.
  unit_id bigint not null,
  -- Null on a bill of several subscriptions, which are then in bill_parts.
  subscription_id bigint,
  account_id bigint,
  party_id bigint not null,
  plan_id bigint,
  bill_type text not null check (bill_type in ('Regular', 'OffCycle', 'Final')),
  status text not null
    check (status in ('Draft', 'Error', 'Hold', 'Posted', 'Published', 'Cancelled')),
  payment_status text not null default 'Unpaid'
    check (payment_status in ('Unpaid', 'PartiallyPaid', 'Paid', 'Overdue', 'WrittenOff')),
  -- Of an operator; it survives regeneration. A hold by rule is judged anew.
  is_held boolean not null default false,
  hold_reason text,
  bill_number text,
  -- How often it was posted.
  posting smallint not null default 0,
  issue_date date,
  due_date date not null,
  billed_from date,
  billed_to date,
  days integer not null,
  current_charges bigint not null,
  tax_amount bigint not null,
  rounding_adjustment bigint not null,
  bill_amount bigint not null,
  previous_balance bigint not null,
  payments_received bigint not null,
  adjustments bigint not null,
  arrears bigint not null,
  wallet_applied bigint not null default 0,
  payable bigint not null,
  credit_balance bigint not null,
  late_surcharge bigint not null,
  -- Of bill_amount alone.
  paid_amount bigint not null default 0,
  -- The last billed day of the subscription before this bill; null where the term sets it.
  previously_billed_to date,
  -- The last entry of the ledger that its arrears know of.
  entry_id bigint not null,
  -- When the subscription last changed before it was rated (of several, the sum): another value
  -- means a stale bill.
  unit_ts bigint not null,
  hash bytea not null,
  -- {input: {quantity, type, carried?}}; null on a bill of several subscriptions.
  usage json,
  -- {"type component": amount}
  charges json not null default '{}',
  document json not null,
  frozen json not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, bill_id),
  constraint bills_amount check (bill_amount = current_charges + rounding_adjustment),
  constraint bills_arrears check (arrears = previous_balance - payments_received + adjustments),
  constraint bills_payable check (
    payable - credit_balance
      = current_charges + arrears + rounding_adjustment - wallet_applied
    and payable >= 0 and credit_balance >= 0 and (payable = 0 or credit_balance = 0)
  ),
  constraint bills_number_when_posted
    check (status not in ('Posted', 'Published') or bill_number is not null)
)
-- A row of two or three kilobytes stays in one piece: compressing it would cost more than writing
-- it.
with (toast_tuple_target = 8160);
-- Nothing is billed twice: of the bills of a billed unit in a term, all but one are cancelled.
-- Lists of a term walk along it.
create unique index bills_unit_key on bills
  (tenant_id, term_id, unit_id, (case when status = 'Cancelled' then bill_id else 0 end));
create unique index bills_number_key on bills (tenant_id, bill_number)
  where bill_number is not null;
create index bills_subscription on bills (tenant_id, subscription_id, bill_id)
  where subscription_id is not null;
create index bills_party on bills (tenant_id, party_id, bill_id);
-- What somebody has to look at.
create index bills_review on bills (tenant_id, term_id, status, bill_id)
  where status in ('Error', 'Hold');
-- What is still to be paid.
create index bills_open on bills (tenant_id, subscription_id, due_date)
  where status in ('Posted', 'Published') and paid_amount < bill_amount;
call wall_off('bills');
grant select, insert, update, delete on bills to billwright_worker;
grant select, insert, update on bills to billwright_api;
grant insert (
  bill_id, term_id, first_run, context_id, batch_id, unit_id, subscription_id, account_id,
  party_id, plan_id, bill_type, status, is_held, hold_reason, posting, due_date, billed_from,
  billed_to, days, current_charges, tax_amount, rounding_adjustment, bill_amount,
  previous_balance, payments_received, adjustments, arrears, payable, credit_balance,
  late_surcharge, previously_billed_to, entry_id, unit_ts, hash, usage, charges, document, frozen,
  created_at,
  created_by, modified_at, modified_by, ts
) on bills to billwright_bulk;

-- The subscriptions of a bill that is made for an account or a party.
create table bill_parts (
  tenant_id bigint not null,
  bill_id bigint not null,
  subscription_id bigint not null,
  -- The part of bill_amount that is owed for it.
  amount bigint not null,
  arrears bigint not null,
  days integer not null,
  billed_to date,
  previously_billed_to date,
  unit_ts bigint not null,
  primary key (tenant_id, bill_id, subscription_id),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id)
);
create index bill_parts_subscription on bill_parts (tenant_id, subscription_id, bill_id);
call wall_off('bill_parts');
grant select, insert, delete on bill_parts to billwright_worker;
grant select on bill_parts to billwright_api;

-- Earlier versions of bills that a later run changed or dropped, for comparison.
create table superseded_bills (
  tenant_id bigint not null,
  term_id bigint not null,
  bill_id bigint not null,
  first_run integer not null,
  -- The last run that this version belongs to.
  last_run integer not null,
  unit_id bigint not null,
  subscription_id bigint,
  status text not null,
  current_charges bigint not null,
  bill_amount bigint not null,
  hash bytea not null,
  document json not null,
  frozen json not null,
  primary key (tenant_id, term_id, bill_id, first_run)
);
call wall_off('superseded_bills');
grant select, insert, delete on superseded_bills to billwright_api, billwright_worker;

-- What was billed of each subscription in its last terms, newest first:
-- [{termId, label, endDate, days, amount, usage: {input: {quantity, type, carried?}}}].
create table usage_histories (
  tenant_id bigint not null,
  subscription_id bigint not null,
  terms jsonb not null check (jsonb_typeof(terms) = 'array'),
  -- What the newest bill asked for, arrears included, and the last entry that it knew of: what was
  -- entered since stands between it and the next one.
  brought_forward bigint not null default 0,
  entry_id bigint not null default 0,
  -- By component, what the newest bill charged by rules of segments; only where bills are made in
  -- advance and may have to be corrected by the next.
  billed jsonb check (jsonb_typeof(billed) = 'object'),
  primary key (tenant_id, subscription_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
)
with (fillfactor = 50);
call wall_off('usage_histories');
grant select, insert, update on usage_histories to billwright_api, billwright_worker;

-- Posting moves each subscription and its balance once. With room left for the new version of every
-- row on its page no index has to be touched, which is five sixths of the cost.
alter table subscriptions set (fillfactor = 50);
alter table subscription_balances set (fillfactor = 50);

-- Whether a subscription was Active on any of the days from the first to the last, both inclusive.
create function is_active_between(status_history jsonb, first_day date, last_day date)
returns boolean
language sql immutable parallel safe
return exists (
  select
  from (
    select h ->> 'status' as status, (h ->> 'fromDate')::date as from_date,
      lead((h ->> 'fromDate')::date) over (order by (h ->> 'fromDate')::date, number) as next_date
    from jsonb_array_elements(status_history) with ordinality as e (h, number)
  ) runs
  where status = 'Active'
    and greatest(from_date, first_day) <= least(coalesce(next_date - 1, last_day), last_day)
);

-- Bill numbers that were given and taken back: they are never given again.
create table retired_numbers (
  tenant_id bigint not null references tenants (tenant_id),
  bill_number text not null,
  term_id bigint not null,
  bill_id bigint not null,
  reason text not null,
  retired_at timestamptz not null,
  retired_by text not null,
  primary key (tenant_id, bill_number)
);
create index retired_numbers_term on retired_numbers (tenant_id, term_id);
call wall_off('retired_numbers');
grant select, insert on retired_numbers to billwright_api, billwright_worker;

-- By which channels a party wants its bills; null leaves it to the workspace.
alter table parties add column delivery_channels text[] check (
  delivery_channels <@ '{Email,SMS,WhatsApp,Portal,Print,Webhook}'::text[]
  and cardinality(delivery_channels) > 0
);

-- What the documents of a term are made with besides its bills: letterhead, bank accounts, template
-- and its version, locale, as they stood when they were published. A term has several where bills
-- whose documents could not be made were published later.
create table document_settings (
  tenant_id bigint not null,
  term_id bigint not null,
  version integer not null check (version > 0),
  issue_date date not null,
  setting jsonb not null check (jsonb_typeof(setting) = 'object'),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, term_id, version),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
call wall_off('document_settings');
grant select on document_settings to billwright_api;
grant select, insert on document_settings to billwright_worker;

-- The document of a published bill. It is rendered from frozen parts, so that it is the same bytes
-- whenever it is asked for; what it must hash to is kept here. One that could not be made has the
-- reason instead, and keeps its bill from being published.
create table bill_documents (
  tenant_id bigint not null,
  document_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  format text not null check (format in ('PDF', 'HTML')),
  setting_version integer not null,
  template_id bigint not null,
  template_version integer not null,
  -- The hash of a fixed bill: a program that renders it to another one renders all bills
  -- differently, and only then may a document differ from what is kept of it.
  edition text not null,
  size integer check (size > 0),
  sha256 bytea check (length(sha256) = 32),
  -- {code, message}
  error jsonb,
  created_at timestamptz not null,
  primary key (tenant_id, document_id),
  constraint bill_documents_once unique (tenant_id, bill_id, format),
  constraint bill_documents_made check (
    (error is null) = (sha256 is not null) and (error is null) = (size is not null)
  ),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id),
  constraint bill_documents_setting_fkey foreign key (tenant_id, term_id, setting_version)
    references document_settings (tenant_id, term_id, version)
);
create index bill_documents_failed on bill_documents (tenant_id, term_id, bill_id)
  where error is not null;
call wall_off('bill_documents');
grant select on bill_documents to billwright_api;
grant select, insert, update, delete on bill_documents to billwright_worker;

-- A bill on its way to a customer by one channel. A repeat that an operator asked for is a further
-- row, of a further request (job); within one request nothing is sent twice.
create table deliveries (
  tenant_id bigint not null references tenants (tenant_id),
  delivery_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  job_id bigint not null,
  channel text not null check (channel in ('Email', 'SMS', 'WhatsApp', 'Portal', 'Print', 'Webhook')),
  -- Frozen here: a later change of the party does not redirect it.
  recipient text,
  status text not null check (status in (
    'Queued', 'Sending', 'Sent', 'Delivered', 'Failed', 'Uncertain'
  )),
  reason text,
  -- How often it was handed over. Only who counted last may say how that ended.
  attempts integer not null default 0,
  -- How often in a row that failed in a way that may pass.
  failures smallint not null default 0,
  next_attempt_at timestamptz,
  -- Always the same for this row, so that a mail that arrives a second time is seen as one.
  message_id text not null,
  -- Of the words around the bill, as they stood when it was asked for; null where there are none.
  template_id bigint,
  template_version integer,
  sent_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  primary key (tenant_id, delivery_id),
  constraint deliveries_once unique (tenant_id, bill_id, channel, job_id),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id),
  constraint deliveries_template_fkey foreign key (tenant_id, template_id, template_version)
    references template_versions (tenant_id, template_id, version)
);
create index deliveries_term on deliveries (tenant_id, term_id, status, delivery_id);
create index deliveries_status on deliveries (tenant_id, status, delivery_id);
create index deliveries_job on deliveries (tenant_id, job_id);
call wall_off('deliveries');
grant select, update on deliveries to billwright_api;
grant select, insert, update on deliveries to billwright_worker;

-- A posted bill is fixed: only what happens to it afterwards may change.
create function keep_posted_bills() returns trigger
language plpgsql
as $$
begin
  if old.hash <> new.hash or old.bill_amount <> new.bill_amount
    or old.current_charges <> new.current_charges or old.tax_amount <> new.tax_amount
    or old.billed_from is distinct from new.billed_from
    or old.billed_to is distinct from new.billed_to
    or old.unit_id <> new.unit_id or old.term_id <> new.term_id
    or old.document::text <> new.document::text or old.frozen::text <> new.frozen::text
    or old.charges::text <> new.charges::text
    or old.usage::text is distinct from new.usage::text
  then
    raise exception 'a posted bill does not change'
      using errcode = 'check_violation', constraint = 'bills_posted_fixed';
  end if;
  return new;
end
$$;
create trigger bills_posted_fixed
  before update on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled'))
  execute function keep_posted_bills();

create function refuse_posted_delete() returns trigger
language plpgsql
as $$
begin
  raise exception 'a posted bill is never deleted'
    using errcode = 'check_violation', constraint = 'bills_posted_kept';
end
$$;
create trigger bills_posted_kept
  before delete on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled'))
  execute function refuse_posted_delete();

-- A reading that a term took stays as it is.
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

-- Whoever generates the bills of a term may not post them, where the workspace wants it so.
alter table tenants add column separates_duties boolean not null default false;

-- One row for each line, for people who query with SQL.
create view bill_lines with (security_invoker = true) as
select b.tenant_id, b.bill_id, b.bill_number, b.term_id, b.subscription_id, b.party_id, b.status,
  l.number::integer as line_number,
  l.line ->> 'component' as component,
  l.line ->> 'type' as component_type,
  (l.line ->> 'amount')::bigint as amount,
  coalesce(l.line ->> 'tariffCode', b.document ->> 'tariffCode') as plan_code
from bills b, json_array_elements(b.document -> 'lines') with ordinality as l (line, number);
grant select on bill_lines to billwright_api, billwright_worker;

-- A bill run looks into these tables once for each subscription. Asked for in a query of its own,
-- the tenant of the transaction is looked up once for a statement and not once for each look.
do $$
declare
  one text;
begin
  foreach one in array array[
    'billing_accounts', 'parties', 'subscriptions', 'subscription_balances', 'usage_histories',
    'subledger_entries', 'meters', 'meter_registers', 'meter_assignments', 'assignment_registers',
    'term_readings'
  ] loop
    execute format(
      'alter policy tenant_wall on %I using (tenant_id = (select current_tenant()))', one);
  end loop;
end
$$;
