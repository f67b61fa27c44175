// One real PostgreSQL for a whole test run, with a migrated template that each test file clones.
import { existsSync, mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate, readMigrations } from '../../src/base/db/migrate.ts';
import type { Connection as Socket } from '../../src/base/postgres/embedded.ts';
import { startEmbedded } from '../../src/base/postgres/embedded.ts';
import { copyReadyFolder } from './ready-folder.ts';

const template = 'billwright_template';
const variable = 'BILLWRIGHT_TEST_CLUSTER';

/** Has the rights of the owner, and sees and changes only what is of the tenant it works for. */
export const walledOwner = 'test_walled_owner';

export type Cluster = {
  owner: Socket;
  api: Socket;
  superuser: Socket;
  /** Several machines with one database, which the files use one after the other. */
  isSpread?: boolean;
};

/** For many small databases, as all tests together make them. */
export const smallDatabases = {
  // Tables are small and often uncounted: workers beside a statement would cost more than they do.
  max_parallel_workers_per_gather: '0',
  // Whoever makes or drops a database looks through all of it.
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  // So many databases would each be visited every minute. A night's large ones are cleaned, too.
  autovacuum_naptime: '10min',
};

/**
 * Instead of a PostgreSQL of its own, a run uses the coordinator of a Citus cluster that this names,
 * by the connection string of a superuser: see "Several machines" in CONTRIBUTING.md.
 */
const coordinatorUrl = process.env.TEST_COORDINATOR_URL;

async function useCoordinator(url: string): Promise<() => Promise<void>> {
  const cluster = await openCoordinator(url);
  process.env[variable] = JSON.stringify(cluster);
  return async () => {
    delete process.env[variable];
  };
}

/** Brings the coordinator up to date. Workspaces that are there already get other names. */
export async function openCoordinator(url: string): Promise<Cluster> {
  const { hostname: host, port, username, pathname } = new URL(url);
  const as = (user: string) => ({
    host,
    port: Number(port),
    user,
    database: pathname.slice(1),
  });
  const cluster = {
    owner: as('billwright'),
    api: as('billwright_api'),
    superuser: as(username),
    isSpread: true,
  };
  await migrate(cluster.owner, await readMigrations(new URL('../../migrations/', import.meta.url)));
  const client = new pg.Client(cluster.superuser);
  await client.connect();
  // Files name their workspaces as they did in the run before, and workers do not go on with it.
  await client.query(
    `do $$ begin
       if not exists (select from pg_roles where rolname = '${walledOwner}') then
         create role ${walledOwner} login in role billwright;
       end if;
     end $$`,
  );
  await client.query(
    "update workspaces set workspace = 'run-' || tenant_id where workspace not like 'run-%'",
  );
  await client.query('update workspace_jobs set next_job_at = null where next_job_at is not null');
  await client.end();
  return cluster;
}

/**
 * Starts the cluster and tells every test process, through the environment, where it is. A named
 * folder stays when the cluster is stopped, and the next start finds its databases.
 */
export async function startCluster(
  settings: Record<string, string> = {},
  keptFolder?: string,
): Promise<() => Promise<void>> {
  if (coordinatorUrl) return useCoordinator(coordinatorUrl);
  const folder = keptFolder ?? (await mkdtemp(join(tmpdir(), 'billwright-test-')));
  mkdirSync(folder, { recursive: true });
  // PostgreSQL may have to run as another user than the tests.
  await chmod(folder, 0o755);
  const dataFolder = join(folder, 'data');
  const isKnown = existsSync(dataFolder);
  const isMigrated = !isKnown && copyReadyFolder(dataFolder);
  const embedded = await startEmbedded({
    dataFolder,
    use: 'claim',
    // A crash of this cluster loses nothing anybody wants, and several programs at a time share its
    // connections; everything else is as in production.
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      max_connections: '300',
      ...settings,
    },
    log: () => {},
  });
  const { owner, api, superuser } = embedded;
  if (!isKnown) {
    await makeTemplate({ owner, api, superuser }, isMigrated);
    await asSuperuser({ owner, api, superuser }, (client) =>
      client.query(`create role ${walledOwner} in role billwright`),
    );
  }
  process.env[variable] = JSON.stringify({ owner, api, superuser });
  return async () => {
    delete process.env[variable];
    await embedded.stop();
    if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
  };
}

async function makeTemplate(cluster: Cluster, isMigrated: boolean): Promise<void> {
  const from = isMigrated ? `template ${cluster.owner.database} strategy file_copy` : '';
  await asSuperuser(cluster, (client) =>
    client.query(`create database ${template} owner billwright ${from}`),
  );
  if (isMigrated) return;
  const migrations = await readMigrations(new URL('../../migrations/', import.meta.url));
  await migrate({ ...cluster.owner, database: template }, migrations);
}

let own: Promise<() => Promise<void>> | undefined;

/** The run's cluster; a file that is run alone starts its own. */
export async function theCluster(): Promise<Cluster> {
  if (!process.env[variable]) {
    own ??= startCluster();
    await own;
  }
  return JSON.parse(process.env[variable] ?? '') as Cluster;
}

export async function stopOwnCluster(): Promise<void> {
  const stop = own;
  own = undefined;
  await (await stop)?.();
}

let clones = 0;

export async function cloneDatabase(
  cluster: Cluster,
  settings: Record<string, string> = {},
): Promise<string> {
  if (cluster.isSpread) return cluster.owner.database;
  clones += 1;
  const name = `test_${process.pid}_${clones}`;
  await asSuperuser(cluster, async (client) => {
    await client.query(
      `create database ${name} template ${template} owner billwright strategy file_copy`,
    );
    for (const [setting, value] of Object.entries(settings)) {
      await client.query(`alter database ${name} set ${setting} = ${pg.escapeLiteral(value)}`);
    }
  });
  return name;
}

/** Fails when a test left connections open, then removes the database. */
export async function dropDatabase(cluster: Cluster, name: string): Promise<void> {
  if (cluster.isSpread) return;
  const left = await asSuperuser(cluster, async (client) => {
    for (let attempt = 0; ; attempt += 1) {
      const { rows } = await client.query<{ application_name: string; query: string }>(
        `select application_name, query from pg_stat_activity
         where datname = $1 and backend_type = 'client backend'`,
        [name],
      );
      // A closed connection takes PostgreSQL a moment to forget, and a busy machine some seconds.
      if (rows.length === 0 || attempt === 400) return rows;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  });
  await asSuperuser(cluster, (client) => client.query(`drop database ${name} with (force)`));
  if (left.length > 0) {
    const who = left.map((row) => `${row.application_name}: ${row.query}`).join('; ');
    throw new Error(`${left.length} connections were left open: ${who}`);
  }
}

export async function asSuperuser<T>(
  cluster: Cluster,
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
): Promise<T> {
  const client = new pg.Client({ ...cluster.superuser, database });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What a program needs in its environment to run on a database of this cluster. */
export function environmentOf(cluster: Cluster, databaseName: string): Record<string, string> {
  const { host, port } = cluster.owner;
  const url = (user: string) =>
    cluster.isSpread
      ? `postgresql://${user}@${host}:${port}/${databaseName}`
      : `postgresql://${user}@/${databaseName}?host=${encodeURIComponent(host)}`;
  const unlimited = '1000000/1000000';
  return {
    DATABASE_URL: url(cluster.owner.user),
    API_DATABASE_URL: url(cluster.api.user),
    // This cluster does without fsync.
    BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1',
    BILLWRIGHT_WORKSPACE_HEADER: '1',
    RATE_LIMIT_TOKEN: unlimited,
    RATE_LIMIT_WORKSPACE: unlimited,
    PORT: '0',
  };
}
