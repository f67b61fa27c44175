// A database with a server, pools and a clock. Files that share a process share one of them, in
// which their workspaces keep them apart; a file that is run alone, or asks for it, has its own.
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { type Database, openDatabase, tenantShare } from '../../src/base/db/pool.ts';
import { createLog, type Log } from '../../src/base/log.ts';
import type { RateLimits } from '../../src/http/rate-limit.ts';
import { createServer } from '../../src/http/server.ts';
import { operations } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { checkedClient, type TestClient } from './client.ts';
import { type MovableClock, movableClock } from './clock.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  stopOwnCluster,
  theCluster,
} from './cluster.ts';
import { closeSharedBy } from './group.ts';
import { SpreadClient } from './spread-client.ts';

export type World = {
  cluster: Cluster;
  databaseName: string;
  clock: MovableClock;
  /** Workers in this process, which hear when the clock is moved. */
  workers: Set<object>;
  /** How many lanes of them use the connections of `worker`. */
  lanes: number;
  /** Every line the servers and workers logged. */
  logged: string[];
  /** As the owner of the tables, bound by nothing until a workspace is entered. */
  sql: pg.Client;
  /** The same, for what the program itself asks. */
  owner: Database;
  /** As workers have it, bound to one tenant at a time. */
  worker: Database;
  /** Starts a server on the database, with a pool, caches and limits of its own. */
  start(options: ServerOptions): Promise<Running>;
  /** The server with the usual options, started by the first file that asks for it. */
  usual(): Promise<Running>;
  /** Fails when connections were left open. */
  close(): Promise<void>;
};

export type ServerOptions = {
  rateLimits?: Partial<RateLimits>;
  operations?: readonly (readonly [string, Operation])[];
  apiConnections?: number;
  scheduleWaitSeconds?: number;
};

export type Running = {
  server: FastifyInstance;
  baseUrl: string;
  /** The pool that serves calls, bound by row-level security. */
  api: Database;
  /** A client of a workspace, with no token. */
  visitor(workspace: string): TestClient;
  close(): Promise<void>;
};

const workerConnections = 8;
/** Lanes of workers that these connections serve: each holds one, and needs a second for a moment. */
export const sharedLanes = workerConnections / 2;

const unlimited = { perSecond: 1e9, burst: 1e9 };

export async function openWorld(): Promise<World> {
  const cluster = await theCluster();
  return worldOn(cluster, await cloneDatabase(cluster));
}

async function worldOn(cluster: Cluster, databaseName: string): Promise<World> {
  const connection = { ...cluster.owner, database: databaseName };
  const Client = cluster.isSpread ? SpreadClient : pg.Client;
  const sql = new Client({ ...cluster.superuser, database: databaseName });
  await sql.connect();
  await workAsOwner(sql);
  const workers = new Set<object>();
  const clock = movableClock(() => {
    if (workers.size > 0) void wake(sql);
  });
  const logged: string[] = [];
  const start = (wanted: ServerOptions) =>
    startServer({ cluster, databaseName, clock, logged }, wanted);
  // Few connections for all workspaces and checks: a new one has to learn the schema first.
  const owner = openDatabase({ connection, name: 'test owner', max: 2 });
  const worker = openWorkerPool(cluster, databaseName, workerConnections);
  let usual: Promise<Running> | undefined;
  return {
    cluster,
    databaseName,
    clock,
    workers,
    lanes: 0,
    logged,
    sql,
    owner,
    worker,
    start,
    usual() {
      usual ??= start({});
      return usual;
    },
    async close() {
      await (await usual)?.close();
      await worker.close();
      await owner.close();
      await sql.end();
      await dropDatabase(cluster, databaseName);
      await stopOwnCluster();
    },
  };
}

/** Of all workspaces, as a file begins and until it enters one. */
export async function workAsOwner(sql: pg.Client): Promise<void> {
  if (sql instanceof SpreadClient) sql.enter(undefined);
  await sql.query('rollback; reset all; set role billwright');
}

/** Workers look whether anything is due now. */
async function wake(sql: pg.Client): Promise<void> {
  await sql.query("select pg_notify('billwright_jobs', '')");
}

let shared: Promise<World> | undefined;

/** That of all files of this process. */
export function sharedWorld(): Promise<World> {
  shared ??= openSharedWorld();
  closeSharedBy(closeSharedWorld);
  return shared;
}

/**
 * Other than in production, each connection plans a statement once: to plan it again for each of a
 * few rows takes longer than to run it. A file that looks at plans has a database of its own.
 */
async function openSharedWorld(): Promise<World> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster, { plan_cache_mode: 'force_generic_plan' });
  return worldOn(cluster, databaseName);
}

async function closeSharedWorld(): Promise<void> {
  const world = await shared;
  shared = undefined;
  await world?.close();
}

export function openWorkerPool(cluster: Cluster, databaseName: string, max: number): Database {
  return openDatabase({
    connection: { ...cluster.owner, database: databaseName },
    name: 'test worker',
    max,
    role: 'billwright_worker',
  });
}

export function testLog(logged: string[]): Log {
  return createLog({
    level: process.env.LOG_LEVEL ?? 'debug',
    destination: { write: (line) => void logged.push(line) },
  });
}

async function startServer(
  {
    cluster,
    databaseName,
    clock,
    logged,
  }: Pick<World, 'cluster' | 'databaseName' | 'clock' | 'logged'>,
  options: ServerOptions,
): Promise<Running> {
  const max = options.apiConnections ?? 8;
  const api = openDatabase({
    connection: { ...cluster.api, database: databaseName },
    name: 'test api',
    max,
    share: tenantShare(max),
    isSpread: cluster.isSpread === true,
  });
  const server = createServer({
    database: api,
    operations: options.operations ?? operations,
    clock,
    log: testLog(logged),
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
  return {
    server,
    baseUrl,
    api,
    visitor: (workspace) => checkedClient(baseUrl, workspace),
    async close() {
      const closed = server.close();
      // One that the agent of this process opened and never used is not taken for idle.
      server.server.closeAllConnections();
      await closed;
      await api.close();
    },
  };
}
