-- Rows are of one workspace nearly always. Compared with one value, its row is found by a plan that
-- several machines keep too; compared with a list, the statement was planned anew at each insert.
create or replace function check_named_tenants() returns trigger
language plpgsql
as $$
declare
  named bigint;
begin
  for named in select distinct tenant_id from new_rows loop
    perform from tenants where tenant_id = named;
    if not found then
      raise exception 'a row names a tenant that does not exist'
        using errcode = 'foreign_key_violation', constraint = tg_argv[0];
    end if;
  end loop;
  return null;
end
$$;
