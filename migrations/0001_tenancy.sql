-- Tenancy: the roles that serve calls and jobs, the workspaces, and the wall between them.
--
-- Every table with rows of a tenant has tenant_id first in every key, row-level security enabled
-- and forced, and exactly one policy. The tenant of a transaction is the setting app.tenant, set
-- with set_config(..., true) inside the transaction; without it every query finds nothing.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

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
    -- name the tenant themselves. Where the owner may not create such a role (some hosted
    -- databases) the role is bound like any other: searches stay right and are slower.
    begin
      create role billwright_search nologin bypassrls;
    exception when insufficient_privilege then
      create role billwright_search nologin;
    end;
  end if;
end
$$;

grant billwright_api, billwright_worker, billwright_search to current_user;
grant usage on schema public to billwright_api, billwright_worker, billwright_search;
-- A function can only be handed to a role that may create in its schema; taken back at the end.
grant create on schema public to billwright_search;

alter role billwright_api set statement_timeout = '30s';
alter role billwright_api set lock_timeout = '10s';
alter role billwright_api set idle_in_transaction_session_timeout = '60s';
alter role billwright_worker set statement_timeout = '10min';
alter role billwright_worker set lock_timeout = '60s';
alter role billwright_worker set idle_in_transaction_session_timeout = '10min';

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

create function current_tenant() returns bigint
language sql stable parallel safe
return nullif(current_setting('app.tenant', true), '')::bigint;

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

-- The one registry that spans tenants. The API role cannot read it; it asks find_workspace().
create table workspaces (
  tenant_id bigint not null primary key check (tenant_id > 0),
  workspace text not null
    constraint workspaces_name_form check (workspace ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  created_at timestamptz not null,
  constraint workspaces_workspace_key unique (workspace)
);
grant select on workspaces to billwright_worker;

create function find_workspace(wanted text) returns bigint
language sql stable security definer
set search_path = public, pg_temp
return (select tenant_id from workspaces where workspace = wanted);
revoke all on function find_workspace(text) from public;
grant execute on function find_workspace(text) to billwright_api;

-- Turns row-level security on for a table, the same way for every table.
create procedure wall_off(table_name regclass)
language plpgsql
as $$
begin
  execute format('alter table %s enable row level security', table_name);
  execute format('alter table %s force row level security', table_name);
  execute format(
    'create policy tenant_wall on %s using (tenant_id = current_tenant())', table_name);
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
  access_token_seconds integer check (access_token_seconds between 900 and 86400),
  idle_seconds integer check (idle_seconds > 0),
  sandbox boolean not null,
  clock_offset_ms bigint not null default 0 check (clock_offset_ms >= 0),
  -- Changes whenever anything changes that decides who may do what in the workspace. A process may
  -- keep what it knows of a token for as long as this stands still.
  access_epoch bigint not null default 1,
  created_at timestamptz not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  check (sandbox or clock_offset_ms = 0)
);
call wall_off('tenants');

create function advance_access_epoch() returns trigger
language plpgsql
as $$
begin
  if tg_table_name = 'tenants' then
    new.access_epoch := old.access_epoch + 1;
    return new;
  end if;
  update tenants set access_epoch = access_epoch + 1 where tenant_id = new.tenant_id;
  return null;
end
$$;
create trigger tenants_access_epoch
  before update on tenants
  for each row execute function advance_access_epoch();

grant select, update on tenants to billwright_api;
grant select on tenants to billwright_worker;

-- Numbers that people see come from a row per tenant and series, never from a shared sequence.
create table counters (
  tenant_id bigint not null references tenants (tenant_id),
  series text not null,
  last_number bigint not null check (last_number >= 0),
  primary key (tenant_id, series)
);
call wall_off('counters');
grant select, insert, update on counters to billwright_api, billwright_worker;

-- Counts of rows per block of 1,000 ids, kept by triggers: a list knows its total, and the page at
-- any depth, from these few rows instead of walking a million index entries.
create table row_blocks (
  tenant_id bigint not null references tenants (tenant_id),
  kind text not null,
  block bigint not null,
  live_rows integer not null check (live_rows >= 0),
  all_rows integer not null check (all_rows >= live_rows),
  primary key (tenant_id, kind, block)
);
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
call wall_off('billing_periods');
grant select, insert on billing_periods to billwright_api;
grant select on billing_periods to billwright_worker;
