// Numbers of transactions. Citus computes the default of a column on the coordinator, whose
// transactions have other numbers than those of the machine that has the row.
import type pg from 'pg';

/** A trigger numbers each new row on the machine that has it. */
export async function numberOnOwnMachine(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select c.relname::text as table, a.attname::text as column
     from pg_attrdef d
     join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     join pg_class c on c.oid = d.adrelid
     where c.relnamespace = 'public'::regnamespace
       and pg_get_expr(d.adbin, d.adrelid) = 'pg_current_xact_id()'
       and not exists (
         select from pg_trigger t
         where t.tgrelid = c.oid and t.tgname = c.relname || '_number_' || a.attname
       )`,
  );
  for (const { table, column } of rows) {
    await client.query(
      `create or replace function number_${column}() returns trigger
       language plpgsql
       as $$ begin new.${column} := pg_current_xact_id(); return new; end $$`,
    );
    await client.query(
      `create trigger ${table}_number_${column} before insert on ${table}
       for each row execute function number_${column}()`,
    );
  }
}
