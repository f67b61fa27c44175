// The tables of the schema, read from PostgreSQL's own catalogue.
import type pg from 'pg';
import type { Tx } from '../tx.ts';

export type Table = {
  name: string;
  /** Without generated ones, which PostgreSQL computes again. */
  columns: string[];
  hasTenant: boolean;
  /** Row-level security binds its owner too. */
  isForced: boolean;
};

/**
 * What belongs to the processes, connections and sign-ins of one installation, and is not taken to
 * another.
 */
const ofThisInstallation = [
  'schema_migrations',
  'unfinished_restore',
  'workers',
  'chunk_attempts',
  'sessions',
  'tokens',
  'login_links',
];

/** What an installation knows of all its workspaces: not part of any of them. */
export const registryTables = ['workspaces', 'ended_workspaces', 'operation_counts'];

/** Tables that a backup contains; each after all tables that its foreign keys name. */
export function listTables(client: pg.Client): Promise<Table[]> {
  const ask: Ask = async (text, values) => (await client.query(text, [...values])).rows;
  return tablesWithout(ask, ofThisInstallation);
}

/** Tables with rows of workspaces, in the order in which they can be deleted. */
export async function listToDelete(tx: Tx): Promise<string[]> {
  const ask: Ask = async (text, values) => (await tx.run({ text, values })).rows as FoundTable[];
  const tables = await tablesWithout(ask, ['ended_workspaces']);
  const names = tables.filter((table) => table.hasTenant).map((table) => table.name);
  // Not every table names the registry by a foreign key.
  const last = ['tenants', 'workspaces'];
  return [...names.filter((name) => !last.includes(name)).reverse(), ...last];
}

type FoundTable = Table & { parents: string[] };
type Ask = (text: string, values: readonly unknown[]) => Promise<FoundTable[]>;

async function tablesWithout(ask: Ask, left: readonly string[]): Promise<Table[]> {
  const rows = await ask(
    `select c.relname::text as name,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
           and a.attgenerated = ''
         order by a.attnum) as columns,
       exists (select from pg_attribute a
         where a.attrelid = c.oid and a.attname = 'tenant_id') as "hasTenant",
       c.relforcerowsecurity as "isForced",
       array(select distinct p.relname::text from pg_constraint k
         join pg_class p on p.oid = k.confrelid
         where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as parents
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
       and not c.relname = any($1::text[])
     order by c.relname`,
    [left],
  );
  return inOrder(rows);
}

function inOrder(rows: readonly FoundTable[]): Table[] {
  const known = new Set(rows.map((row) => row.name));
  const placed = new Set<string>();
  const ordered: Table[] = [];
  while (ordered.length < rows.length) {
    const ready = rows.filter(
      ({ name, parents }) =>
        !placed.has(name) && parents.every((parent) => placed.has(parent) || !known.has(parent)),
    );
    if (ready.length === 0) throw new Error('foreign keys of the schema form a circle');
    for (const { parents: _, ...table } of ready) {
      placed.add(table.name);
      ordered.push(table);
    }
  }
  return ordered;
}

export type AppliedMigration = { version: number; name: string; checksum: string };

/** Migrations that the database has run; undefined if it is not one of this program. */
export async function listApplied(client: pg.Client): Promise<AppliedMigration[] | undefined> {
  if (!(await exists(client, 'schema_migrations'))) return undefined;
  const applied = await client.query<AppliedMigration>(
    'select version, name, checksum from schema_migrations order by version',
  );
  return applied.rows;
}

export async function exists(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    'select to_regclass($1) is not null as found',
    [`public.${table}`],
  );
  return rows[0]?.found ?? false;
}
