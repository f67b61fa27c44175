// Runs the numbered SQL files of migrations/, forward only, once each, one transaction a file.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { BackupError } from './backup/format.ts';
import { assertMaySetUp } from './check-rights.ts';
import { isCoordinator } from './citus/cluster.ts';
import { finishMigrations, prepareCitus, runMigration } from './citus/migrate.ts';
import { isUnavailable, rethrowUnconnected } from './faults.ts';
import type { Connection } from './pool.ts';

export type Migration = { version: number; name: string; sql: string; checksum: string };

/** Several processes may start at once; the lock lets one of them migrate and the others wait. */
const migrationLock = 7_241_950_118;

export async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { version: Number(name.slice(0, 4)), name: name.slice(5, -4), sql, checksum };
    }),
  );
}

type Warn = (message: string) => void;

/** Brings the database to the newest version and returns the versions that were run. */
export async function migrate(
  connection: Connection,
  migrations: Migration[],
  warn: Warn = () => {},
): Promise<number[]> {
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : connection),
    application_name: 'billwright migrate',
  });
  await client.connect().catch(rethrowUnconnected);
  try {
    await lockMigrations(client);
    await refuseUnfinished(client);
    if (await needsMoreRights(client, migrations)) await assertMaySetUp(client);
    return await migrateOn(client, migrations, warn);
  } finally {
    await client.end();
  }
}

/** The versions that `migrate` would run; refuses the same databases. Changes nothing. */
export async function listPending(client: pg.Client, known: Migration[]): Promise<number[]> {
  await refuseUnfinished(client);
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('schema_migrations') is not null as found",
  );
  if (!rows[0]?.found) return known.map(({ version }) => version);
  const applied = await client.query<Applied>(
    'select version, name, checksum from schema_migrations order by version',
  );
  return pendingMigrations(known, applied.rows).map(({ version }) => version);
}

/** Until the connection ends. */
export async function lockMigrations(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [migrationLock]);
}

/** On a connection that has the lock. */
export async function migrateOn(
  client: pg.Client,
  migrations: readonly Migration[],
  warn: Warn = () => {},
): Promise<number[]> {
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key,
       name text not null,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  const { rows } = await client.query<Applied>(
    'select version, name, checksum from schema_migrations order by version',
  );
  const pending = pendingMigrations(migrations, rows);
  const isSpread = await isCoordinator(client);
  if (isSpread) await prepareCitus(client);
  const run = isSpread ? runMigration : runWhole;
  for (const migration of pending) await runOne(client, migration, run);
  if (!isSpread) await assumeShares(client);
  else if (pending.length > 0) await finishMigrations(client);
  else await finishMigrations(client).catch((error) => acceptAbsent(error, warn));
  return pending.map((migration) => migration.version);
}

/** A machine that is down keeps no program from starting: the next start looks at it again. */
function acceptAbsent(error: unknown, warn: Warn): void {
  if (!isUnavailable(error)) throw error;
  warn(`A machine of the cluster does not answer: ${(error as Error).message}`);
}

/** In a database that is being restored, or whose restore was interrupted. */
export const restoreMark = 'unfinished_restore';

export const markRestoreSql = `
  create table if not exists ${restoreMark} (
    file text not null,
    begun_at timestamptz not null default now()
  )`;

/** Throws if a restore into this database was interrupted. */
export async function refuseUnfinished(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    'select to_regclass($1) is not null as found',
    [`public.${restoreMark}`],
  );
  if (!rows[0]?.found) return;
  const marks = await client.query<{ file: string }>(
    `select file from ${restoreMark} order by begun_at desc limit 1`,
  );
  const file = marks.rows[0]?.file ?? 'a backup';
  throw new BackupError(
    `The restore of ${file} into this database was interrupted, so it cannot be used. ` +
      'Run the restore again: it begins anew.',
  );
}

/** Statements for which the rights of an owner of tables are not enough. */
const roleStatement = /\b(create|alter) role\b|\bto current_user\b|\bcreate extension\b/;

async function needsMoreRights(client: pg.Client, migrations: Migration[]): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('schema_migrations') is not null as found",
  );
  const done = new Set<number>();
  if (rows[0]?.found) {
    const applied = await client.query<{ version: number }>(
      'select version from schema_migrations',
    );
    for (const { version } of applied.rows) done.add(version);
  }
  return migrations.some(({ version, sql }) => !done.has(version) && roleStatement.test(sql));
}

/** Sets what plans are made by: a database restored from a dump has lost it. */
async function assumeShares(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regprocedure('assume_all_shares()') is not null as found",
  );
  if (rows[0]?.found) await client.query('call assume_all_shares()');
}

type Applied = { version: number; name: string; checksum: string };

function pendingMigrations(known: readonly Migration[], applied: Applied[]): Migration[] {
  const byVersion = new Map(known.map((migration) => [migration.version, migration]));
  for (const row of applied) {
    const migration = byVersion.get(row.version);
    if (migration && migration.checksum !== row.checksum) {
      throw ofEarlierBuild(
        `Migration ${row.version} (${row.name}) was changed after this database ran it`,
      );
    }
  }
  const done = new Set(applied.map((row) => row.version));
  const pending = known.filter((migration) => !done.has(migration.version));
  const unknown = applied.findLast((row) => !byVersion.has(row.version));
  if (!unknown) return pending;
  // A newer program has every migration of this one, and its database has run them all.
  const newest = known.at(-1)?.version ?? 0;
  if (pending.length > 0 || unknown.version < newest) {
    throw ofEarlierBuild(
      `The database has run migration ${unknown.version} (${unknown.name}), which this program ` +
        'does not have',
    );
  }
  throw new Error(
    `The database is at version ${unknown.version} (${unknown.name}), newer than this program, ` +
      `which knows versions up to ${newest}. Start a newer Billwright.`,
  );
}

function ofEarlierBuild(finding: string): Error {
  return new Error(
    `${finding}: the database was made by an earlier build. Export its data with that build, or ` +
      'start with a new folder (BILLWRIGHT_DATA) or a new database.',
  );
}

/** Roles are shared by all databases of a cluster; another one may be migrated just now. */
const attemptsMax = 10;
const pauseMs = 100;

type Run = (client: pg.Client, text: string) => Promise<unknown>;

const runWhole: Run = (client, text) => client.query(text);

async function runOne(client: pg.Client, migration: Migration, run: Run): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runOnce(client, migration, run);
    } catch (error) {
      const isCrossed = error instanceof Error && error.message === 'tuple concurrently updated';
      if (isCrossed && attempt < attemptsMax) {
        await sleep(pauseMs);
        continue;
      }
      const name = `${migration.version} (${migration.name})`;
      throw new Error(`Migration ${name} failed`, { cause: error });
    }
  }
}

async function runOnce(client: pg.Client, migration: Migration, run: Run): Promise<void> {
  await client.query('begin');
  try {
    await run(client, migration.sql);
    await client.query(
      'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)',
      [migration.version, migration.name, migration.checksum],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
