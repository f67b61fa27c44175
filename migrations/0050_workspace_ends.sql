-- Workspaces that end: suspended at once, and deleted after a time in which that can be undone.

create table ended_workspaces (
  tenant_id bigint not null primary key,
  workspace text not null,
  was_active boolean not null,
  requested_at timestamptz not null,
  delete_after timestamptz not null check (delete_after >= requested_at),
  export_file text not null,
  deleted_at timestamptz,
  rows_deleted bigint not null default 0
);
comment on table ended_workspaces is
  'A workspace that is to be deleted, or was. The row stays, so that no other workspace gets the '
  'tenant id. As the registry, it spans tenants.';
comment on column ended_workspaces.was_active is
  'What it was before: it is that again if the deletion is undone.';
comment on column ended_workspaces.delete_after is
  'From then on workers delete its rows, and the deletion cannot be undone.';
comment on column ended_workspaces.export_file is 'Where its last export was written.';
grant select on ended_workspaces to billwright_worker;

-- A tenant id that no workspace has or had. The caller has locked the registry.
create function next_tenant_id() returns bigint
language sql stable
as $$
  select 1 + greatest(
    (select coalesce(max(tenant_id), 0) from workspaces),
    (select coalesce(max(tenant_id), 0) from ended_workspaces))
$$;
revoke all on function next_tenant_id() from public;

-- True while the rows of a workspace are deleted because it has ended. The roles of API and worker
-- cannot delete them by a statement of their own: see delete_ended_rows().
create function is_ending(tenant bigint) returns boolean
language plpgsql stable
as $$
begin
  if is_program() then
    return false;
  end if;
  return exists (
    select from ended_workspaces
    where tenant_id = tenant and delete_after <= now() and deleted_at is null
  );
end
$$;

-- What is only appended to, and posted bills, end with their workspace.
create or replace function refuse_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    if is_ending(old.tenant_id) then
      return old;
    end if;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create or replace function refuse_posted_delete() returns trigger
language plpgsql
as $$
begin
  if is_ending(old.tenant_id) then
    return old;
  end if;
  raise exception 'a posted bill is never deleted'
    using errcode = 'check_violation', constraint = 'bills_posted_kept';
end
$$;

create or replace function keep_bill_contents() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  bill_ids bigint[];
begin
  select min(tenant_id), array_agg(bill_id) into tenant, bill_ids from gone;
  if is_ending(tenant) then
    return null;
  end if;
  if exists (select from bills where tenant_id = tenant and bill_id = any(bill_ids)) then
    raise exception 'a bill is not without its contents'
      using errcode = 'check_violation', constraint = 'bill_contents_kept';
  end if;
  return null;
end
$$;

-- Deletes up to so many rows of one table of the transaction's workspace, which must have ended,
-- and returns how many. Another worker that does the same is waited for.
create function delete_ended_rows(wanted_table text, most integer) returns integer
language plpgsql volatile security definer
set search_path = public, pg_temp
as $$
declare
  tenant bigint := require_tenant();
  deleted integer;
begin
  perform from ended_workspaces
    where tenant_id = require_tenant() and delete_after <= now() and deleted_at is null
    for update;
  if not found then
    raise exception 'workspace % has not ended', tenant using errcode = 'insufficient_privilege';
  end if;
  if not exists (
    select from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and c.relname = wanted_table and c.relname <> 'ended_workspaces'
  ) then
    raise exception '% is no table of workspaces', wanted_table;
  end if;
  begin
    execute format(
      'delete from %1$I where tenant_id = $1 and ctid = any(array('
        'select ctid from %1$I where tenant_id = $1 limit $2))', wanted_table)
      using tenant, most;
  exception when foreign_key_violation then
    -- Rows of the table name each other: they go together.
    execute format('delete from %I where tenant_id = $1', wanted_table) using tenant;
  end;
  get diagnostics deleted = row_count;
  update ended_workspaces set rows_deleted = rows_deleted + deleted,
    deleted_at = case when wanted_table = 'workspaces' then now() end
  where tenant_id = tenant;
  return deleted;
end
$$;
revoke all on function delete_ended_rows(text, integer) from public;
grant execute on function delete_ended_rows(text, integer) to billwright_worker;

-- Workspaces in which an item waits for its seal. Of one that is being deleted nothing is sealed.
create or replace function unsealed_workspaces() returns setof bigint
language plpgsql
as $$
declare
  found bigint;
begin
  for found in
    select w.tenant_id from workspaces w
    where not exists (
      select from ended_workspaces e
      where e.tenant_id = w.tenant_id and e.delete_after <= now() and e.deleted_at is null
    )
    order by w.tenant_id
  loop
    perform set_config('app.tenant', found::text, true);
    if exists (select from seal_queue where tenant_id = found) then
      return next found;
    end if;
  end loop;
end
$$;
