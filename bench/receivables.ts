// Payments of real servers and workers beside their floors, a clerk's call while a bank file is
// imported, and reads of large books.
//
//   node bench/receivables.ts [--quick] [--size 100000]
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { adminPassword } from '../test/support/scene.ts';
import { median } from './billrun-figures.ts';
import { type BillrunScene, openBillrun, type Place, runStep } from './billrun-scene.ts';
import { Load } from './load.ts';
import { bulkFloor, makeFloorTables, narrowFloor, singleFloor } from './receivables-floors.ts';
import { type BenchOptions, type BenchResult, tell } from './result.ts';

const body = { operation: 'schedule' as const, data: { termID } };
/** Clients that pay at a time. */
const clients = 8;
const singleRounds = 4;
const rowsPerCall = 1_000;
const bulkClients = 4;
/** Between two calls of one clerk. */
const pauseMs = 20;
const clerks = 4;

type Owed = { connectionNumber: string; amount: number };

export async function benchReceivables({
  quick,
  size = quick ? 10_000 : 50_000,
}: BenchOptions & { size?: number }): Promise<BenchResult> {
  const seconds = quick ? 3 : 10;
  const scene = await openBillrun([rowsPerCall * 2, size]);
  try {
    for (const place of scene.places) {
      await runStep(scene, place, (client) => client.generateBills(body));
      await runStep(scene, place, (client) => client.postBills(body));
    }
    await scene.superuser.query('vacuum analyze');
    const [warmUp, place] = scene.places as [Place, Place];
    const warm = await listOwed(scene, warmUp);
    await payBulk(warmUp, warm.slice(0, rowsPerCall), 'B');
    await paySingle(scene, warmUp, warm.slice(rowsPerCall), { prefix: 'W', seconds: 1 });
    const owed = await listOwed(scene, place);
    await makeFloorTables(scene, place);
    const share = Math.floor(owed.length / 4);
    const results = [
      await measureSingle(scene, place, owed.slice(0, share), seconds),
      await measureBulk(scene, place, owed.slice(share, share * 2)),
      await measureClerk(scene, place, owed.slice(share * 2), seconds),
    ];
    const all: BenchResult = { ratios: {}, figures: {} };
    for (const { ratios, figures } of results) {
      Object.assign(all.ratios, ratios);
      Object.assign(all.figures, figures);
    }
    return all;
  } finally {
    await scene.close();
  }
}

/** What bills leave to be paid, in no order of parties. */
async function listOwed({ superuser }: BillrunScene, { tenantId }: Place): Promise<Owed[]> {
  const { rows } = await superuser.query<{ number: string; amount: string }>(
    `select s.subscription_number as number, (b.bill_amount / 100.0)::numeric(20, 2) as amount
     from bills b
     join subscriptions s on s.tenant_id = $1 and s.subscription_id = b.subscription_id
     where b.tenant_id = $1 and b.bill_amount > 0
     order by hashtext(b.bill_id::text)`,
    [tenantId],
  );
  return rows.map((row) => ({ connectionNumber: row.number, amount: Number(row.amount) }));
}

function paymentOf({ connectionNumber, amount }: Owed, reference: string) {
  const paymentMethod = 'Bank' as const;
  return { reference, connectionNumber, amount, paymentDate: '01/08/2025', paymentMethod };
}

/** Payments a second by calls of one payment each, over HTTP. */
async function paySingle(
  scene: BillrunScene,
  place: Place,
  owed: readonly Owed[],
  { prefix, seconds }: { prefix: string; seconds: number },
): Promise<number> {
  const load = await openClerks(scene, place, owed, { prefix, connections: clients });
  const rate = await load.run(seconds);
  load.close();
  return rate;
}

async function openClerks(
  { port }: BillrunScene,
  { workspace, client }: Place,
  owed: readonly Owed[],
  { prefix, connections }: { prefix: string; connections: number },
): Promise<Load> {
  const username = `admin@${workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  const words = { method: 'Create', action: 'Create Payments', apiVersion: 'v2' };
  let next = 0;
  return Load.open(
    {
      name: 'make_payments',
      port,
      path: '/billing/payments/make-payments',
      headers: { 'X-Workspace': workspace, Authorization: data.accessToken },
      body: () => {
        const one = owed[next++];
        assert.ok(one, 'every bill is paid: the size is too small');
        return JSON.stringify({ ...words, payments: [paymentOf(one, `${prefix}${next}`)] });
      },
      expected: 'x-status-code: 200',
    },
    connections,
  );
}

/** In rounds, because other work of the machine slows one of both. */
async function measureSingle(
  scene: BillrunScene,
  place: Place,
  owed: readonly Owed[],
  seconds: number,
): Promise<BenchResult> {
  const share = Math.floor(owed.length / singleRounds);
  const rates: number[] = [];
  const whole: number[] = [];
  const books: number[] = [];
  for (let round = 0; round < singleRounds; round += 1) {
    const prefix = `S${round}-`;
    const own = owed.slice(round * share, (round + 1) * share);
    rates.push(await paySingle(scene, place, own, { prefix, seconds: seconds / 2 }));
    const floor = { connections: clients };
    whole.push(await singleFloor(scene, place, prefix, { ...floor, isWhole: true }));
    books.push(await singleFloor(scene, place, prefix, { ...floor, isWhole: false }));
  }
  const figures = {
    pay_single_per_second: Math.round(median(rates)),
    pay_single_floor_per_second: Math.round(median(whole)),
    pay_single_books_floor_per_second: Math.round(median(books)),
  };
  tell(figures);
  const over = (floors: readonly number[]) =>
    median(rates.map((rate, round) => rate / (floors[round] ?? 0)));
  const ratios = { pay_single_vs_floor: over(whole), pay_single_vs_books_floor: over(books) };
  return { ratios, figures };
}

/** Seconds for calls of a thousand payments each. */
async function payBulk(place: Place, owed: readonly Owed[], prefix: string): Promise<number> {
  let next = 0;
  const began = performance.now();
  const pay = async () => {
    while (next < owed.length) {
      const first = next;
      next += rowsPerCall;
      const rows = owed.slice(first, first + rowsPerCall);
      const payments = rows.map((one, row) => paymentOf(one, `${prefix}${first + row}`));
      await place.client.makePayments({ payments });
    }
  };
  await Promise.all(Array.from({ length: bulkClients }, pay));
  return (performance.now() - began) / 1_000;
}

async function measureBulk(
  scene: BillrunScene,
  place: Place,
  owed: readonly Owed[],
): Promise<BenchResult> {
  const before = scene.cpu();
  const seconds = await payBulk(place, owed, 'B');
  const after = scene.cpu();
  const floor = await bulkFloor(scene, place, 'B');
  const narrow = await narrowFloor(scene, place, 'B');
  const figures = {
    pay_bulk_payments: owed.length,
    pay_bulk_per_second: Math.round(owed.length / seconds),
    pay_bulk_postgres_cpu_us: Math.round((after.postgres - before.postgres) / owed.length),
    pay_bulk_floor_per_second: Math.round(owed.length / floor),
  };
  tell(figures);
  const ratios = {
    pay_bulk_vs_copy: floor / seconds,
    pay_bulk_vs_copy_of_payments: narrow / seconds,
  };
  return { ratios, figures };
}

/** The slowest hundredth of a clerk's calls while nothing else runs, and during an import. */
async function measureClerk(
  scene: BillrunScene,
  place: Place,
  owed: readonly Owed[],
  seconds: number,
): Promise<BenchResult> {
  const half = Math.floor(owed.length / 2);
  const options = { prefix: 'C', connections: clerks };
  const load = await openClerks(scene, place, owed.slice(0, half), options);
  const idle = await load.times(seconds, pauseMs);
  let isRunning = true;
  const imported = importFile(scene, place, owed.slice(half)).finally(() => {
    isRunning = false;
  });
  const busy: number[] = [];
  while (isRunning) busy.push(...(await load.times(0.2, pauseMs)));
  load.close();
  const [idleMs, busyMs] = [percentile(idle, 0.99), percentile(busy, 0.99)];
  const figures = {
    clerk_p99_ms_idle: idleMs,
    clerk_p99_ms_bank_file: busyMs,
    bank_file_lines: owed.length - half,
    bank_file_lines_per_second: Math.round((owed.length - half) / (await imported)),
  };
  tell(figures);
  return { ratios: { clerk_p99_bank_file_vs_idle: busyMs / idleMs }, figures };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** Seconds from the call with the file to the end of its job. */
async function importFile(
  scene: BillrunScene,
  place: Place,
  owed: readonly Owed[],
): Promise<number> {
  await scene.superuser.query(
    `insert into bank_accounts (tenant_id, bank_account_id, context_id, title, is_default)
     select $1, 1, min(context_id), 'Bench', true from pricing_contexts where tenant_id = $1`,
    [place.tenantId],
  );
  const columns = { date: '1', reference: '2', amount: '3', dateFormat: 'DD/MM/YYYY' };
  const mapping = { name: 'bench', columns: { ...columns, decimal: '.' as const } };
  await place.client.makeMappings({ mappings: [mapping] });
  const lines = owed.map((one) => `01/08/2025,${one.connectionNumber},${one.amount.toFixed(2)}\n`);
  const contentBase64 = Buffer.from(lines.join('')).toString('base64');
  const file = { bankAccountID: 1, format: 'CSV', mappingName: 'bench' } as const;
  return runStep(scene, place, (client) => client.importBankFile({ ...file, contentBase64 }));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      size: { type: 'string' },
    },
  });
  const size = values.size === undefined ? {} : { size: Number(values.size) };
  const began = performance.now();
  const { ratios, figures } = await benchReceivables({ quick: values.quick, ...size });
  console.table({ ...figures, ...ratios });
  process.stderr.write(`${Math.round((performance.now() - began) / 1_000)} seconds\n`);
  await stopOwnCluster();
}
