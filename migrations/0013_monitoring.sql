-- What operators watch: jobs and deliveries by state, and the running workers. A worker counts each
-- workspace that has or had something to do, once a minute and within bounds; /metrics reads the
-- sums and counts nothing itself.

create table operation_counts (
  tenant_id bigint not null references workspaces (tenant_id),
  kind text not null check (kind in ('job', 'delivery')),
  state text not null,
  amount integer not null check (amount >= 0),
  oldest_at timestamptz,
  counted_at timestamptz not null,
  primary key (tenant_id, kind, state)
);
comment on table operation_counts is
  'How many jobs or deliveries of a workspace are in a state. It has no wall, because sums over '
  'all workspaces are its purpose. The API role has no right to it and calls watch_operations(), '
  'which returns sums alone.';
comment on column operation_counts.amount is '0 if a job was requested and is not counted yet.';
comment on column operation_counts.oldest_at is
  'Since when the oldest one waits, by the clock of the machine.';
grant select, insert, update, delete on operation_counts to billwright_worker;

create table workers (
  worker text not null primary key,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
comment on table workers is 'A worker process that is or was running.';
grant select, insert, update, delete on workers to billwright_worker;

-- Sums over all workspaces.
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
