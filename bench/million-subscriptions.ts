// node bench/million-subscriptions.ts [--subscriptions 1000000]: the demo workspace at the size of
// a large utility. The whole list is streamed, pages and filters are asked for, from a real server
// process; the statements behind them are shown with their plans as PostgreSQL ran them; and new
// subscriptions are made in turn here and in an empty workspace.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Client, createClient, type RequestOf } from '../sdk/client.ts';
import { BatchedClient } from '../src/base/db/batch.ts';
import { openDatabase } from '../src/base/db/pool.ts';
import { txOn } from '../src/base/db/tx.ts';
import { demo, makeDemo } from '../src/commands/demo/workspace.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import {
  countSubscriptions,
  listIdsAt,
  narrow,
  type SubscriptionFilter,
} from '../src/domain/subscriptions/list-store.ts';
import { wholeSubscriptions } from '../src/domain/subscriptions/views.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  environmentOf,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import { ask, launchServer, type Server, say, seconds, stopServer, streamAll } from './served.ts';

const { values } = parseArgs({
  options: { subscriptions: { type: 'string', default: '1000000' } },
});
const wanted = Number(values.subscriptions);
const total = Math.ceil(wanted / 9) * 9;
const pageSize = 100;
const memoryMb = 150;
const costMax = 2;
const middle = Math.floor(total / 18) * 9 + 1;

async function main(): Promise<boolean> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  const owner = new pg.Client({ ...cluster.owner, database: databaseName });
  let server: Server | undefined;
  try {
    await owner.connect();
    await fill(cluster, databaseName, owner);
    server = await launchServer(cluster, databaseName);
    const large = await loggedIn(server.port, 'large');
    const small = await loggedIn(server.port, 'small');
    for (const [name, body] of questions()) {
      await ask(name, async () => {
        const { data, headers } = await large.billing.getConnections(body);
        return { found: data.connections.length, total: headers.get('x-total-count') };
      });
    }
    const cost = await compareCreation(large.billing, small.billing);
    const streamed = await streamAll(server, {
      workspace: 'large',
      token: large.token,
      path: '/billing/connections/get-connections',
      body: { method: 'Retrieve', action: 'Retrieve Subscriptions', apiVersion: 'v2', page: null },
      marker: '"connectionNumber":',
    });
    await showPlans(cluster, databaseName);
    return streamed.rows >= total && streamed.grownMb <= memoryMb && cost <= costMax;
  } finally {
    if (server) await stopServer(server);
    await owner.end();
    await dropDatabase(cluster, databaseName);
    await stopOwnCluster();
  }
}

/**
 * Both workspaces by the generator. Trigram indexes are made at the end: they come out the same.
 */
async function fill(cluster: Cluster, databaseName: string, owner: pg.Client): Promise<void> {
  const began = performance.now();
  const { rows: indexes } = await owner.query(
    `select indexname, indexdef from pg_indexes where indexdef like '%gin_trgm_ops%'`,
  );
  for (const { indexname } of indexes) await owner.query(`drop index ${indexname}`);
  const config = readConfig({ ...environmentOf(cluster, databaseName) });
  const context = await openContext(config, { use: 'join', quiet: true });
  const database = openDatabase({ ...context.owner, name: 'bench', max: 2 });
  await makeDemo(context, database, { workspace: 'large', subscriptions: total });
  await makeDemo(context, database, { workspace: 'small', subscriptions: 9 });
  await database.close();
  say(`generated       ${total} subscriptions in ${seconds(began)} s`);
  for (const { indexdef } of indexes) await owner.query(indexdef);
  await owner.query('vacuum analyze');
  const { rows } = await owner.query(
    `select (select count(*) from readings) as readings,
       pg_size_pretty(pg_database_size(current_database())) as size`,
  );
  say(`indexed         after ${seconds(began)} s; ${JSON.stringify(rows[0])}`);
}

async function loggedIn(
  port: number,
  workspace: string,
): Promise<{ billing: Client; token: string }> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const billing = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const { username, password } = demo;
  const { data } = await billing.login({ username, password });
  billing.useToken(data.accessToken);
  const page = { pageNumber: 0, size: 1000 };
  for (let i = 0; i < 20; i += 1) await billing.getConnections({ page });
  return { billing, token: data.accessToken };
}

type Question = RequestOf<'getConnections'>;

function questions(): [string, Question][] {
  const page = { pageNumber: 0, size: pageSize };
  const deep = (share: number) => ({ ...page, pageNumber: Math.floor((total * share) / pageSize) });
  const number = `ELEC-${String(middle).padStart(8, '0')}`;
  const party = ((middle - 1) / 9) * 5 + 1;
  return [
    ['first page', { page }],
    ['page in the middle', { page: deep(0.5) }],
    ['page near the end', { page: deep(0.98) }],
    ['connectionNumber', { connectionNumber: number, page }],
    ['connectionNumber, with readings', { connectionNumber: number, filters: { readings: true } }],
    ['partyID', { partyID: party, page }],
    ['serviceCode, deep', { serviceCode: 'WATER', page: deep(0.3) }],
    ['serviceCode and status, deep', { serviceCode: 'ELEC', status: 'Active', page: deep(0.5) }],
    ['status, rare', { status: 'Disconnected', page: deep(0.015) }],
    ['subscriptionType, deep', { subscriptionType: 'Metered', page: deep(0.7) }],
    ['tariffCode, deep', { filters: { tariffCode: 'RES-A1' }, page: deep(0.45) }],
    ['batchCode, deep', { serviceCode: 'ELEC', filters: { batchCode: 'B02' }, page: deep(0.2) }],
    ['meterNumber', { filters: { meterNumber: 700_000_000 + middle }, page }],
    ['society and block', { filters: { society: 'Johar Town', block: 'C' }, page }],
    ['connectionGroupLabel', { filters: { connectionGroupLabel: 'House 7D, Street 3' }, page }],
    ['search, a number', { metaData: { search: number.slice(0, -1) }, page }],
    ['search, a meter', { metaData: { search: String(700_000_000 + middle) }, page }],
    ['newest first', { metaData: { sortBy: 'connectionDate', sortOrder: 'desc' }, page }],
  ];
}

/** One at a time, alternately, so that both meet the same machine. Returns large over small. */
async function compareCreation(large: Client, small: Client): Promise<number> {
  const rounds = 60;
  const times: Record<'large' | 'small', number[]> = { large: [], small: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, billing] of [
      ['large', large],
      ['small', small],
    ] as const) {
      const began = performance.now();
      await billing.makeConnections({ connection: newConnection() });
      times[name].push(performance.now() - began);
    }
  }
  const median = (name: 'large' | 'small') =>
    times[name].toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  const ratio = median('large') / median('small');
  say(
    `make-connections                   ${median('large').toFixed(1)} ms, ` +
      `in an empty workspace ${median('small').toFixed(1)} ms: ${ratio.toFixed(2)} times`,
  );
  return ratio;
}

function newConnection(): RequestOf<'makeConnections'>['connection'] {
  return {
    serviceCode: 'SOC',
    tariffCode: 'SOC-FLAT',
    postType: 'Post Subscription',
    users: [{ partyNumber: 100_001 }],
    connectionInputs: [
      { name: 'areaSqFt', value: '900' },
      { name: 'constructionCost', value: '1000000' },
      { name: 'occupancy', value: 'Owner' },
    ],
    unmeteredInputs: [{ name: 'parkingSlots', value: '1' }],
  } as RequestOf<'makeConnections'>['connection'];
}

/** Runs what the operation runs, as the role that serves calls, and prints the plans it had. */
async function showPlans(cluster: Cluster, databaseName: string): Promise<void> {
  const owner = new pg.Client({ ...cluster.superuser, database: databaseName });
  await owner.connect();
  const { rows } = await owner.query("select tenant_id from workspaces where workspace = 'large'");
  const tenantId = Number(rows[0].tenant_id);
  await owner.query("load 'auto_explain'");
  for (const [name, value] of Object.entries({
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    client_min_messages: 'log',
  })) {
    await owner.query('select set_config($1, $2, false)', [name, value]);
  }
  owner.on('notice', (notice) => {
    if (notice.message?.includes('plan:'))
      say(notice.message.replace(/Query Text:[\s\S]*?\n(?=\S)/, ''));
  });
  const none = Object.fromEntries(
    [
      'contextCode planCode batchCode chargingType isMetered hasQuantities status number',
      'referenceNumber meterNumber partyId accountLabel billingGroupId city block society',
      'fromDate toDate search updatedSince',
    ].flatMap((line) => line.split(' ').map((key) => [key, null])),
  ) as SubscriptionFilter;
  const cases: [string, SubscriptionFilter, number][] = [
    ['page deep in the list', none, Math.floor(total * 0.98)],
    ['by number', { ...none, number: `ELEC-${String(middle).padStart(8, '0')}` }, 0],
    ['by party', { ...none, partyId: 5 }, 0],
    [
      'context and status, deep',
      { ...none, contextCode: 'ELEC', status: 'Active' },
      Math.floor(total * 0.5),
    ],
    ['plan, deep', { ...none, planCode: 'RES-A1' }, Math.floor(total * 0.45)],
    ['batch, deep', { ...none, contextCode: 'ELEC', batchCode: 'B02' }, Math.floor(total * 0.2)],
  ];
  // One for all: it remembers the names of the statements that the connection knows.
  const tx = txOn(new BatchedClient(owner as unknown as pg.PoolClient));
  for (const [name, filter, offset] of cases) {
    say(`\n=== ${name}`);
    await owner.query('begin');
    await owner.query("select set_config('role', 'billwright_api', true)");
    await owner.query("select set_config('app.tenant', $1, true)", [String(tenantId)]);
    const narrowed = await narrow(tx, tenantId, filter);
    if (narrowed) {
      await countSubscriptions(tx, tenantId, narrowed);
      const sort = { by: 'id', descending: false } as const;
      const ids = await listIdsAt(tx, tenantId, narrowed, sort, { offset, limit: pageSize });
      await wholeSubscriptions(tx, tenantId, ids, { readings: false, ledger: false }, null);
    }
    await owner.query('rollback');
  }
  await owner.end();
}

const isGood = await main();
process.exit(isGood ? 0 : 1);
