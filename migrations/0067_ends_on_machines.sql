-- The deletion of an ended workspace on several machines: an update computes no time from a
-- condition there, and a condition on one table is found by a plan that is kept.

create or replace function is_ending(tenant bigint) returns boolean
language plpgsql stable
as $$
begin
  if is_program() then
    return false;
  end if;
  perform from ended_workspaces
    where tenant_id = tenant and delete_after <= now() and deleted_at is null;
  return found;
end
$$;

create or replace function delete_ended_rows(wanted_table text, most integer) returns integer
language plpgsql volatile security definer
set search_path = public, pg_temp
as $$
declare
  tenant bigint := require_tenant();
  deleted integer;
  ended_at timestamptz := case when wanted_table = 'workspaces' then now() end;
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
  update ended_workspaces set rows_deleted = rows_deleted + deleted, deleted_at = ended_at
  where tenant_id = tenant;
  return deleted;
end
$$;
