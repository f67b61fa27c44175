// Bills inside other lists: of subscriptions, of terms and of a party, with the flags that ask for
// them, the limits they have, and without reading a whole table for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import { openingFor, type Tx, transact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import {
  countBills,
  listBillsAt,
  listBillsOfPartyAt,
  listNewestBills,
} from '../../src/domain/bills/list-store.ts';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  tariffCase,
} from '../support/bill-run.ts';
import type { TestClient } from '../support/client.ts';
import { copyBills } from '../support/copied-bills.ts';
import { schedule } from '../support/delivery.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
scene.runJobs();

/**
 * Copies of every bill in so many later terms, as rows; of each second term only drafts. Bill n of
 * the copies has the id 1000 + n.
 */
async function addTerms(tenantId: number, terms: number): Promise<void> {
  await scene.sql.query(
    `insert into terms
     select (jsonb_populate_record(t, jsonb_build_object('term_id', 1000 + n, 'label', 'C' || n,
       'start_date', t.start_date + 31 * n, 'end_date', t.start_date + 31 * n + 30, 'due_date',
       t.due_date + 31 * n))).*
     from terms t, generate_series(1, $2::integer) n where t.tenant_id = $1 and t.term_id < 1000`,
    [tenantId, terms],
  );
  await copyBills(
    scene,
    {
      changed: `jsonb_build_object(
        'bill_id', 1000 + row_number() over (order by n, b.bill_id), 'term_id', 1000 + n,
        'bill_number', b.bill_number || '-' || n,
        'status', case when n % 2 = 0 then 'Draft' else b.status end)`,
      from: `bills b, generate_series(1, $2::integer) n
        where b.tenant_id = $1 and b.bill_id < 1000`,
    },
    [tenantId, terms],
  );
  await addContents(tenantId);
}

/** Bills that were copied as rows say what the first one says. */
async function addContents(tenantId: number): Promise<void> {
  await scene.sql.query(
    `insert into bill_contents (tenant_id, bill_id, document, frozen)
     select b.tenant_id, b.bill_id, k.document, k.frozen
     from bills b
     join bill_contents k on k.tenant_id = b.tenant_id
       and k.bill_id = (select min(bill_id) from bill_contents where tenant_id = $1)
     where b.tenant_id = $1
     on conflict do nothing`,
    [tenantId],
  );
}

let made = 0;

/** Two customers, a bill each, and 30 copies. */
async function openTerms() {
  made += 1;
  const client = await scene.workspace(`lists-${made}`);
  const term = await openPostedTerm(scene, client, mailParties(2));
  await client.publishBills(schedule(term.termId));
  await addTerms(term.tenantId, 30);
  return { client, ...term };
}

/** What tests only read, or change for none of the others. */
const shared = openTerms();

/** With 1,970 more bills of the first customer in term 1029, the newest with the id 11970. */
const busy = openTerms().then(async (term) => {
  await copyBills(
    scene,
    {
      changed: `jsonb_build_object('bill_id', 10000 + n, 'bill_number', 'M' || n,
        'subscription_id', 10 + n, 'unit_id', 10 + n, 'term_id', 1029)`,
      from: 'bills b, generate_series(1, 1970) n where b.tenant_id = $1 and b.bill_id = 1001',
    },
    [term.tenantId],
  );
  await addContents(term.tenantId);
  return term;
});

async function connectionBills(
  client: TestClient,
  filters: NonNullable<RequestOf<'getConnections'>['filters']>,
) {
  const { connections } = (await client.getConnections({ filters })).data;
  return connections.map(({ bills = [] }) => bills.map(({ billID }) => billID));
}

test('get-connections shows the newest 24 bills of each, when asked, and all where days are named', async () => {
  const { client, bills } = await shared;
  assert.deepEqual(await connectionBills(client, {}), [[], []]);
  assert.deepEqual(await connectionBills(client, { bills: false }), [[], []]);
  const [first = [], second = []] = await connectionBills(client, { bills: true });
  // 31 bills each: the copies 1059 and 1060 are the newest.
  assert.deepEqual([first.length, first[0], first.at(-1)], [24, 1059, 1059 - 2 * 23]);
  assert.deepEqual([second.length, second[0]], [24, 1060]);
  const [all = []] = await connectionBills(client, { bills: true, fromDate: '01/01/2020' });
  assert.deepEqual([all.length, all[0], all.at(-1)], [31, 1059, bills[0]?.billId]);
  assert.deepEqual(await connectionBills(client, { bills: true, toDate: '01/01/2020' }), []);
  const { connections } = (await client.getConnections({ filters: { bills: true } })).data;
  const [shown] = (await client.getBills({ billID: 1059 })).data.bills;
  assert.deepEqual(connections[0]?.bills?.[0], shown);
});

test('a bill of an account is listed under each of its subscriptions', async () => {
  const one = tariffCase('ELEC');
  const run = await openBillRun(scene, one, { postType: 'Post Account' } as never);
  const termId = await addTerm(run);
  const [scenario] = one.scenarios;
  for (const index of [1, 2]) {
    await addSubscription(run, termId, copyOf(scenario ?? assert.fail(), index));
  }
  await generate(run, termId);
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  assert.deepEqual(await connectionBills(run.client, { bills: true }), [
    [bill?.billID],
    [bill?.billID],
  ]);
});

test('get-terms shows the bills of each term when asked', async () => {
  const { client, termId, bills } = await shared;
  const plain = (await client.getTerms({ termID: termId })).data.terms[0];
  assert.ok(plain && !('bills' in plain));
  const page = { pageNumber: 0, size: 2 };
  const { terms } = (await client.getTerms({ page, filters: { bills: true } })).data;
  assert.deepEqual(
    terms.map(({ termID, bills: found }) => [termID, found?.map(({ billID }) => billID)]),
    [
      [1030, [1059, 1060]],
      [1029, [1057, 1058]],
    ],
  );
  const whole = (await client.getTerms({ filters: { bills: true } })).data.terms;
  assert.equal(whole.length, 31);
  assert.deepEqual(
    whole.at(-1)?.bills,
    (await client.getBills({ termID: termId })).data.bills.slice(0, bills.length),
  );
  const narrowed = await client.getTerms({
    filters: { bills: true },
    metaData: { fields: ['termID'] },
    page,
  });
  assert.deepEqual(narrowed.data.terms, [{ termID: 1030 }, { termID: 1029 }]);
});

test('get-terms reads the bills of one term after the other, and says where it has more', async () => {
  const { client } = await busy;
  const page = { pageNumber: 0, size: 2 };
  for (const asked of [{ page }, { filters: { fromDate: '01/01/2020' } }]) {
    const filters = { ...asked.filters, bills: true };
    const { data, headers } = await client.getTerms({ ...asked, filters });
    assert.deepEqual(
      data.terms
        .slice(0, 2)
        .map(({ termID, bills, moreBills }) => [termID, bills?.length, moreBills]),
      [
        [1030, 2, false],
        [1029, 1_000, true],
      ],
    );
    assert.equal(headers.get('x-total-count'), '31');
    // A stream has no length when it begins.
    assert.equal(headers.get('content-length'), null);
  }
});

test('get-users shows the bills of a party newest first, in pages, when asked', async () => {
  const { client, bills } = await shared;
  const ask = async (more: object) =>
    (await client.getUsers({ partyNumber: 100001, ...more })).data.user.bills?.map(
      ({ billID }) => billID,
    );
  assert.equal(await ask({}), undefined);
  assert.equal(await ask({ includeBills: false, page: { pageNumber: 0, size: 5 } }), undefined);
  const all = await ask({ includeBills: true });
  assert.deepEqual([all?.length, all?.[0], all?.at(-1)], [31, 1059, bills[0]?.billId]);
  const page = (pageNumber: number) =>
    ask({ includeBills: true, page: { pageNumber, size: 10 } }).then((ids) => ids ?? []);
  const paged = [...(await page(0)), ...(await page(1)), ...(await page(2)), ...(await page(3))];
  assert.deepEqual(paged, all);
  assert.deepEqual(await page(4), []);
});

test('customers see bills published to them, and not those of a former owner', async () => {
  const { client, tenantId, bills } = await shared;
  const customer = await scene.loginAs(client, ['Customer'], { partyNumber: 100001 });
  const own = await connectionBills(customer, { bills: true, fromDate: '01/01/2020' });
  // The first bill and the 15 copies that are no drafts.
  assert.deepEqual(
    own.map((ids) => ids.length),
    [16],
  );
  const { user } = (await customer.getUsers({ partyNumber: 100001, includeBills: true })).data;
  assert.deepEqual(
    user.bills?.map(({ billID }) => billID),
    own[0],
  );
  assert.ok(user.bills?.every(({ status }) => status === 'Published'));
  // The second customer takes over the first one's house.
  await scene.sql.query(
    `update subscriptions set party_id = 2 where tenant_id = $1 and party_id = 1`,
    [tenantId],
  );
  const other = await scene.loginAs(client, ['Customer'], { partyNumber: 100002 });
  const seen = (await connectionBills(other, { bills: true })).flat();
  assert.ok(!seen.includes(bills[0]?.billId ?? 0));
  assert.equal(seen.length, 16);
});

test('without a page get-users shows all bills of a party, however many', async () => {
  const { client } = await busy;
  const ask = { partyNumber: 100001, includeBills: true };
  const { data, headers, message } = await client.getUsers(ask);
  const ids = data.user.bills?.map(({ billID }) => billID) ?? [];
  assert.deepEqual([ids.length, ids[0], new Set(ids).size], [2001, 11970, 2001]);
  assert.deepEqual([headers.get('x-total-count'), message], ['2001', '1 found']);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  );
  assert.equal(data.user.partyNumber, 100001);
});

test('among many bills only those that are shown are read', async () => {
  const { tenantId } = await openTerms();
  await copyBills(
    scene,
    {
      changed: `jsonb_build_object('bill_id', 10000 + n, 'bill_number', 'M' || n,
        'subscription_id', 10 + n % 400, 'party_id', 10 + n % 400, 'unit_id', 10 + n)`,
      from: 'bills b, generate_series(1, 2000) n where b.tenant_id = $1 and b.bill_id = 1001',
    },
    [tenantId],
  );
  await addContents(tenantId);
  await scene.sql.query('analyze bills, bill_contents');
  const window = { offset: 0, limit: 20 };
  const lists: [number, (tx: Tx) => Promise<readonly unknown[]>][] = [
    [
      24 + 24 + 5 + 5,
      (tx) =>
        listNewestBills(tx, tenantId, [1, 2, 15, 16], { limit: 24, statuses: null, partyId: null }),
    ],
    [5, (tx) => listBillsOfPartyAt(tx, tenantId, { partyId: 15, statuses: null }, window)],
    [2, (tx) => listBillsAt(tx, tenantId, { termId: 1030 }, window)],
  ];
  for (const [expected, list] of lists) {
    const opening = openingFor(tenantId);
    // Of those that only read, each statement may be counted by itself.
    const read = await transact(scene.api, { opening }, async (tx) => {
      const before = await readHere(tx);
      const { length: found } = await list(tx);
      const { scanned, fetched } = await readHere(tx);
      return { found, scanned: scanned - before.scanned, fetched: fetched - before.fetched };
    });
    assert.deepEqual([read.found, read.scanned], [expected, 0]);
    // Each once to find it and once to show it, and some that are older than those shown.
    assert.ok(read.fetched <= 3 * expected + 5, `${read.fetched} rows were read`);
  }
});

test('bills of open terms and of days are not looked for among all that were billed before', async () => {
  const { tenantId } = await openTerms();
  // A term that is posted has none.
  await scene.sql.query(`delete from bills where tenant_id = $1 and status = 'Draft'`, [tenantId]);
  const copied = (id: string, changed: string, from: string) =>
    copyBills(
      scene,
      {
        changed: `jsonb_build_object('bill_id', ${id}, 'bill_number', 'N' || n,
          'unit_id', 10 + n) || ${changed}`,
        from: `bills b, ${from} n where b.tenant_id = $1 and b.bill_id = 1001`,
      },
      [tenantId],
    );
  await copied('10000 + n', `'{}'`, 'generate_series(1, 2000)');
  await scene.sql.query(
    `insert into terms
     select (jsonb_populate_record(t, jsonb_build_object('term_id', 2000, 'label', 'Next', 'status',
       'Open', 'start_date', date '2030-01-01', 'end_date', date '2030-01-31', 'due_date',
       date '2030-02-15'))).*
     from terms t where t.tenant_id = $1 and t.term_id = 1001`,
    [tenantId],
  );
  await copied(
    '20000 + n',
    `'{"term_id": 2000, "status": "Draft"}'`,
    'generate_series(7001, 7003)',
  );
  await scene.sql.query(
    `insert into bill_runs (tenant_id, term_id, run_number, job_id, book_version, versions,
       first_bill_id, part_size, started_at, generated_by)
     values ($1, 2000, 1, 1, 1, '{}', 27001, 1000, now(), 'test')`,
    [tenantId],
  );
  await addContents(tenantId);
  await scene.sql.query('analyze bills, bill_contents');
  const fromDate = Temporal.PlainDate.from('2030-01-01');
  for (const filter of [{ statuses: ['Draft'] as const }, { fromDate }]) {
    const read = await transact(scene.api, { opening: openingFor(tenantId) }, async (tx) => {
      const before = await readHere(tx);
      const found = await listBillsAt(tx, tenantId, filter, { offset: 0, limit: 20 });
      const count = await countBills(tx, tenantId, filter);
      const { scanned, fetched } = await readHere(tx);
      const rows = scanned + fetched - before.scanned - before.fetched;
      return { ids: found.map((bill) => bill.bill_id), count, rows };
    });
    assert.deepEqual([read.ids, read.count], [[27001, 27002, 27003], 3]);
    assert.ok(read.rows <= 100, `${read.rows} rows were read`);
  }
});

/**
 * Rows of bills that were read by scanning and by index: by this transaction, and by those before
 * it on its connection of which PostgreSQL has not told the others yet.
 */
async function readHere(tx: Tx): Promise<{ scanned: number; fetched: number }> {
  const { rows } = await sql<{ scanned: number; fetched: number }>`
    select seq_tup_read as scanned, idx_tup_fetch as fetched
    from pg_stat_xact_user_tables where relname = 'bills'
  `.execute(tx);
  return rows[0] ?? assert.fail();
}
