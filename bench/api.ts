// Calls per second of two reads with everything on, beside a bare Fastify handler that does one
// indexed select on the same database, in the same run.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '../sdk/client.ts';
import { cloneDatabase, dropDatabase, theCluster } from '../test/support/cluster.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import { Load, type Target } from './load.ts';
import type { BenchOptions, BenchResult } from './result.ts';

const connections = 16;
const parties = 2_000;
/** Each of the first parties has an account, and so many accounts make a group. */
const accounts = 200;
const accountsInGroup = 5;
const groups = accounts / accountsInGroup;
const warmUpSeconds = 3;
const sliceSeconds = 0.4;

export async function benchApi(options: BenchOptions): Promise<BenchResult> {
  const cluster = await theCluster();
  const database = await cloneDatabase(cluster);
  await makeWorkspace(cluster, database, Temporal.Now.instant(), 'bench', {});
  const connection = JSON.stringify({ ...cluster.api, database });
  const bareConnection = JSON.stringify({ ...cluster.owner, database });
  const full = await launch('server-full.ts', connection);
  const bare = await launch('server-bare.ts', bareConnection);
  try {
    const token = await prepare(full.port);
    const targets = targetsOf(full.port, bare.port, token);
    const loads: Loads = new Map();
    for (const target of targets) loads.set(target.name, await Load.open(target, connections));
    for (const load of loads.values()) await load.run(warmUpSeconds);
    const rounds = await alternate(loads, options.quick ? 24 : 80);
    for (const load of loads.values()) load.close();
    return resultOf(rounds);
  } finally {
    for (const { child } of [full, bare]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await dropDatabase(cluster, database);
  }
}

/**
 * Short slices in turn, so that whatever else the machine is doing falls on all targets alike; a
 * ratio is the median of the ratios of the rounds.
 */
async function alternate(loads: Loads, rounds: number): Promise<Map<string, number>[]> {
  const results: Map<string, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const rates = new Map<string, number>();
    for (const [name, load] of loads) rates.set(name, await load.run(sliceSeconds));
    results.push(rates);
  }
  return results;
}

type Loads = Map<string, Load>;

function resultOf(rounds: Map<string, number>[]): BenchResult {
  const rate = (name: string) => median(rounds.map((rates) => rates.get(name) ?? 0));
  const ratio = (name: string) =>
    median(rounds.map((rates) => (rates.get(name) ?? 0) / (rates.get('bare') ?? 1)));
  return {
    ratios: { api_vs_bare: ratio('view_party'), api_group_vs_bare: ratio('get_billing_group') },
    figures: {
      bare_calls_per_second: Math.round(rate('bare')),
      view_party_calls_per_second: Math.round(rate('view_party')),
      get_billing_group_calls_per_second: Math.round(rate('get_billing_group')),
    },
  };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

async function launch(
  script: string,
  connection: string,
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL(script, import.meta.url), [connection], { stdio: 'inherit' });
  const [message] = (await once(child, 'message')) as [{ port: number }];
  return { child, port: message.port };
}

async function prepare(port: number): Promise<string> {
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    headers: { 'X-Workspace': 'bench' },
  });
  const { data } = await client.login({ username: 'admin@bench.example', password: adminPassword });
  client.useToken(data.accessToken);
  const contacts = [{ contactType: 'Mobile', contactValue: '+92 300 1234567' }];
  for (let first = 0; first < parties; first += 1_000) {
    const users = Array.from({ length: 1_000 }, (_, i) => ({
      name: `Party ${first + i}`,
      contacts,
    }));
    await client.makeUsers({ userType: 'customer', users });
  }
  for (let id = 1; id <= accounts; id += 1) {
    const connectionGroups = [{ connectionGroupLabel: `House ${id}` }];
    await client.updateUser({ user: { partyNumber: firstNumber + id - 1, connectionGroups } });
  }
  for (let id = 1; id <= groups; id += 1) {
    await client.addBillingGroup({ name: `Block ${id}`, billingPeriodID: 1 });
    const first = (id - 1) * accountsInGroup + 1;
    const connectionGroupIDs = Array.from({ length: accountsInGroup }, (_, i) => first + i);
    await client.assignBillingAccounts({ data: { billingGroupID: id, connectionGroupIDs } });
  }
  return data.accessToken;
}

const firstNumber = 100_001;

function targetsOf(fullPort: number, barePort: number, token: string): Target[] {
  const headers = { 'X-Workspace': 'bench', Authorization: token };
  const shared = { method: 'Retrieve', apiVersion: 'v2' };
  const party = inTurn(accounts, firstNumber);
  const group = inTurn(groups, 1);
  return [
    {
      name: 'bare',
      port: barePort,
      path: '/party',
      headers: {},
      body: () => JSON.stringify({ partyNumber: party() }),
      expected: '200 ok',
    },
    {
      name: 'view_party',
      port: fullPort,
      path: '/billing/users/get-users',
      headers,
      body: () => JSON.stringify({ ...shared, action: 'Retrieve Parties', partyNumber: party() }),
      expected: 'x-status-code: 200',
    },
    {
      name: 'get_billing_group',
      port: fullPort,
      path: '/billing/billing-groups',
      headers,
      body: () =>
        JSON.stringify({ ...shared, action: 'Get Billing Group', billingGroupID: group() }),
      expected: 'x-status-code: 200',
    },
  ];
}

function inTurn(count: number, first: number): () => number {
  let next = 0;
  return () => {
    next = (next + 7) % count;
    return first + next;
  };
}
