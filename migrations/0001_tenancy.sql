-- Tenancy: the roles that serve calls and jobs, the workspaces, and the wall between them.
--
-- Every table with rows of a tenant has tenant_id first in every key, row-level security enabled
-- and forced, and exactly one policy. The tenant of a transaction is the setting app.tenant, set
-- with set_config(..., true) inside the transaction; without it every query finds nothing.
--
-- Rules of all migrations, which also hold for a database of several machines: a policy is a
-- comparison without a query of its own, no trigger compares the name of its table or joins a
-- transition table to another table, and SQL functions have their bodies as text.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create extension if not exists btree_gist;

do $$
begin
  if not exists (select from pg_roles where rolname = 'billwright_api') then
    create role billwright_api nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'billwright_worker') then
    create role billwright_worker nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'billwright_search') then
    -- Row-level security keeps the planner from using a trigram index, because LIKE is not
    -- leakproof. The search functions therefore belong to a role that policies do not bind, and
    -- name the tenant themselves. If the owner may not create such a role (some hosted databases),
    -- the role is bound like any other: searches stay right and are slower.
    begin
      create role billwright_search nologin bypassrls;
    exception when insufficient_privilege then
      create role billwright_search nologin;
    end;
  end if;
  if not exists (select from pg_roles where rolname = 'billwright_bulk') then
    -- This role writes bills in bulk. PostgreSQL refuses COPY to a role that a policy binds; this
    -- one is not bound, and can nevertheless write for no other tenant: it has no right to the
    -- column tenant_id, whose default is the tenant of the transaction. If the owner may not create
    -- such a role, it is bound like any other, and bills are written in a slower way.
    begin
      create role billwright_bulk nologin bypassrls;
    exception when insufficient_privilege then
      create role billwright_bulk nologin;
    end;
  end if;
end
$$;

grant billwright_api, billwright_worker, billwright_search, billwright_bulk to current_user;
grant usage on schema public
  to billwright_api, billwright_worker, billwright_search, billwright_bulk;

alter role billwright_api set statement_timeout = '30s';
alter role billwright_api set lock_timeout = '10s';
alter role billwright_api set idle_in_transaction_session_timeout = '60s';
alter role billwright_worker set statement_timeout = '10min';
alter role billwright_worker set lock_timeout = '60s';
alter role billwright_worker set idle_in_transaction_session_timeout = '10min';
-- A worker that is killed in the middle of a long statement must not hold its chunk until it ends.
alter role billwright_worker set client_connection_check_interval = '2s';
-- A plan that was made while a table was small must not read all of it when it has grown.
alter role billwright_worker set enable_seqscan = 'off';

-- Takes on a role for the rest of the transaction, with the limits set for it above: PostgreSQL
-- itself applies those only to a session that logs in as the role.
create function take_role(wanted text) returns void
language plpgsql volatile
as $$
declare
  setting text;
begin
  for setting in
    select unnest(setconfig) from pg_db_role_setting
    where setrole = wanted::regrole and setdatabase = 0
  loop
    perform set_config(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1), true);
  end loop;
  perform set_config('role', wanted, true);
end
$$;
revoke all on function take_role(text) from public;

-- The tenant of the transaction, or null.
create function current_tenant() returns bigint
language sql stable parallel safe
as $$
  select nullif(current_setting('app.tenant', true), '')::bigint
$$;

-- The tenant of the transaction, for functions that policies do not bind.
create function require_tenant() returns bigint
language plpgsql stable parallel safe
as $$
begin
  if current_tenant() is null then
    raise exception 'no tenant is set in this transaction' using errcode = 'insufficient_privilege';
  end if;
  return current_tenant();
end
$$;

-- True for the roles of API and worker. Some triggers below refuse what the program never does,
-- even by a wrong statement. The owner of the tables can disable triggers and is not bound by them.
create function is_program() returns boolean
language sql stable parallel safe
as $$
  select current_user in ('billwright_api', 'billwright_worker')
$$;

-- Refuses every update and delete of a table that is only appended to.
create function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;

comment on table schema_migrations is
  'A migration that this database has run, with the checksum of its file.';

create table workspaces (
  tenant_id bigint not null primary key check (tenant_id > 0),
  workspace text not null
    constraint workspaces_name_form check (workspace ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  created_at timestamptz not null,
  constraint workspaces_workspace_key unique (workspace)
);
comment on table workspaces is
  'A workspace: its name and its tenant id. This registry spans tenants and never changes. The '
  'API role cannot read it and calls find_workspace() instead.';
grant select on workspaces to billwright_worker;

create function find_workspace(wanted text) returns bigint
language sql stable security definer
set search_path = public, pg_temp
as $$
  select tenant_id from workspaces where workspace = wanted
$$;
revoke all on function find_workspace(text) from public;
grant execute on function find_workspace(text) to billwright_api;

-- PostgreSQL counts how many rows each workspace has, and plans by it. For a workspace that is
-- newer than the last count it assumes no rows: every index that begins with the workspace then
-- seems as good as any other, and a run over thousands of subscriptions reads all of them for each.
-- This procedure therefore turns that count off and sets the share of every workspace to a tenth of
-- the table. Plans are then chosen by the other conditions. This needs PostgreSQL 18.
create procedure assume_shares(table_name regclass)
language plpgsql
as $$
begin
  if current_setting('server_version_num')::integer < 180000 then
    return;
  end if;
  execute format('alter table %s alter tenant_id set statistics 0', table_name);
  execute format(
    'select pg_restore_attribute_stats(%L, %L, %L, %L, %L, %L, %L, false, %L, 0::real, '
      '%L, 8::integer, %L, 10::real)',
    'schemaname', 'public', 'relname', (select relname from pg_class where oid = table_name),
    'attname', 'tenant_id', 'inherited', 'null_frac', 'avg_width', 'n_distinct');
end
$$;

-- Turns row-level security on for a table, the same way for every table.
create procedure wall_off(table_name regclass)
language plpgsql
as $$
begin
  execute format('alter table %s enable row level security', table_name);
  execute format('alter table %s force row level security', table_name);
  execute format(
    'create policy tenant_wall on %s using (tenant_id = current_tenant())', table_name);
  call assume_shares(table_name);
end
$$;

-- Also called at every start: a database restored from a dump has the tables without these
-- settings.
create procedure assume_all_shares()
language plpgsql
as $$
declare
  found regclass;
begin
  for found in
    select c.oid::regclass
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (
        select from pg_stats s
        where s.schemaname = 'public' and s.tablename = c.relname and s.attname = 'tenant_id'
          and s.n_distinct = 10 and s.most_common_vals is null
      )
  loop
    call assume_shares(found);
  end loop;
end
$$;

create table tenants (
  tenant_id bigint not null primary key references workspaces (tenant_id),
  status text not null default 'Active' check (status in ('Active', 'Suspended')),
  name text not null,
  timezone text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  currency_decimals smallint not null check (currency_decimals between 0 and 4),
  country text not null check (country ~ '^[A-Z]{2}$'),
  locale text not null,
  connection_number_format text not null,
  bill_number_format text not null,
  delivery_channels text[] not null,
  letterhead jsonb not null,
  reminders jsonb not null,
  mail_sender jsonb not null default '{}',
  access_token_seconds integer check (access_token_seconds between 900 and 86400),
  idle_seconds integer check (idle_seconds > 0),
  sandbox boolean not null,
  clock_offset_ms bigint not null default 0 check (clock_offset_ms >= 0),
  access_epoch bigint not null default 1,
  created_at timestamptz not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  separates_duties boolean not null default false,
  check (sandbox or clock_offset_ms = 0)
);
comment on table tenants is 'The settings of a workspace.';
comment on column tenants.mail_sender is
  'The name in the sender of mails, and where replies go: {name, replyTo}. The address of the '
  'sender is that of the server.';
comment on column tenants.clock_offset_ms is
  'How far the clock of a sandbox is ahead of the machine.';
comment on column tenants.access_epoch is
  'Changes with everything that decides the rights of callers in the workspace. A process may '
  'keep what it knows of a token until this changes.';
comment on column tenants.separates_duties is
  'If true, the operator that generated the bills of a term may not post them.';
call wall_off('tenants');
grant select, update on tenants to billwright_api;
grant select on tenants to billwright_worker;

-- Every change of the settings counts.
create function advance_own_access_epoch() returns trigger
language plpgsql
as $$
begin
  new.access_epoch := old.access_epoch + 1;
  return new;
end
$$;
create trigger tenants_access_epoch
  before update on tenants
  for each row execute function advance_own_access_epoch();

create table counters (
  tenant_id bigint not null references tenants (tenant_id),
  series text not null,
  last_number bigint not null check (last_number >= 0),
  primary key (tenant_id, series)
);
comment on table counters is
  'The last number given in a series of a tenant. Ids and numbers that people see come from here, '
  'never from a sequence that tenants share.';
call wall_off('counters');
grant select, insert, update on counters to billwright_api, billwright_worker;

create table row_blocks (
  tenant_id bigint not null references tenants (tenant_id),
  kind text not null,
  block bigint not null,
  live_rows integer not null check (live_rows >= 0),
  all_rows integer not null check (all_rows >= live_rows),
  primary key (tenant_id, kind, block)
);
comment on table row_blocks is
  'The count of rows in a block of 1,000 ids, kept by triggers. A list knows its total, and the '
  'page at any depth, from these few rows instead of walking a million index entries.';
comment on column row_blocks.kind is 'party, meter or reading.';
comment on column row_blocks.live_rows is
  'Parties that are not archived, meters that are installed, all readings.';
call wall_off('row_blocks');
grant select, insert, update on row_blocks to billwright_api, billwright_worker;

create table billing_periods (
  tenant_id bigint not null references tenants (tenant_id),
  period_id bigint not null,
  name text not null,
  unit text not null check (unit in ('Day', 'Week', 'Month', 'Year', 'Once')),
  unit_count integer not null check (unit_count > 0),
  anchor_day smallint check (anchor_day between 1 and 31),
  months numeric not null check (months >= 0),
  description text,
  primary key (tenant_id, period_id)
);
comment on table billing_periods is
  'A length of time that is billed at once, such as a month or a quarter.';
comment on column billing_periods.months is 'The length in months.';
create unique index billing_periods_name_key on billing_periods (tenant_id, lower(name));
call wall_off('billing_periods');
grant select, insert on billing_periods to billwright_api;
grant select on billing_periods to billwright_worker;
