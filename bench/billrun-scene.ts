// A database with workspaces full of subscriptions, each with a term whose readings are locked, and
// a copy of it for the floors. A server and workers run on it as they do in production.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Client, createClient } from '../sdk/client.ts';
import { tariffCases } from '../test/rating/tariff-cases.ts';
import type { TestClient } from '../test/support/client.ts';
import {
  asSuperuser,
  type Cluster,
  cloneDatabase,
  dropDatabase,
  environmentOf,
  theCluster,
} from '../test/support/cluster.ts';
import { withPastDueDates } from '../test/support/due-dates.ts';
import { fillTerm } from '../test/support/residential-rows.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import { saveTariffs } from '../test/support/tariffs.ts';
import { launchServer, memoryOf, type Server, stopServer } from './served.ts';

export type Place = { workspace: string; tenantId: number; size: number; client: Client };

export type BillrunScene = {
  cluster: Cluster;
  databaseName: string;
  /** In the same state as the database was before the first step. */
  floorName: string;
  /** Passes the walls between workspaces. */
  superuser: pg.Client;
  port: number;
  places: Place[];
  /** Peak memory of the worker that took most, megabytes. */
  peakMb(): number;
  /** Microseconds of processor time so far: of the workers, of this process, of PostgreSQL. */
  cpu(): { worker: number; bench: number; postgres: number };
  close(): Promise<void>;
};

/** Parts of jobs at a time by all workers, and writers of the floor. */
export const lanes = 4;
/** As many as there are processors, and lanes for them. */
const workersUsual = Math.min(lanes, availableParallelism());

const root = fileURLToPath(new URL('..', import.meta.url));

/** A workspace for each size; those of one database differ in nothing else. */
export async function openBillrun(
  sizes: readonly number[],
  env: Record<string, string> = {},
  workers = workersUsual,
): Promise<BillrunScene> {
  const cluster = await theCluster();
  await keepDurable(cluster, true);
  const databaseName = await cloneDatabase(cluster);
  const tenants = await fillDatabase(cluster, databaseName, sizes);
  return openFilled(cluster, databaseName, sizes, tenants, env, workers);
}

async function openFilled(
  cluster: Cluster,
  databaseName: string,
  sizes: readonly number[],
  tenants: readonly number[],
  env: Record<string, string>,
  workersCount: number,
): Promise<BillrunScene> {
  const floorName = `${databaseName}_floor`;
  await asSuperuser(cluster, (client) =>
    client.query(
      `create database ${floorName} template ${databaseName} owner billwright strategy file_copy`,
    ),
  );
  const server = await launchServer(cluster, databaseName, { SCHEDULE_WAIT_SECONDS: '0' });
  // They share the machine as well as the work.
  const shareOf = (whole: number) => String(Math.ceil(whole / workersCount));
  const share = {
    WORKER_LANES: shareOf(lanes),
    RENDER_THREADS: shareOf(availableParallelism()),
    ...env,
  };
  const workers: ChildProcess[] = [];
  while (workers.length < workersCount) {
    workers.push(await launchWorker(cluster, databaseName, share));
  }
  const superuser = new pg.Client({ ...cluster.superuser, database: databaseName });
  await superuser.connect();
  const places: Place[] = [];
  for (const [index, size] of sizes.entries()) {
    const workspace = `bench${index}`;
    const client = await logIn(server, workspace);
    places.push({ workspace, tenantId: tenants[index] as number, size, client });
  }
  const postmaster = await parentOf(superuser);
  return {
    cluster,
    databaseName,
    floorName,
    superuser,
    port: server.port,
    places,
    peakMb: () => Math.max(...workers.map(({ pid = 0 }) => memoryOf({ pid }, 'VmHWM'))),
    cpu: () => ({
      worker: workers.reduce((us, { pid = 0 }) => us + cpuOf(pid).us, 0),
      bench: cpuOf(process.pid).us,
      postgres: cpuOfChildren(postmaster),
    }),
    async close() {
      await superuser.end();
      for (const worker of workers) await end(worker);
      await stopServer(server);
      for (const name of [floorName, databaseName]) await dropDatabase(cluster, name);
      await keepDurable(cluster, false);
    },
  };
}

/** Tests do without what makes a commit last; a bill run is measured with it. */
async function keepDurable(cluster: Cluster, isDurable: boolean): Promise<void> {
  await asSuperuser(cluster, async (client) => {
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await client.query(`alter system ${isDurable ? `set ${name} = 'on'` : `reset ${name}`}`);
    }
    await client.query('select pg_reload_conf()');
  });
}

async function fillDatabase(
  cluster: Cluster,
  databaseName: string,
  sizes: readonly number[],
): Promise<number[]> {
  const tenants: number[] = [];
  const server = await launchServer(cluster, databaseName);
  for (const index of sizes.keys()) {
    const workspace = `bench${index}`;
    tenants.push(await priceWorkspace(cluster, databaseName, server, workspace));
  }
  await stopServer(server);
  const fill = async (client: pg.Client) => {
    for (const [index, size] of sizes.entries()) {
      await fillTerm(client, tenants[index] as number, size);
    }
    await client.query('vacuum analyze');
  };
  await asSuperuser(cluster, fill, databaseName);
  return tenants;
}

async function priceWorkspace(
  cluster: Cluster,
  databaseName: string,
  server: Server,
  workspace: string,
): Promise<number> {
  const now = Temporal.Now.instant();
  const tenantId = await makeWorkspace(cluster, databaseName, now, workspace, {});
  const one = tariffCases.find((found) => found.id === 'ELEC');
  assert.ok(one);
  await saveTariffs((await logIn(server, workspace)) as TestClient, one);
  return tenantId;
}

/** One workspace alone, without a copy of it. */
export type ServedScene = {
  cluster: Cluster;
  databaseName: string;
  superuser: pg.Client;
  server: Server;
  port: number;
  place: Place;
  /** A further workspace with the given number of subscriptions. */
  anotherPlace(workspace: string, size: number): Promise<Place>;
  close(): Promise<void>;
};

export async function openServed(size: number, env: Record<string, string>): Promise<ServedScene> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  const server = await launchServer(cluster, databaseName, { SCHEDULE_WAIT_SECONDS: '0' });
  const workspace = 'bench';
  const tenantId = await priceWorkspace(cluster, databaseName, server, workspace);
  const superuser = new pg.Client({ ...cluster.superuser, database: databaseName });
  await superuser.connect();
  await fillTerm(superuser, tenantId, size);
  await leaveRoom(superuser, tenantId, size);
  await superuser.query('vacuum analyze');
  const worker = await launchWorker(cluster, databaseName, env);
  return {
    cluster,
    databaseName,
    superuser,
    server,
    anotherPlace: async (name, wanted) => {
      const id = await priceWorkspace(cluster, databaseName, server, name);
      await fillTerm(superuser, id, wanted);
      await leaveRoom(superuser, id, wanted);
      await superuser.query('analyze');
      return { workspace: name, tenantId: id, size: wanted, client: await logIn(server, name) };
    },
    port: server.port,
    place: { workspace, tenantId, size, client: await logIn(server, workspace) },
    async close() {
      await superuser.end();
      await end(worker);
      await stopServer(server);
      await dropDatabase(cluster, databaseName);
    },
  };
}

/** Parties that are made by calls are numbered after those that were filled in. */
async function leaveRoom(superuser: pg.Client, tenantId: number, size: number): Promise<void> {
  await superuser.query(
    `insert into counters (tenant_id, series, last_number)
     values ($1, 'party', $2), ($1, 'party-number', 100000 + $2), ($1, 'account', $2)
     on conflict (tenant_id, series) do update set last_number = excluded.last_number`,
    [tenantId, size],
  );
}

/** A workspace that was copied has the login of the one it was copied from. */
export async function logIn(
  server: Server,
  workspace: string,
  original = workspace,
): Promise<Client> {
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const username = `admin@${original}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  return Object.assign(client, withPastDueDates(client));
}

export async function launchWorker(
  cluster: Cluster,
  databaseName: string,
  env: Record<string, string>,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...startingWords(), 'work'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...environmentOf(cluster, databaseName),
      WORKER_LANES: String(lanes),
      ...env,
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('worker ready')) break;
  }
  child.stdout.resume();
  return child;
}

/** What `npm run billwright` starts Node with. */
function startingWords(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return (scripts.billwright as string).split(' ').slice(1);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Seconds from the call that asks for a step to its end. */
export async function runStep(
  scene: Pick<BillrunScene, 'superuser'>,
  place: Place,
  ask: (client: Client) => Promise<{ headers: Headers }>,
): Promise<number> {
  const began = performance.now();
  const jobId = Number((await ask(place.client)).headers.get('x-job-id'));
  for (;;) {
    // Prepared once: asking must cost as good as nothing of what is measured.
    const { rows } = await scene.superuser.query<{ status: string; error: object | null }>({
      name: 'job',
      text: 'select status, error from jobs where tenant_id = $1 and job_id = $2',
      values: [place.tenantId, jobId],
    });
    const [job] = rows;
    assert.notEqual(job?.status, 'Failed', JSON.stringify(job?.error));
    if (job?.status === 'Succeeded') return (performance.now() - began) / 1_000;
    await sleep(20);
  }
}

const tickUs = 10_000;

function cpuOf(pid: number): { parent: number; us: number; ended: number } {
  // The name of the program, in brackets, may hold anything.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [own = 0, system = 0, ended = 0, endedSystem = 0] = fields.slice(11);
  return { parent, us: (own + system) * tickUs, ended: (ended + endedSystem) * tickUs };
}

export async function parentOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return cpuOf(rows[0]?.pid ?? 0).parent;
}

/** Also of those that have ended. */
export function cpuOfChildren(postmaster: number): number {
  let us = cpuOf(postmaster).ended;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const one = cpuOf(Number(name));
      if (one.parent === postmaster) us += one.us;
    } catch {
      // It ended while we looked.
    }
  }
  return us;
}
