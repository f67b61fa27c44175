-- PostgreSQL counts how many rows each workspace has, and plans by it. Of a workspace that has come
-- since it last counted it believes that it has none: every index that begins with the workspace
-- then seems as good as any other, and a run over thousands of subscriptions reads all of them for
-- each. So it is told not to count, and that every workspace has a tenth of a table: plans are then
-- chosen by what else is asked for, whether a workspace is new or as old as the table. Only from
-- version 18 on it can be told.
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

create or replace procedure wall_off(table_name regclass)
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

-- Also called at every start: a database that was restored from a dump has the tables and not what
-- was told about them.
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

call assume_all_shares();
