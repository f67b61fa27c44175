-- PostgreSQL counts how many rows each workspace has, and plans by it. Of a workspace that has come
-- since it last counted it believes that it has none: every index that begins with the workspace
-- then seems as good as any other, and a run over thousands of subscriptions reads all of them for
-- each. So it does not count workspaces. It takes a fixed share of a table for each, and chooses by
-- what else is asked for, whether a workspace is new or as old as the table.
create or replace procedure wall_off(table_name regclass)
language plpgsql
as $$
begin
  execute format('alter table %s enable row level security', table_name);
  execute format('alter table %s force row level security', table_name);
  execute format(
    'create policy tenant_wall on %s using (tenant_id = current_tenant())', table_name);
  execute format('alter table %s alter tenant_id set statistics 0', table_name);
end
$$;

do $$
declare
  found record;
begin
  for found in
    select c.oid::regclass as name, c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table %s alter tenant_id set statistics 0', found.name);
    -- What was counted before would stay. PostgreSQL learnt to forget it in version 18.
    if current_setting('server_version_num')::integer >= 180000 then
      execute format(
        'select pg_clear_attribute_stats(%L, %L, %L, false)', 'public', found.relname, 'tenant_id');
    end if;
  end loop;
end
$$;
