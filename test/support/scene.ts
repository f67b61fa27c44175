// What a test file works with: a server on a database, its own workspaces, logins and typed clients.
import { after } from 'node:test';
import { hash } from '@node-rs/argon2';
import type pg from 'pg';
import { currencyDecimals } from '../../src/base/currencies.ts';
import {
  type Database,
  openDatabase,
  openingFor,
  plainOpening,
  transact,
} from '../../src/base/db/pool.ts';
import { steps } from '../../src/billrun/steps.ts';
import {
  insertLogins,
  lockPartiesOfLogins,
  showPortalStatus,
} from '../../src/domain/access/store.ts';
import { createWorkspace } from '../../src/domain/access/workspaces.ts';
import { takeNumbers } from '../../src/domain/tenants/numbers-store.ts';
import type { Step } from '../../src/jobs/step.ts';
import { type JobRunner, startJobRunner } from '../../src/worker/job-runner.ts';
import type { TestClient } from './client.ts';
import type { MovableClock } from './clock.ts';
import { type Cluster, walledOwner } from './cluster.ts';
import { openTestEquipment, type TestEquipment } from './equipment.ts';
import { isInGroup } from './group.ts';
import { checkRecordedStatements } from './recorded-statements.ts';
import { SpreadClient } from './spread-client.ts';
import {
  openWorkerPool,
  openWorld,
  type Running,
  type ServerOptions,
  sharedLanes,
  sharedWorld,
  testLog,
  type World,
  workAsOwner,
} from './world.ts';

export { openWorkerPool } from './world.ts';

export const adminPassword = 'correct horse battery';
/** Costs nothing to check; passwords that calls bring are hashed as in production. */
const adminHash = hash(adminPassword, { memoryCost: 8, timeCost: 1, parallelism: 1 });

export type WorkspaceOptions = {
  name?: string;
  timezone?: string;
  currency?: string;
  country?: string;
  sandbox?: boolean;
};

export type Scene = Omit<Running, 'close'> & {
  cluster: Cluster;
  databaseName: string;
  clock: MovableClock;
  /** As the owner of the tables, bound by nothing until a workspace is entered. */
  sql: pg.Client;
  /** The same, for what the program itself asks. */
  owner: Database;
  /** As workers have it, bound to one tenant at a time. */
  worker: Database;
  /** Every line the servers logged since the file began. */
  logged: string[];
  /** A further server on the same database, with a pool, caches and limits of its own. */
  anotherServer(options?: ServerOptions): Promise<Running>;
  /** Starts a worker in this process that runs the jobs of bill runs, until it is stopped. */
  runJobs(options?: RunJobsOptions): JobRunner;
  /**
   * Makes a workspace and returns a client logged in as its administrator. Files of a process share
   * a database: no two of them may choose the same name.
   */
  workspace(name: string, options?: WorkspaceOptions): Promise<TestClient>;
  /** The id of the tenant of a workspace. */
  tenantOf(client: { workspace: string }): Promise<number>;
  /** `sql` works in this workspace from now on and sees no other. Returns the id of its tenant. */
  enter(client: { workspace: string }): Promise<number>;
  /** Makes a login with these roles, as rows, and returns a client that is logged in as it. */
  loginAs(
    admin: TestClient,
    roles: string[],
    options?: { partyNumber?: number },
  ): Promise<TestClient>;
};

export type RunJobsOptions = {
  /** Instead of those of the bill run. */
  steps?: readonly Step[];
  /**
   * One unless told: few jobs of tests have several parts, and each lane has statements to learn.
   * If the shared connections are too few for its lanes, a worker has connections of its own.
   */
  lanes?: number;
  leaseSeconds?: number;
  pollMs?: number;
  /** As if the database were a cluster. */
  isSpread?: boolean;
  /** A term of a few rows has several chunks, if this is less. */
  chunkMax?: number;
  /** Instead of threads, mail server and folder of this worker's own. */
  equipment?: TestEquipment;
};

/** A file with other options than the usual has a server of its own on the shared database. */
export type SceneOptions = ServerOptions & {
  /**
   * For a file that changes the schema or disables triggers, stops PostgreSQL's sessions, looks at
   * all workspaces together, or at plans and statistics.
   */
  ownDatabase?: boolean;
};

/** For a test file: opened at once; what it opened is closed after its last test. */
export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  // Before anything is awaited: behind a promise that another file made, the hook would be its own.
  let close = async () => {};
  after(() => close());
  const { ownDatabase = !isInGroup(), ...serverOptions } = options;
  const world = ownDatabase ? await openWorld() : await sharedWorld();
  const { clock, owner, sql, worker, logged, cluster, databaseName } = world;
  clock.reset();
  logged.length = 0;
  const isUsual = Object.keys(serverOptions).length === 0;
  const opened: Running[] = [];
  const runners: StartedRunner[] = [];
  const start = async (wanted: ServerOptions) => {
    const another = await world.start(wanted);
    opened.push(another);
    return another;
  };
  const { server, baseUrl, api, visitor } = await (isUsual ? world.usual() : start(serverOptions));
  close = async () => {
    for (const one of runners) await stopRunner(world, one);
    for (const one of opened) await one.close();
    const checked = checkRecordedStatements(world.sql);
    await checked.catch(() => {});
    if (ownDatabase) await world.close();
    else await leave(world);
    await checked;
  };
  return {
    ...{ cluster, databaseName, clock, server, baseUrl, api, sql, owner, worker, logged },
    visitor,
    tenantOf: (client) => tenantOf(sql, client),
    enter: (client) => enter(sql, client),
    anotherServer: (wanted = {}) => start(wanted),
    runJobs: (wanted = {}) => {
      const made = startRunner(world, wanted);
      runners.push(made);
      return made.runner;
    },
    workspace: async (name, wanted = {}) => {
      await insertWorkspace(owner, clock.now(), name, wanted);
      return loggedIn(visitor(name), `admin@${name}.example`);
    },
    loginAs: async (admin, roles, wanted = {}) => {
      const username = `user-${Math.random().toString(36).slice(2)}`;
      const tenantId = await tenantOf(sql, admin);
      await insertLogin({ owner, tenantId, now: clock.now() }, { username, roles, ...wanted });
      return loggedIn(visitor(admin.workspace), username);
    },
  };
}

async function tenantOf(sql: pg.Client, { workspace }: { workspace: string }): Promise<number> {
  const { rows } = await sql.query<{ id: string }>('select find_workspace($1) as id', [workspace]);
  return Number(rows[0]?.id);
}

async function enter(sql: pg.Client, { workspace }: { workspace: string }): Promise<number> {
  const text = "select set_config('app.tenant', find_workspace($1)::text, false) as id";
  const { rows } = await sql.query<{ id: string }>(text, [workspace]);
  await sql.query(`set role ${walledOwner}`);
  if (sql instanceof SpreadClient) sql.enter(Number(rows[0]?.id));
  return Number(rows[0]?.id);
}

/** Workers of the next file do not go on with the jobs of this one. */
async function leave({ sql }: World): Promise<void> {
  await workAsOwner(sql);
  await sql.query('update workspace_jobs set next_job_at = null where next_job_at is not null');
}

type StartedRunner = {
  runner: JobRunner;
  database: Database;
  equipment: TestEquipment;
  lanes: number;
};

function startRunner(world: World, options: RunJobsOptions): StartedRunner {
  const { cluster, databaseName, clock, logged } = world;
  const { lanes = 1, leaseSeconds, pollMs, chunkMax, equipment = openTestEquipment() } = options;
  const mayShare = options.steps === undefined && !options.isSpread;
  const isShared = mayShare && world.lanes + lanes <= sharedLanes;
  if (isShared) world.lanes += lanes;
  const pool = isShared ? world.worker : openWorkerPool(cluster, databaseName, lanes + 2);
  const database = options.isSpread ? { ...pool, isSpread: true } : pool;
  const runner = startJobRunner({
    database,
    connection: { ...cluster.owner, database: databaseName },
    clock,
    log: testLog(logged),
    steps: options.steps ? new Map(options.steps.map((step) => [step.operation, step])) : steps,
    lanes,
    equipment,
    ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
    ...(pollMs === undefined ? {} : { pollMs }),
    ...(chunkMax === undefined ? {} : { chunkMax }),
  });
  world.workers.add(runner);
  return { runner, database, equipment, lanes };
}

async function stopRunner(
  world: World,
  { runner, database, equipment, lanes }: StartedRunner,
): Promise<void> {
  await runner.stop();
  world.workers.delete(runner);
  await equipment.close();
  if (database === world.worker) world.lanes -= lanes;
  else await database.close();
}

async function loggedIn(client: TestClient, username: string): Promise<TestClient> {
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  client.token = data.accessToken;
  return client;
}

export async function makeWorkspace(
  cluster: Cluster,
  databaseName: string,
  now: Temporal.Instant,
  name: string,
  options: WorkspaceOptions,
): Promise<number> {
  const connection = { ...cluster.owner, database: databaseName };
  const owner = openDatabase({ connection, name: 'test owner', max: 1 });
  try {
    return await insertWorkspace(owner, now, name, options);
  } finally {
    await owner.close();
  }
}

async function insertWorkspace(
  owner: Database,
  now: Temporal.Instant,
  name: string,
  options: WorkspaceOptions,
): Promise<number> {
  const facts = {
    name,
    timezone: 'Asia/Karachi',
    currency: 'PKR',
    country: 'PK',
    locale: 'en',
    sandbox: false,
    ...options,
  };
  const prepared = {
    workspace: name,
    facts: { ...facts, currencyDecimals: currencyDecimals(facts.currency) },
    admin: { email: `admin@${name}.example`, passwordHash: await adminHash },
  };
  return transact(owner, { opening: plainOpening }, (tx) => createWorkspace(tx, prepared, now));
}

/** As make-logins does it, with a password that is hashed already. */
async function insertLogin(
  { owner, tenantId, now }: { owner: Database; tenantId: number; now: Temporal.Instant },
  { username, roles, partyNumber }: { username: string; roles: string[]; partyNumber?: number },
): Promise<void> {
  const passwordHash = await adminHash;
  await transact(owner, { opening: openingFor(tenantId) }, async (tx) => {
    const numbers = partyNumber === undefined ? [] : [partyNumber];
    const parties = await lockPartiesOfLogins(tx, tenantId, numbers);
    const partyIds = numbers.map((number) => {
      const party = parties.get(number);
      if (!party) throw new Error(`there is no party ${number}`);
      return party.party_id;
    });
    const loginId = await takeNumbers(tx, tenantId, 'login', 1);
    const partyId = partyIds[0] ?? null;
    const login = { username, email: null, name: username, passwordHash, roles, partyId };
    const stamp = { at: now, by: 'test' };
    await insertLogins(tx, tenantId, loginId, [login], stamp);
    await showPortalStatus(tx, tenantId, partyIds);
  });
}
