// A server on a database of its own, with workspaces, logins and typed clients.
import { after } from 'node:test';
import { hash } from '@node-rs/argon2';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { currencyDecimals } from '../../src/base/currencies.ts';
import {
  type Database,
  openDatabase,
  plainOpening,
  tenantShare,
  transact,
} from '../../src/base/db/pool.ts';
import { createLog, type Log } from '../../src/base/log.ts';
import { steps } from '../../src/billrun/steps.ts';
import { createWorkspace } from '../../src/domain/access/workspaces.ts';
import type { RateLimits } from '../../src/http/rate-limit.ts';
import { createServer } from '../../src/http/server.ts';
import type { Step } from '../../src/jobs/step.ts';
import { operations } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { type JobRunner, startJobRunner } from '../../src/worker/job-runner.ts';
import { checkedClient, type TestClient } from './client.ts';
import { type MovableClock, movableClock } from './clock.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  stopOwnCluster,
  theCluster,
} from './cluster.ts';
import { openTestEquipment, type TestEquipment } from './equipment.ts';

export const adminPassword = 'correct horse battery';
/** Costs nothing to check: logins that are made by calls are hashed as in production. */
const adminHash = hash(adminPassword, { memoryCost: 8, timeCost: 1, parallelism: 1 });

export type WorkspaceOptions = {
  name?: string;
  timezone?: string;
  currency?: string;
  country?: string;
  sandbox?: boolean;
};

export type Scene = {
  cluster: Cluster;
  databaseName: string;
  clock: MovableClock;
  server: FastifyInstance;
  baseUrl: string;
  /** The pool that serves calls, bound by row-level security. */
  api: Database;
  /** Owner of the tables, bound by nothing. */
  sql: pg.Client;
  /** The same, for what the program itself asks. */
  owner: Database;
  /** As workers have it, bound to one tenant at a time. */
  worker: Database;
  /** Every line the servers logged. */
  logged: string[];
  /** A further server on the same database, with a pool, caches and limits of its own. */
  anotherServer(options?: SceneOptions): Promise<Running>;
  /** Starts a worker in this process that runs the jobs of bill runs, until it is stopped. */
  runJobs(options?: RunJobsOptions): JobRunner;
  /** Makes a workspace and returns a client logged in as its administrator. */
  workspace(name: string, options?: WorkspaceOptions): Promise<TestClient>;
  /** A client of a workspace, with no token. */
  visitor(workspace: string): TestClient;
  /** Makes a login with these roles and returns a client that is logged in as it. */
  loginAs(
    admin: TestClient,
    roles: string[],
    options?: { partyNumber?: number },
  ): Promise<TestClient>;
};

export type Running = {
  server: FastifyInstance;
  baseUrl: string;
  api: Database;
  visitor(workspace: string): TestClient;
};

export type RunJobsOptions = {
  /** Instead of those of the bill run. */
  steps?: readonly Step[];
  /**
   * One unless told: few jobs of tests have several parts, and each lane has statements to learn.
   * Whoever asks for more has connections of its own.
   */
  lanes?: number;
  leaseSeconds?: number;
  pollMs?: number;
  /** Instead of threads, mail server and folder of this worker's own. */
  equipment?: TestEquipment;
};

export type SceneOptions = {
  rateLimits?: Partial<RateLimits>;
  operations?: readonly (readonly [string, Operation])[];
  apiConnections?: number;
  scheduleWaitSeconds?: number;
};

const unlimited = { perSecond: 1e9, burst: 1e9 };

/** For a test file: opened at once, closed and checked for leaks after its last test. */
export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  const runners: StartedRunner[] = [];
  const sql = new pg.Client({ ...cluster.owner, database: databaseName });
  await sql.connect();
  const clock = movableClock(() => {
    if (runners.length > 0) void wake(sql);
  });
  const logged: string[] = [];
  const start = (wanted: SceneOptions) => startServer(cluster, databaseName, clock, logged, wanted);
  const running = [await start(options)];
  const [{ server, baseUrl, api, visitor }] = running as [Running];
  // Few connections for all workspaces and checks: a new one has to learn the schema first.
  const owner = openDatabase({
    connection: { ...cluster.owner, database: databaseName },
    name: 'test owner',
    max: 2,
  });
  const worker = openWorkerPool(cluster, databaseName, 8);
  after(async () => {
    for (const { runner, database, equipment } of runners) {
      await runner.stop();
      await equipment.close();
      if (database !== worker) await database.close();
    }
    await worker.close();
    for (const one of running) {
      await one.server.close();
      await one.api.close();
    }
    await owner.close();
    await sql.end();
    await dropDatabase(cluster, databaseName);
    await stopOwnCluster();
  });
  const scene = { cluster, databaseName, clock, server, baseUrl, api, sql, owner, worker, logged };
  return {
    ...scene,
    visitor,
    anotherServer: async (wanted = {}) => {
      const another = await start(wanted);
      running.push(another);
      return another;
    },
    runJobs: (wanted = {}) => {
      const lanes = wanted.lanes ?? 1;
      const isPlain = wanted.steps === undefined && wanted.lanes === undefined;
      const database = isPlain ? worker : openWorkerPool(cluster, databaseName, lanes + 2);
      const made = startRunner(scene, database, { ...wanted, lanes });
      runners.push(made);
      return made.runner;
    },
    workspace: async (name, wanted = {}) => {
      await insertWorkspace(owner, clock.now(), name, wanted);
      return loggedIn(visitor(name), `admin@${name}.example`);
    },
    loginAs: async (admin, roles, wanted = {}) => {
      const username = `user-${Math.random().toString(36).slice(2)}`;
      const login = { username, name: username, password: adminPassword, roles, ...wanted };
      await admin.makeLogins({ logins: [login as never] });
      return loggedIn(visitor(admin.workspace), username);
    },
  };
}

/** Workers look whether anything is due now. */
async function wake(sql: pg.Client): Promise<void> {
  await sql.query("select pg_notify('billwright_jobs', '')");
}

type StartedRunner = { runner: JobRunner; database: Database; equipment: TestEquipment };

export function openWorkerPool(cluster: Cluster, databaseName: string, max: number): Database {
  return openDatabase({
    connection: { ...cluster.owner, database: databaseName },
    name: 'test worker',
    max,
    role: 'billwright_worker',
  });
}

function startRunner(
  {
    cluster,
    databaseName,
    clock,
    logged,
  }: Pick<Scene, 'cluster' | 'databaseName' | 'clock' | 'logged'>,
  database: Database,
  options: RunJobsOptions & { lanes: number },
): StartedRunner {
  const connection = { ...cluster.owner, database: databaseName };
  const { lanes, leaseSeconds, pollMs, equipment = openTestEquipment() } = options;
  const runner = startJobRunner({
    database,
    connection,
    clock,
    log: testLog(logged),
    steps: options.steps ? new Map(options.steps.map((step) => [step.operation, step])) : steps,
    lanes,
    equipment,
    ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
    ...(pollMs === undefined ? {} : { pollMs }),
  });
  return { runner, database, equipment };
}

function testLog(logged: string[]): Log {
  return createLog({
    level: process.env.LOG_LEVEL ?? 'debug',
    destination: { write: (line) => void logged.push(line) },
  });
}

async function startServer(
  cluster: Cluster,
  databaseName: string,
  clock: MovableClock,
  logged: string[],
  options: SceneOptions,
): Promise<Running> {
  const max = options.apiConnections ?? 8;
  const api = openDatabase({
    connection: { ...cluster.api, database: databaseName },
    name: 'test api',
    max,
    share: tenantShare(max),
  });
  const log = testLog(logged);
  const server = createServer({
    database: api,
    operations: options.operations ?? operations,
    clock,
    log,
    domain: 'localhost',
    workspaceHeader: true,
    trustedProxies: [],
    scheduleWaitSeconds: options.scheduleWaitSeconds ?? 20,
    rateLimits: {
      token: unlimited,
      tenant: unlimited,
      loginName: unlimited,
      loginAddress: unlimited,
      wrongToken: unlimited,
      ...options.rateLimits,
    },
  });
  const baseUrl = await server.listen({ port: 0, host: '127.0.0.1' });
  return { server, baseUrl, api, visitor: (workspace) => checkedClient(baseUrl, workspace) };
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
