// Restores a whole database from a backup: into an empty one, whole or not at all.
import pg from 'pg';
import { assertMaySetUp } from '../check-rights.ts';
import { isOutOfSpace, rethrowUnconnected } from '../faults.ts';
import {
  lockMigrations,
  type Migration,
  markRestoreSql,
  migrateOn,
  restoreMark,
} from '../migrate.ts';
import type { Connection } from '../pool.ts';
import { BackupError } from './format.ts';
import { type LoadOptions, loadTables } from './load.ts';
import { doubtWaitingMails, leaveGap } from './old-installation.ts';
import type { CheckedBackup } from './read.ts';
import { listApplied, listTables, type Table } from './tables.ts';
import { renumberEvents } from './transactions.ts';
import { copySettings } from './write.ts';

export type RestoreOptions = Pick<LoadOptions, 'onTable' | 'onRows'> & {
  migrations: readonly Migration[];
  /** The old installation may have gone on: no workspace works until an operator resumes it. */
  suspend: boolean;
};

/**
 * The database is marked before anything is made in it, and the mark goes in the transaction that
 * loads the rows. A database with the mark is refused by every command, until it is restored again.
 */
export async function restoreDatabase(
  connection: Connection,
  backup: CheckedBackup,
  options: RestoreOptions,
): Promise<void> {
  const migrations = migrationsOf(backup, options.migrations);
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : { ...connection, ssl: false }),
    application_name: 'billwright restore',
  });
  client.on('error', () => {});
  await client.connect().catch(rethrowUnconnected);
  try {
    // Programs that start meanwhile wait until the restore has ended.
    await lockMigrations(client);
    await assertEmpty(client);
    await assertMaySetUp(client);
    await client.query(markRestoreSql);
    await client.query('insert into unfinished_restore (file) values ($1)', [backup.path]);
    await migrateOn(client, migrations);
    await assertSameVersion(client, backup);
    await load(client, backup, options);
    // What a newer program has beyond the backup, as at every start.
    await migrateOn(client, [...options.migrations]);
    await client.query('analyze');
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
    throw new BackupError(
      'The disk of the database is full: nothing was restored. Make room, then run the restore ' +
        `again. PostgreSQL says: ${(error as Error).message}`,
    );
  } finally {
    await client.end();
  }
}

/** Those that the database of the backup had run. */
function migrationsOf({ path, head }: CheckedBackup, known: readonly Migration[]): Migration[] {
  const byVersion = new Map(known.map((one) => [one.version, one]));
  const newest = known.at(-1)?.version ?? 0;
  return head.migrations.map(({ version, name, checksum }) => {
    const own = byVersion.get(version);
    if (own?.checksum === checksum) return own;
    const reason =
      own || version < newest
        ? `of another build (migration ${version}, ${name}, differs)`
        : `newer: its database has run migration ${version} (${name}), and this program knows ` +
          `migrations up to ${newest}`;
    throw new BackupError(
      `${path} was made by Billwright ${head.program}, which is ${reason}. Restore it with the ` +
        'program that made it.',
    );
  });
}

async function assertEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ marked: boolean; registry: boolean; tables: number }>(
    `select to_regclass('public.unfinished_restore') is not null as marked,
       to_regclass('public.workspaces') is not null as registry,
       (select count(*)::integer from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')) as tables`,
  );
  const [state] = rows;
  if (!state || state.marked) return;
  const workspaces = state.registry
    ? await client.query<{ workspace: string }>('select workspace from workspaces order by 1')
    : undefined;
  const names = workspaces?.rows.map((row) => row.workspace) ?? [];
  if (names.length > 0) {
    throw new BackupError(
      `This database is not empty: it has the workspaces ${names.slice(0, 5).join(', ')}` +
        `${names.length > 5 ? ', …' : ''}. A backup is restored into an empty one only: name a ` +
        'new folder in BILLWRIGHT_DATA, or a new database in DATABASE_URL.',
    );
  }
  if (!state.registry && state.tables > 0) {
    throw new BackupError(
      'This database has tables of another program. Name an empty one in DATABASE_URL.',
    );
  }
}

async function assertSameVersion(client: pg.Client, { head }: CheckedBackup): Promise<void> {
  const applied = await listApplied(client);
  const found = new Set(applied?.map((one) => one.version));
  if (head.migrations.length === found.size) return;
  throw new BackupError(
    'This empty database was set up by a newer program than the one that made the backup. ' +
      'Name a new folder in BILLWRIGHT_DATA, or a new database in DATABASE_URL.',
  );
}

async function load(
  client: pg.Client,
  backup: CheckedBackup,
  options: RestoreOptions,
): Promise<void> {
  await client.query('begin');
  try {
    await client.query(copySettings);
    const tables = await listTables(client);
    const own = knownTables(tables, backup);
    const keys = await dropForeignKeys(client);
    for (const table of tables) await open(client, table);
    const all = tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    await client.query(`truncate ${all} cascade`);
    await loadTables(client, own, { ...options, isNew: true });
    await renumberEvents(client, null);
    await leaveGap(client);
    // PostgreSQL compares every row with the table that it names.
    for (const { table, name, definition } of keys) {
      await client.query(`alter table ${table} add constraint ${name} ${definition}`);
    }
    if (options.suspend) await client.query("update tenants set status = 'Suspended'");
    // What a process has cached about tokens is of the time before.
    await client.query('update tenants set access_epoch = access_epoch + 1');
    for (const table of tables) await close(client, table);
    if (options.suspend) await doubtWaitingMails(client);
    await client.query(`drop table ${restoreMark}`);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Its triggers are for single calls, and have had their effect on the rows of the backup. */
async function open(client: pg.Client, { name, isForced }: Table): Promise<void> {
  const table = pg.escapeIdentifier(name);
  if (isForced) await client.query(`alter table ${table} no force row level security`);
  await client.query(`alter table ${table} disable trigger user`);
}

async function close(client: pg.Client, { name, isForced }: Table): Promise<void> {
  const table = pg.escapeIdentifier(name);
  if (isForced) await client.query(`alter table ${table} force row level security`);
  await client.query(`alter table ${table} enable trigger user`);
}

type ForeignKey = { table: string; name: string; definition: string };

async function dropForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name,
       pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace
     order by 1, 2`,
  );
  for (const { table, name } of rows) {
    await client.query(`alter table ${table} drop constraint ${name}`);
  }
  return rows;
}

/** The backup without tables that an operator added, which no migration makes. */
function knownTables(tables: readonly Table[], { head, sums, path }: CheckedBackup): CheckedBackup {
  const names = new Set(tables.map(({ name }) => name));
  const own = { path, head, sums: sums.filter(({ name }) => names.has(name)) };
  for (const { name, columns } of tables) {
    const saved = head.tables.find((one) => one.name === name);
    const isSame = saved && [...saved.columns].sort().join() === [...columns].sort().join();
    if (!isSame) throw new BackupError(`${path} has another table ${name} than its version has.`);
  }
  return own;
}
