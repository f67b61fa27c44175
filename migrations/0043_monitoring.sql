-- What operators watch: jobs and deliveries by state, and the workers that live. A worker counts
-- each workspace that has or had something to do, once a minute and within bounds; /metrics reads
-- the sums over all workspaces and never counts anything itself.

create table operation_counts (
  tenant_id bigint not null references workspaces (tenant_id),
  kind text not null check (kind in ('job', 'delivery')),
  state text not null,
  -- 0 where a job was asked for and not counted yet.
  amount integer not null check (amount >= 0),
  -- Since when the one that has waited longest waits, by the clock of the machine.
  oldest_at timestamptz,
  counted_at timestamptz not null,
  primary key (tenant_id, kind, state)
);
-- Without a wall: a sum over all workspaces is what it is for. The role that serves calls has no
-- right to it and asks watch_operations(), which tells sums alone.
grant select, insert, update, delete on operation_counts to billwright_worker;

create table workers (
  worker text not null primary key,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
grant select, insert, update, delete on workers to billwright_worker;

create index jobs_finished on jobs (tenant_id, finished_at) where finished_at is not null;
create index deliveries_finished on deliveries (tenant_id, modified_at)
  where status in ('Sent', 'Delivered', 'Failed');

create function watch_operations()
returns table (kind text, state text, amount bigint, oldest_seconds float8, counted_seconds float8)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select c.kind, c.state, sum(c.amount),
    extract(epoch from clock_timestamp() - min(c.oldest_at))::float8,
    extract(epoch from clock_timestamp() - min(c.counted_at))::float8
  from operation_counts c
  group by c.kind, c.state
$$;
revoke all on function watch_operations() from public;
grant execute on function watch_operations() to billwright_api;

create function watch_workers() returns table (worker text, seen_seconds float8)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select w.worker, extract(epoch from clock_timestamp() - w.seen_at)::float8
  from workers w
  order by w.seen_at desc
  limit 1000
$$;
revoke all on function watch_workers() from public;
grant execute on function watch_workers() to billwright_api;

-- As before; and a workspace with a new job is counted at the next opportunity, also if the job has
-- ended by then.
create or replace function note_job() returns trigger
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
  insert into operation_counts (tenant_id, kind, state, amount, counted_at)
  values (require_tenant(), 'job', 'Scheduled', 0, clock_timestamp())
  on conflict do nothing;
  perform pg_notify('billwright_jobs', '');
  return null;
end
$$;
