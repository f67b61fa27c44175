// Reads of large books, timed inside one connection: aging over open bills, one month of a party
// with many entries, and the open items that a payment looks for. Rows are made inside PostgreSQL.
import { parseArgs } from 'node:util';
import type pg from 'pg';
import type { Tx } from '../src/base/db/pool.ts';
import type { Executor } from '../src/base/db/sql.ts';
import { findAgingTotals, listAging } from '../src/domain/exports/reports-store.ts';
import { listOpenItems } from '../src/domain/ledger/items-store.ts';
import {
  findStatement,
  listOpenAt,
  listStatement,
} from '../src/domain/receivables/statement-store.ts';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { openServed, runStep, type ServedScene } from './billrun-scene.ts';
import { type BenchOptions, type BenchResult, tell } from './result.ts';

const body = { operation: 'schedule' as const, data: { termID } };
const parties = 2_000;
const rounds = 3;
/** The party with many entries has no bills beside them. */
const busyParty = 900_000_001;

type Read = { name: string; run: (tx: Tx, tenantId: number) => Promise<unknown> };

const today = Temporal.PlainDate.from('2025-09-20');
const aged = { from: null, to: today, serviceCode: null };
const days = { from: '2025-08-01', to: '2025-08-31' };
const key = { partyId: busyParty, subscriptionIds: null };
const page = { after: 0, offset: 0, limit: 1_000 };

const reads: readonly Read[] = [
  { name: 'aging_totals', run: (tx, tenant) => findAgingTotals(tx, tenant, aged) },
  { name: 'aging_page', run: (tx, tenant) => listAging(tx, tenant, aged, page) },
  {
    name: 'statement',
    run: async (tx, tenant) => {
      await findStatement(tx, tenant, key, days);
      await listStatement(tx, tenant, key, days, { offset: 0, limit: page.limit });
      await listOpenAt(tx, tenant, key, days.to);
    },
  },
  { name: 'settlement', run: (tx, tenant) => listOpenItems(tx, tenant, { partyIds: [1] }) },
];

/** Milliseconds at so many open bills, and as many entries of one party. */
export async function benchBooks({
  quick,
  bills = quick ? 20_000 : 100_000,
  entries = bills,
  isExplained = false,
}: BenchOptions & {
  bills?: number;
  entries?: number;
  isExplained?: boolean;
}): Promise<BenchResult> {
  const scene = await openServed(parties, {});
  try {
    await runStep(scene, scene.place, (client) => client.generateBills(body));
    await runStep(scene, scene.place, (client) => client.postBills(body));
    await fillBooks(scene, Math.round(bills / parties) - 1, entries);
    const figures: Record<string, number> = { books_bills: bills, books_entries: entries };
    for (const read of reads) {
      figures[`${read.name}_ms`] = await timeOf(scene, read);
      if (isExplained) await explain(scene, read);
    }
    tell(figures);
    return { ratios: {}, figures };
  } finally {
    await scene.close();
  }
}

/** Copies of the posted bills under terms of their own, and payments of the busy party. */
async function fillBooks(
  { superuser, place }: ServedScene,
  copies: number,
  entries: number,
): Promise<void> {
  const { rows } = await superuser.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = 'bills'::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' order by attnum`,
  );
  const given: Record<string, string> = {
    bill_id: 'b.bill_id + n * 1000000::bigint',
    term_id: 'b.term_id + n',
    due_date: 'b.due_date - (n % 120)::integer',
  };
  const columns = rows.map((row) => row.name);
  const values = columns.map((name) => given[name] ?? `b.${name}`);
  await superuser.query("set session_replication_role = 'replica'");
  await superuser.query(
    `insert into bills (${columns.join(', ')}) select ${values.join(', ')}
     from bills b cross join generate_series(1, $2::bigint) n where b.tenant_id = $1`,
    [place.tenantId, copies],
  );
  await superuser.query(
    `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
       kind, item_id, amount, posting_date, created_at, created_by)
     select $1, 100000000000 + n, 1, 2, $3, case when n % 2 = 0 then 'Payment' else 'Adjustment' end,
       900000000 + n / 2, case when n % 2 = 0 then -100 else 100 end,
       date '2025-09-30' - (n % 1800)::integer, now(), 'bench'
     from generate_series(1, $2::bigint) n`,
    [place.tenantId, entries, busyParty],
  );
  await superuser.query("set session_replication_role = 'origin'");
  await superuser.query('vacuum analyze bills, subledger_entries');
}

/** Runs a read as the server's role does, behind the walls between workspaces. */
async function asServer(
  scene: ServedScene,
  run: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const { superuser, place } = scene;
  await superuser.query('begin');
  await superuser.query("select set_config('app.tenant', $1, true)", [String(place.tenantId)]);
  await superuser.query('set local role billwright_api');
  await run(superuser);
  await superuser.query('rollback');
}

/** The median of some rounds, in milliseconds. */
async function timeOf(scene: ServedScene, { run }: Read): Promise<number> {
  const times: number[] = [];
  await asServer(scene, async (client) => {
    const executor: Executor = {
      run: async ({ text, values }) => {
        const { rows } = await client.query(text, [...values]);
        return { rows, count: rows.length };
      },
    };
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      await run(executor as Tx, scene.place.tenantId);
      times.push(performance.now() - began);
    }
  });
  return times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}

async function explain(scene: ServedScene, { name, run }: Read): Promise<void> {
  await asServer(scene, async (client) => {
    const executor: Executor = {
      run: async ({ text, values }) => {
        const explained = `explain (analyze, buffers) ${text}`;
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(explained, [...values]);
        const lines = rows.map((row) => row['QUERY PLAN']);
        process.stdout.write(`\n${name}\n${lines.join('\n')}\n`);
        return { rows: [], count: 0 };
      },
    };
    await run(executor as Tx, scene.place.tenantId);
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      size: { type: 'string' },
      entries: { type: 'string' },
    },
  });
  const sized = values.size === undefined ? {} : { bills: Number(values.size) };
  const given = values.entries === undefined ? {} : { entries: Number(values.entries) };
  const { figures } = await benchBooks({
    quick: values.quick,
    isExplained: true,
    ...sized,
    ...given,
  });
  console.table(figures);
  await stopOwnCluster();
}
