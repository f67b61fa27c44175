// Whether the database is the coordinator of a Citus cluster, and of which machines.
import type pg from 'pg';

/** True if tables are to be spread: the extension alone, without other machines, is not enough. */
export async function isCoordinator(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('pg_catalog.pg_dist_node') is not null as found",
  );
  if (!rows[0]?.found) return false;
  const nodes = await client.query<{ found: boolean }>(
    `select exists (
       select from pg_dist_node where groupid <> 0 and noderole = 'primary' and shouldhaveshards
     ) as found`,
  );
  return nodes.rows[0]?.found === true;
}

export async function isDistributed(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    'select exists (select from pg_dist_partition where logicalrelid = to_regclass($1)) as found',
    [table],
  );
  return rows[0]?.found === true;
}
