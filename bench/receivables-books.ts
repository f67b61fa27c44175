// Reads of large books, timed inside one connection: aging over open bills, one month of a party
// with many entries, and the open items that a payment looks for. Rows are made inside PostgreSQL.
//
//   node bench/receivables-books.ts [--size 1000000] [--parties 250000] [--entries 600000]
import { parseArgs } from 'node:util';
import type pg from 'pg';
import type { Tx } from '../src/base/db/pool.ts';
import type { Executor } from '../src/base/db/sql.ts';
import { findAgingTotals, listAging } from '../src/domain/exports/aging-store.ts';
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
const billed = 2_000;
/** Open bills that a party has, if that is not given. */
const billsOfParty = 4;
/** Payments since the totals of open bills were last folded: sixteen a second for five minutes. */
const unfolded = 5_000;
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

/** Milliseconds at so many open bills of so many parties, and as many entries of one party. */
export async function benchBooks({
  quick,
  bills = quick ? 20_000 : 100_000,
  parties = Math.max(billed, bills / billsOfParty),
  entries = bills,
  isExplained = false,
}: BenchOptions & {
  bills?: number;
  parties?: number;
  entries?: number;
  isExplained?: boolean;
}): Promise<BenchResult> {
  const scene = await openServed(billed, {});
  try {
    await runStep(scene, scene.place, (client) => client.generateBills(body));
    await runStep(scene, scene.place, (client) => client.postBills(body));
    const copies = { bills: Math.round(bills / billed), parties: Math.round(parties / billed) };
    await copyBills(scene, copies);
    await sumOpen(scene);
    await addEntries(scene, entries);
    const figures: Record<string, number> = {
      books_bills: bills,
      books_parties: parties,
      books_entries: entries,
    };
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

/** Copies of the posted bills, under terms of their own and for so many copies of their parties. */
async function copyBills(
  { superuser, place }: ServedScene,
  { bills, parties }: { bills: number; parties: number },
): Promise<void> {
  await superuser.query("set session_replication_role = 'replica'");
  await copyRows(superuser, place, 'parties', parties, {
    party_id: 't.party_id + n * 1000000::bigint',
    party_number: 't.party_number + n * 1000000::bigint',
  });
  await copyRows(superuser, place, 'bills', bills, {
    bill_id: 't.bill_id + n * 1000000::bigint',
    term_id: 't.term_id + n',
    party_id: `t.party_id + (n % ${parties}) * 1000000::bigint`,
    due_date: 't.due_date - (n % 120)::integer',
  });
  await superuser.query("set session_replication_role = 'origin'");
  await superuser.query('vacuum analyze bills, parties');
}

async function copyRows(
  superuser: pg.Client,
  { tenantId }: ServedScene['place'],
  table: string,
  times: number,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const { rows } = await superuser.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' order by attnum`,
    [table],
  );
  const columns = rows.map((row) => row.name);
  const values = columns.map((name) => given[name] ?? `t.${name}`);
  await superuser.query(
    `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')}
     from ${table} t cross join generate_series(1, $2::bigint - 1) n where t.tenant_id = $1`,
    [tenantId, times],
  );
}

/** What triggers and the worker keep of open bills, with some changes that are not folded yet. */
async function sumOpen({ superuser, place }: ServedScene): Promise<void> {
  const open = `from bills where tenant_id = ${place.tenantId} and not is_settled`;
  await superuser.query(
    `truncate open_changes, open_totals, open_parties, open_party_counts;
     insert into open_totals (tenant_id, context_id, due_date, owed, items)
     select tenant_id, context_id, due_date, sum(greatest(bill_amount - paid_amount, 0)), count(*)
     ${open} group by tenant_id, context_id, due_date;
     insert into open_parties (tenant_id, party_id, context_id, items)
     select tenant_id, party_id, context_id, count(*) ${open}
     group by tenant_id, party_id, context_id;
     insert into open_party_counts (tenant_id, context_id, parties)
     select tenant_id, 0, count(*) from open_parties group by tenant_id;
     insert into open_changes
       (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
     select tenant_id, context_id, date '2025-08-01', -100, -1, array[party_id], '{-1}'
     from (select * from open_parties order by hashtext(party_id::text) limit ${unfolded}) o`,
  );
  await superuser.query(
    'vacuum analyze open_changes, open_totals, open_parties, open_party_counts',
  );
}

async function addEntries({ superuser, place }: ServedScene, entries: number): Promise<void> {
  await superuser.query("set session_replication_role = 'replica'");
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
  await superuser.query('vacuum analyze subledger_entries');
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
      parties: { type: 'string' },
      entries: { type: 'string' },
    },
  });
  const { figures } = await benchBooks({
    quick: values.quick,
    isExplained: true,
    ...(values.size === undefined ? {} : { bills: Number(values.size) }),
    ...(values.parties === undefined ? {} : { parties: Number(values.parties) }),
    ...(values.entries === undefined ? {} : { entries: Number(values.entries) }),
  });
  console.table(figures);
  await stopOwnCluster();
}
