// Calls per second of two reads with everything on, beside a bare Fastify handler that does one
// indexed select on the same database, in the same run.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createClient } from '../sdk/client.ts';
import { cloneDatabase, dropDatabase, theCluster } from '../test/support/cluster.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import type { BenchOptions, BenchResult } from './result.ts';

const connections = 16;
const parties = 2_000;
const sliceSeconds = 0.4;

type Target = {
  name: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  body: () => string;
};

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
    for (const target of targets) await load(target, 1);
    const rounds = options.quick ? 24 : 80;
    return resultOf(await alternate(targets, rounds));
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
async function alternate(targets: Target[], rounds: number): Promise<Map<string, number>[]> {
  const results: Map<string, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const rates = new Map<string, number>();
    for (const target of targets) rates.set(target.name, await load(target, sliceSeconds));
    results.push(rates);
  }
  return results;
}

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
  await client.addBillingGroup({ name: 'Block A', billingPeriodID: 1 });
  for (let i = 1; i <= 5; i += 1) {
    const partyNumber = 100_000 + i;
    const connectionGroups = [{ connectionGroupLabel: `House ${i}` }];
    await client.updateUser({ user: { partyNumber, connectionGroups } });
  }
  await client.assignBillingAccounts({
    data: { billingGroupID: 1, connectionGroupIDs: [1, 2, 3, 4, 5] },
  });
  return data.accessToken;
}

function targetsOf(fullPort: number, barePort: number, token: string): Target[] {
  const headers = { 'X-Workspace': 'bench', Authorization: token };
  let next = 0;
  const partyNumber = () => {
    next = (next + 7) % parties;
    return 100_001 + next;
  };
  const shared = { method: 'Retrieve', apiVersion: 'v2' };
  return [
    {
      name: 'bare',
      port: barePort,
      path: '/party',
      headers: {},
      body: () => JSON.stringify({ partyNumber: partyNumber() }),
    },
    {
      name: 'view_party',
      port: fullPort,
      path: '/billing/users/get-users',
      headers,
      body: () =>
        JSON.stringify({ ...shared, action: 'Retrieve Parties', partyNumber: partyNumber() }),
    },
    {
      name: 'get_billing_group',
      port: fullPort,
      path: '/billing/billing-groups',
      headers,
      body: () => JSON.stringify({ ...shared, action: 'Get Billing Group', billingGroupID: 1 }),
    },
  ];
}

/** Calls a second over some connections, each sending its next call when the last is answered. */
async function load(target: Target, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + seconds * 1000;
  let done = 0;
  const one = async () => {
    while (performance.now() < end) {
      await call(target, agent);
      done += 1;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, one));
  const rate = done / ((performance.now() - started) / 1000);
  agent.destroy();
  return rate;
}

function call(target: Target, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = target.body();
    const headers = {
      ...target.headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const sent = request(
      { host: '127.0.0.1', port: target.port, path: target.path, method: 'POST', agent, headers },
      (response) => {
        if (response.headers['x-status-code'] !== '200' && target.name !== 'bare') {
          reject(new Error(`${target.name} answered ${response.headers['x-status-code']}`));
        }
        response.resume();
        response.once('end', resolve);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
