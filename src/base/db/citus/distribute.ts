// Spreads new tables over the machines: all rows of one workspace are on one of them.
import type pg from 'pg';
import { isDistributed } from './cluster.ts';

/** Copied to every machine; rows of all other tables go by their tenant_id. */
const registry = 'workspaces';
/** The table with whose rows those of all others are placed. */
const anchor = 'tenants';

type ForeignKey = { table: string; name: string; parent: string; definition: string };

/** In the transaction that made the tables, or in one of its own. Tables must have no rows. */
export async function distributeTables(client: pg.Client): Promise<string[]> {
  const tables = await listLocal(client);
  if (tables.length === 0) return [];
  await refuseRows(client);
  const keys = await listForeignKeys(client, tables);
  await client.query('set local citus.enable_ddl_propagation = off');
  for (const { table, name } of keys) {
    await client.query(`alter table "${table}" drop constraint "${name}"`);
  }
  for (const table of inOrder(tables, keys)) {
    // Each table is distributed together with its keys, when all tables that they name are.
    await client.query('set local citus.enable_ddl_propagation = off');
    for (const { name, definition } of keys.filter((key) => key.table === table)) {
      await client.query(`alter table "${table}" add constraint "${name}" ${definition}`);
    }
    await client.query('set local citus.enable_ddl_propagation = on');
    await distribute(client, table);
  }
  return tables;
}

async function distribute(client: pg.Client, table: string): Promise<void> {
  if (table === registry) {
    await client.query('select create_reference_table($1)', [table]);
    return;
  }
  const beside = table === anchor ? 'none' : anchor;
  await client.query("select create_distributed_table($1, 'tenant_id', colocate_with => $2)", [
    table,
    beside,
  ]);
}

async function listLocal(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname::text as name
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
       and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
     order by c.relname`,
  );
  return rows.map((row) => row.name);
}

/** Rows of a database that was in use are not moved: its workspaces come by export and import. */
async function refuseRows(client: pg.Client): Promise<void> {
  if (await isDistributed(client, anchor)) return;
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (select from ${registry}) as found`,
  );
  if (!rows[0]?.found) return;
  throw new Error(
    'This database has workspaces and became part of a Citus cluster later. Make a new database ' +
      'on the cluster, and bring each workspace there: billwright workspace export and import.',
  );
}

async function listForeignKeys(client: pg.Client, tables: string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select c.relname::text as table, k.conname::text as name, p.relname::text as parent,
       pg_get_constraintdef(k.oid) as definition
     from pg_constraint k
     join pg_class c on c.oid = k.conrelid
     join pg_class p on p.oid = k.confrelid
     where k.contype = 'f' and c.relnamespace = 'public'::regnamespace
       and c.relname = any($1::text[])
     order by c.relname, k.conname`,
    [tables],
  );
  return rows;
}

/** Each table after those that its foreign keys name, and the anchor before all that go with it. */
function inOrder(tables: readonly string[], keys: readonly ForeignKey[]): string[] {
  const left = new Set(tables);
  const ordered: string[] = [];
  const take = (table: string) => {
    left.delete(table);
    ordered.push(table);
  };
  for (const first of [registry, anchor]) if (left.has(first)) take(first);
  while (left.size > 0) {
    const free = [...left].filter((table) =>
      keys.every((key) => key.table !== table || key.parent === table || !left.has(key.parent)),
    );
    if (free.length === 0) throw new Error(`foreign keys in a circle: ${[...left].join(', ')}`);
    free.forEach(take);
  }
  return ordered;
}
