// The walls between workspaces as a Citus cluster plans them. A statement of several tables is
// planned on the coordinator and on a machine at each call, each time with the wall of each table.
import type pg from 'pg';

/**
 * Each policy calls one function in SQL, which PostgreSQL would take apart for each table of a
 * statement. Here policies have what that function consists of: the same condition, found sooner.
 */
export async function spellOutWalls(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select format('alter policy %I on %s using (tenant_id = (%s))', p.polname,
       p.polrelid::regclass, regexp_replace(f.prosrc, '^\\s*select\\s+|\\s+$', '', 'g')) as text
     from pg_policy p
     join pg_class c on c.oid = p.polrelid
     join pg_proc f on f.oid = 'current_tenant()'::regprocedure
     where c.relnamespace = 'public'::regnamespace and p.polwithcheck is null
       and pg_get_expr(p.polqual, p.polrelid) = '(tenant_id = current_tenant())'`,
  );
  for (const { text } of rows) await client.query(text);
}
