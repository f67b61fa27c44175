// Brings one workspace into a database in which others are, whole or not at all.
import pg from 'pg';
import { isOutOfSpace, rethrowUnconnected } from '../faults.ts';
import type { Connection } from '../pool.ts';
import { BackupError, type BackupHead } from './format.ts';
import { type LoadOptions, loadTables } from './load.ts';
import type { CheckedBackup } from './read.ts';
import { listApplied, listTables, registryTables, type Table } from './tables.ts';
import { renumberEvents, silenceTriggers } from './transactions.ts';
import { copySettings } from './write.ts';

export type ImportOptions = Pick<LoadOptions, 'onTable' | 'onRows'> & {
  /** The name of the workspace here. */
  name: string;
  at: Temporal.Instant;
  /** Second factors that were encrypted with the key of another installation are left out. */
  leaveOut: readonly string[];
};

/**
 * Returns the tenant id. Triggers do not fire, because their effects are among the rows: totals,
 * queues, seals. Foreign keys are checked before the commit, each by one statement. No table is
 * locked, so the other workspaces go on.
 */
export async function importTenant(
  connection: Connection,
  backup: CheckedBackup,
  options: ImportOptions,
): Promise<number> {
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : { ...connection, ssl: false }),
    application_name: 'billwright import',
  });
  client.on('error', () => {});
  await client.connect().catch(rethrowUnconnected);
  try {
    await client.query('begin');
    await client.query(copySettings);
    const tables = await listTables(client);
    await assertSameVersion(client, backup, tables);
    const tenantId = await register(client, options);
    await client.query('select set_tenant($1)', [String(tenantId)]);
    await silenceTriggers(client);
    await loadAll(client, backup, tables, { ...options, tenantId });
    await client.query(
      `update tenants set status = 'Suspended', access_epoch = access_epoch + 1
       where tenant_id = $1`,
      [tenantId],
    );
    await renumberEvents(client, tenantId);
    await client.query('set local session_replication_role = origin');
    await checkForeignKeys(client, tenantId);
    await client.query('commit');
    return tenantId;
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
    throw new BackupError(
      'The disk of the database is full: nothing was imported. Make room, then import again. ' +
        `PostgreSQL says: ${(error as Error).message}`,
    );
  } finally {
    // A transaction that is still open is rolled back.
    await client.end();
  }
}

async function assertSameVersion(
  client: pg.Client,
  { path, head }: CheckedBackup,
  tables: readonly Table[],
): Promise<void> {
  const textOf = (all: BackupHead['migrations']) =>
    all.map(({ version, checksum }) => `${version} ${checksum}`).join();
  const applied = (await listApplied(client)) ?? [];
  if (textOf(applied) !== textOf(head.migrations)) {
    throw new BackupError(
      `${path} was made by Billwright ${head.program} on a database of version ` +
        `${head.migrations.at(-1)?.version}; this one has version ${applied.at(-1)?.version}. ` +
        'Update the older installation, and export again.',
    );
  }
  for (const { name, columns } of tables) {
    const saved = head.tables.find((one) => one.name === name)?.columns;
    const own = columns.filter((column) => column !== 'tenant_id');
    if (registryTables.includes(name)) continue;
    if (saved && [...saved].sort().join() === [...own].sort().join()) continue;
    throw new BackupError(`${path} has another table ${name} than its version has.`);
  }
}

/** A tenant id that no workspace has or had: what is cached for one must not serve another. */
async function register(client: pg.Client, { name, at }: ImportOptions): Promise<number> {
  await client.query(`lock table workspaces in share row exclusive mode`);
  const { rows: taken } = await client.query('select from workspaces where workspace = $1', [name]);
  if (taken.length > 0) {
    throw new BackupError(
      `A workspace named '${name}' exists already. Import it under another name: --name NEW.`,
    );
  }
  const { rows } = await client.query<{ tenant_id: string }>(
    `insert into workspaces (tenant_id, workspace, created_at)
     select next_tenant_id(), $1, $2 returning tenant_id`,
    [name, at.toString()],
  );
  return Number(rows[0]?.tenant_id);
}

/** A role that row-level security binds may not COPY into a table, so its rows go by another. */
async function loadAll(
  client: pg.Client,
  backup: CheckedBackup,
  tables: readonly Table[],
  options: ImportOptions & { tenantId: number },
): Promise<void> {
  const skipped = [...registryTables, ...options.leaveOut];
  const wanted = new Map(tables.map((table) => [table.name, table]));
  for (const name of skipped) wanted.delete(name);
  const sums = backup.sums.filter(({ name }) => wanted.has(name));
  const { rows } = await client.query<{ bound: boolean }>(
    "select row_security_active('tenants') as bound",
  );
  const isBound = rows[0]?.bound === true;
  const staged = (name: string) => `import_${name}`.slice(0, 63);
  await loadTables(
    client,
    { ...backup, sums },
    {
      ...options,
      ...(isBound && {
        targetOf: staged,
        beforeTable: async (name) => {
          await client.query(`create temp table "${staged(name)}" (like "${name}") on commit drop`);
          const generated = await generatedColumns(client, name);
          for (const column of generated) {
            await client.query(`alter table "${staged(name)}" alter "${column}" drop not null`);
          }
        },
        afterTable: async (name) => {
          const columns = (wanted.get(name)?.columns ?? []).map((one) => `"${one}"`).join(', ');
          await client.query(
            `insert into "${name}" (${columns}) select ${columns} from "${staged(name)}"`,
          );
          await client.query(`drop table "${staged(name)}"`);
        },
      }),
    },
  );
}

async function generatedColumns(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = $1::regclass and attgenerated <> '' and not attisdropped`,
    [`"${table}"`],
  );
  return rows.map((row) => row.name);
}

type Reference = { child: string; parent: string; columns: string[]; keys: string[] };

async function checkForeignKeys(client: pg.Client, tenantId: number): Promise<void> {
  const { rows } = await client.query<Reference>(
    `select k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent,
       array(select quote_ident(a.attname) from unnest(k.conkey) with ordinality c (number, place)
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.number
         order by c.place) as columns,
       array(select quote_ident(a.attname) from unnest(k.confkey) with ordinality c (number, place)
         join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.number
         order by c.place) as keys
     from pg_constraint k
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace`,
  );
  for (const { child, parent, columns, keys } of rows) {
    const isGiven = columns.map((column) => `c.${column} is not null`).join(' and ');
    const isSame = columns.map((column, index) => `p.${keys[index]} = c.${column}`).join(' and ');
    const found = await client.query<{ count: string }>(
      `select count(*) as count from ${child} c
       where c.tenant_id = $1 and ${isGiven}
         and not exists (select from ${parent} p where p.tenant_id = $1 and ${isSame})`,
      [tenantId],
    );
    const count = Number(found.rows[0]?.count);
    if (count === 0) continue;
    throw new BackupError(
      `The file is not whole: ${count} rows of ${child} name rows of ${parent} that it does not ` +
        'have. Nothing was imported.',
    );
  }
}
