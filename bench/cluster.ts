// node bench/cluster.ts --coordinator URL [--size 5000] [--copies 20]: one PostgreSQL beside a Citus
// cluster, by the URL of a superuser of its coordinator. The same workspaces are billed on both, in
// turn, by a server and a worker of their own; then calls are made in turn. At the end, copies of a
// small workspace are billed at once on the cluster. All bills and books have to be the same.
// Behind each time is the processor time that PostgreSQL took for it, on all machines of a side: it
// depends less on what else the machine does.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import type { Client } from '../sdk/client.ts';
import {
  type Cluster,
  environmentOf,
  openCoordinator,
  stopOwnCluster,
} from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { makeWorkspace } from '../test/support/scene.ts';
import { median } from './billrun-figures.ts';
import {
  cpuOfChildren,
  end,
  launchWorker,
  logIn,
  openServed,
  type Place,
  parentOf,
  runStep,
} from './billrun-scene.ts';
import { customerFile, importCustomers, makeOffer } from './imports.ts';
import { launchServer, type Server, say, seconds, stopServer } from './served.ts';

const { values } = parseArgs({
  options: {
    coordinator: { type: 'string' },
    size: { type: 'string', default: '5000' },
    copies: { type: 'string', default: '20' },
  },
});
assert.ok(values.coordinator, 'name the coordinator: --coordinator URL');
const size = Number(values.size);
const warmUp = 2 * size;
const small = 500;
const copies = Array.from({ length: Number(values.copies) }, (_, index) => `small-${index + 1}`);
const calls = 300;
const callsInTurn = 50;
const imported = 2_000;
const schedule = { operation: 'schedule' as const, data: { termID } };
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

type Side = {
  cluster: Cluster;
  databaseName: string;
  server: Server;
  superuser: pg.Client;
  postmasters: readonly number[];
  places: Map<string, Place>;
};

const folder = await mkdtemp(join(tmpdir(), 'billwright-cluster-'));
const plainScene = await openServed(size, {});
const warming = await plainScene.anotherPlace('warming', warmUp);
const copied = await plainScene.anotherPlace('small', small);
const plain: Side = {
  ...plainScene,
  postmasters: [await parentOf(plainScene.superuser)],
  places: new Map([plainScene.place, warming, copied].map((place) => [place.workspace, place])),
};
const { side: spread, worker } = await openSpread(values.coordinator);
const sides = [plain, spread];
try {
  await copyWorkspaces();
  for (const side of sides) await billIn(side, 'warming');
  await compareSteps();
  await compareCalls();
  await compareImports();
  await compareBooks('bench', 'bench');
  await billAtOnce();
} finally {
  await end(worker);
  await stopServer(spread.server);
  await spread.superuser.end();
  await plainScene.close();
  await stopOwnCluster();
  await rm(folder, { recursive: true, force: true });
}

async function openSpread(url: string): Promise<{ side: Side; worker: ChildProcess }> {
  const cluster = await openCoordinator(url);
  const databaseName = cluster.owner.database;
  const server = await launchServer(cluster, databaseName, { SCHEDULE_WAIT_SECONDS: '0' });
  const worker = await launchWorker(cluster, databaseName, {});
  const superuser = new pg.Client(cluster.superuser);
  await superuser.connect();
  const postmasters = await postmastersOf(cluster, superuser);
  return {
    side: { cluster, databaseName, server, superuser, postmasters, places: new Map() },
    worker,
  };
}

/** Of the coordinator and the other machines, which all are this one. */
async function postmastersOf(cluster: Cluster, superuser: pg.Client): Promise<number[]> {
  const { rows } = await superuser.query<{ host: string; port: number }>(
    'select nodename as host, nodeport as port from pg_dist_node order by nodeport',
  );
  const found: number[] = [];
  for (const node of rows) {
    const client = new pg.Client({ ...cluster.superuser, ...node });
    await client.connect();
    found.push(await parentOf(client));
    await client.end();
  }
  return found;
}

function cpuMsOf({ postmasters }: Side): number {
  return postmasters.reduce((us, postmaster) => us + cpuOfChildren(postmaster), 0) / 1_000;
}

/** Does the work of a side, and returns the processor time of PostgreSQL for it. */
async function withCpu<T>(side: Side, work: () => Promise<T>): Promise<{ done: T; cpuMs: number }> {
  const before = cpuMsOf(side);
  const done = await work();
  return { done, cpuMs: cpuMsOf(side) - before };
}

/** As an operator moves them, under the same names; the small one as often as asked. */
async function copyWorkspaces(): Promise<void> {
  for (const name of plain.places.keys()) {
    const file = join(folder, name);
    await commandOn(plain, ['workspace', 'export', name, file]);
    const names = name === 'small' ? copies : [name];
    const began = performance.now();
    for (const copy of names) {
      await commandOn(spread, ['workspace', 'import', file, '--name', copy]);
      await commandOn(spread, ['workspace', 'resume', copy]);
      const { size: bills = 0 } = plain.places.get(name) as Place;
      const client = await logIn(spread.server, copy, name);
      const tenantId = await tenantOf(spread, copy);
      spread.places.set(copy, { workspace: copy, tenantId, size: bills, client });
    }
    say(`${name.padEnd(24)} moved ${names.length} times in ${seconds(began)} s`);
  }
}

async function tenantOf(side: Side, workspace: string): Promise<number> {
  const { rows } = await side.superuser.query<{ tenant_id: string }>(
    'select tenant_id from workspaces where workspace = $1',
    [workspace],
  );
  return Number(rows[0]?.tenant_id);
}

async function billIn(side: Side, workspace: string): Promise<{ generate: number; post: number }> {
  const place = side.places.get(workspace) as Place;
  const generate = await runStep(side, place, (client) => client.generateBills(schedule));
  const post = await runStep(side, place, (client) => client.postBills(schedule));
  return { generate, post };
}

/** The terms of the two sides are billed step by step in turn. */
async function stepOn(
  step: 'generate' | 'post',
  side: Side,
): Promise<{ took: number; cpuMs: number }> {
  const place = side.places.get('bench') as Place;
  const { done: took, cpuMs } = await withCpu(side, () =>
    runStep(side, place, (client) =>
      step === 'generate' ? client.generateBills(schedule) : client.postBills(schedule),
    ),
  );
  return { took, cpuMs };
}

async function compareSteps(): Promise<void> {
  for (const step of ['generate', 'post'] as const) {
    const [one, other] = [await stepOn(step, plain), await stepOn(step, spread)];
    const rates = [one, other].map(({ took }) => Math.round(size / took));
    const cpu = [one, other].map(({ cpuMs }) => Math.round((cpuMs * 1_000) / size));
    show(`${step}, bills/s`, rates, one.took / other.took, cpu);
  }
}

async function compareCalls(): Promise<void> {
  const firstNumber = 100_001;
  const kinds: [string, Calling][] = [
    ['View Party', (client, n) => client.getUsers({ partyNumber: firstNumber + ((n * 7) % size) })],
    ['a bill', (client, n) => client.getBills({ billID: 1 + ((n * 7) % size) })],
    ['list of 50 bills', (client, n) => client.getBills({ termID, page: pageOf(n) })],
    [
      'create a party',
      (client, n) =>
        client.makeUsers({
          userType: 'customer',
          users: [
            {
              name: `New ${n}`,
              contacts: [{ contactType: 'Mobile', contactValue: `+92 300 ${4_000_000 + n}` }],
            },
          ],
        }),
    ],
  ];
  for (const [name, call] of kinds) {
    const times = sides.map((): number[] => []);
    const cpuUs = [0, 0];
    for (let first = -callsInTurn; first < calls; first += callsInTurn) {
      for (const [at, side] of sides.entries()) {
        const { client } = side.places.get('bench') as Place;
        const { done, cpuMs } = await withCpu(side, () => callsFrom(first, client, call));
        if (first < 0) continue;
        times[at]?.push(...done);
        cpuUs[at] = (cpuUs[at] ?? 0) + (cpuMs * 1_000) / calls;
      }
    }
    const middle = times.map(median);
    show(
      `${name}, ms`,
      middle.map((ms) => Number(ms.toFixed(1))),
      (middle[0] ?? 0) / (middle[1] ?? 1),
      cpuUs.map(Math.round),
    );
  }
}

type Calling = (client: Client, index: number) => Promise<unknown>;

async function callsFrom(first: number, client: Client, call: Calling): Promise<number[]> {
  const times: number[] = [];
  for (let index = first; index < first + callsInTurn; index += 1) {
    const began = performance.now();
    await call(client, index + callsInTurn);
    times.push(performance.now() - began);
  }
  return times;
}

function pageOf(n: number): { pageNumber: number; size: number } {
  return { pageNumber: n % 50, size: 50 };
}

/** Customers with subscriptions and meters, as a file, in one transaction. */
async function compareImports(): Promise<void> {
  const file = join(folder, 'customers.csv');
  await writeFile(file, customerFile(imported));
  const took: number[] = [];
  for (const side of sides) {
    const { cluster, databaseName, server } = side;
    const now = Temporal.Now.instant();
    const tenantId = await makeWorkspace(cluster, databaseName, now, 'imports', {});
    await makeOffer(await logIn(server, 'imports'));
    took.push(await importCustomers(cluster, databaseName, file, tenantId));
  }
  const [one = 0, other = 1] = took;
  show(
    'import, customers/s',
    took.map((each) => Math.round(imported / each)),
    one / other,
  );
}

/** Every bill has the hash it has on one PostgreSQL, and every account the same balance. */
async function compareBooks(workspace: string, copy: string): Promise<void> {
  const [one, other] = [await booksOf(plain, workspace), await booksOf(spread, copy)];
  assert.deepEqual(other, one);
  await commandOn(spread, ['verify', '--workspace', copy]);
  say(`${copy.padEnd(24)} ${one.bills} bills and the trial balance are the same; verify is clean`);
}

async function booksOf(side: Side, workspace: string) {
  const { tenantId } = side.places.get(workspace) as Place;
  const { rows } = await side.superuser.query<{ bills: string; hashes: string }>(
    `select count(*) as bills,
       encode(sha256(string_agg(hash, '' order by bill_number)), 'hex') as hashes
     from bills where tenant_id = $1`,
    [tenantId],
  );
  const balance = await commandOn(side, ['ledger', 'trial-balance', '--workspace', workspace]);
  return {
    ...rows[0],
    balance: balance.slice(balance.indexOf('\n', balance.indexOf('Trial balance'))),
  };
}

async function billAtOnce(): Promise<void> {
  await billIn(plain, 'small');
  const began = performance.now();
  await Promise.all(copies.map(billOwn));
  const took = (performance.now() - began) / 1_000;
  const bills = copies.length * small;
  const rate = Math.round(bills / took);
  say(`${copies.length} workspaces at once: ${bills} bills in ${took.toFixed(1)} s, ${rate}/s`);
  for (const name of copies) await compareBooks('small', name);
}

/** Over a connection of its own: the others ask at the same time how far their jobs are. */
async function billOwn(workspace: string): Promise<void> {
  const superuser = new pg.Client(spread.cluster.superuser);
  await superuser.connect();
  try {
    await billIn({ ...spread, superuser }, workspace);
  } finally {
    await superuser.end();
  }
}

async function commandOn(side: Side, args: string[]): Promise<string> {
  const env = { ...process.env, ...environmentOf(side.cluster, side.databaseName) };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
    env,
    maxBuffer: 1e8,
  });
  return stdout;
}

function show(name: string, figures: readonly number[], ratio: number, cpu: number[] = []): void {
  const [one, other] = figures.map((figure) => String(figure).padStart(9));
  const more = cpu.length === 0 ? '' : `   PostgreSQL's processors ${cpu.join(' and ')} us each`;
  say(`${name.padEnd(24)} ${one} ${other}   ${ratio.toFixed(2)} of one PostgreSQL${more}`);
}
