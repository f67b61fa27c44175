// The trial balance: what was booked, by day and account, exact whatever is posted meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { foldLedgerTotals } from '../../src/domain/ledger/totals-store.ts';
import { findTrialBalance } from '../../src/domain/ledger/trial-balance.ts';
import { resultsOf } from '../support/checks.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { asWorker, doDailyWork } from '../support/daily-work.ts';
import { openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';
import { tamper } from '../support/tampering.ts';

const scene = await openScene();
const admin = await scene.workspace('ledger', { currency: 'PKR' });
const parties = ['Ali', 'Bea', 'Cem'].map((name) => ({ name }));
const { tenantId } = await openPostedTerm(scene, admin, parties);

const fold = () =>
  asWorker(scene, (worker) =>
    tenantTransact(worker, tenantId, (tx) => foldLedgerTotals(tx, tenantId)),
  );

const openTables = ['open_changes', 'open_totals', 'open_parties', 'open_party_counts'];

let journals = 900_000;

/** Books an amount in minor units from one account to another, on a day (YYYY-MM-DD). */
async function book(
  day: string,
  [debit, credit]: [number, number],
  amount: bigint,
  sql = scene.sql,
) {
  journals += 1;
  await sql.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  await sql.query(
    `insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
       posting_date, description, created_at, created_by)
     values ($1, $2, 'Adjustment', $2, 1, $3, 'By hand', now(), 'test')`,
    [tenantId, journals, day],
  );
  await sql.query(
    `insert into journal_lines
       (tenant_id, journal_id, line_number, ledger_account_id, component, amount)
     values ($1, $2, 1, $3, null, $5), ($1, $2, 2, $4, null, -$5::bigint)`,
    [tenantId, journals, debit, credit, String(amount)],
  );
}

async function shown(body: Parameters<TestClient['getTrialBalance']>[0] = {}) {
  const { data } = await admin.getTrialBalance({ toDate: '31/12/9999', ...body });
  const moved = data.accounts.filter(({ debit, credit }) => debit !== 0 || credit !== 0);
  return {
    totals: data.totals,
    moved: moved.map((one) => [one.accountCode, one.debit, one.credit, one.balance]),
  };
}

const ofBills = [
  ['RECEIVABLE', 1650, 0, 1650],
  ['TAX', 0, 150, -150],
  ['INCOME', 0, 1500, -1500],
];

test('get-trial-balance shows every account with what was debited and credited on it', async () => {
  const { data, message } = await admin.getTrialBalance();
  assert.deepEqual(Object.keys(data), ['asOf', 'accounts', 'totals']);
  assert.match(message, /^\d+ ledger accounts as of \d\d\/\d\d\/\d{4}$/);
  const codes = data.accounts.map((one) => one.accountCode);
  assert.deepEqual(codes.slice(0, 10), [
    ...['CASH', 'RECEIVABLE', 'ADVANCE', 'DEPOSIT', 'TAX', 'INCOME', 'ROUNDING', 'OPENING'],
    ...['BAD_DEBT', 'DISPUTED'],
  ]);
  assert.ok(codes.includes('PAYABLE') && codes.includes('EXPENSE'));
  assert.deepEqual(data.accounts[1], {
    accountCode: 'RECEIVABLE',
    name: 'Receivable',
    kind: 'Asset',
    debit: 1650,
    credit: 0,
    balance: 1650,
  });
  assert.deepEqual(data.totals, { debit: 1650, credit: 1650, difference: 0 });
  assert.deepEqual((await shown()).moved, ofBills);
});

test('days narrow a trial balance by posting date, and an account narrows what is shown', async () => {
  await book('2020-01-31', [1, 8], 1000n);
  await book('2020-02-01', [1, 8], 500n);
  const january = await shown({ fromDate: '01/01/2020', toDate: '31/01/2020' });
  assert.deepEqual(january.moved, [
    ['CASH', 10, 0, 10],
    ['OPENING', 0, 10, -10],
  ]);
  assert.deepEqual(january.totals, { debit: 10, credit: 10, difference: 0 });
  const { data } = await admin.getTrialBalance({ toDate: '01/02/2020', accountCode: 'CASH' });
  assert.equal(data.asOf, '01/02/2020');
  assert.deepEqual(
    data.accounts.map((one) => [one.accountCode, one.balance]),
    [['CASH', 15]],
  );
  assert.deepEqual(data.totals, { debit: 15, credit: 15, difference: 0 }, 'of the whole ledger');
  const unknown = await admin.getTrialBalance({ accountCode: 'NONE' });
  assert.deepEqual(unknown.data.accounts, []);
  const backwards = { fromDate: '02/02/2020', toDate: '01/02/2020' };
  await refuses(admin.getTrialBalance(backwards), 'INVALID_DATE', { field: 'fromDate' });
});

test('the totals of a day are folded each night, and show the same before and after', async () => {
  for (let i = 0; i < 20; i += 1) await book('2020-03-01', [1, 8], 7n);
  const before = await shown();
  const additions = async () => {
    const { rows } = await scene.sql.query(
      `select count(*)::int as count from ledger_day_totals where tenant_id = $1
       and journal_id > 0`,
      [tenantId],
    );
    return rows[0].count;
  };
  assert.ok((await additions()) >= 40);
  await doDailyWork(scene, tenantId);
  assert.equal(await additions(), 0);
  assert.deepEqual(await shown(), before);
  await book('2020-03-01', [1, 8], 100n);
  assert.deepEqual(await fold(), { folded: 2 });
  const cash = (rows: unknown[][]) => rows.find(([code]) => code === 'CASH')?.[1];
  assert.equal(cash((await shown()).moved), Number(cash(before.moved)) + 1);
});

test('a posting that is not committed yet neither counts nor holds up the folding', async () => {
  const before = await shown();
  const other = new pg.Client({ ...scene.cluster.owner, database: scene.databaseName });
  await other.connect();
  try {
    await other.query('begin');
    await book('2020-03-01', [1, 8], 300n, other);
    await book('2020-03-01', [1, 8], 200n);
    assert.deepEqual(await fold(), { folded: 2 });
    await other.query('commit');
  } finally {
    await other.end();
  }
  const after = await shown();
  assert.equal(after.totals.debit, before.totals.debit + 5);
  await fold();
  assert.deepEqual(await shown(), after);
});

test('sums beyond what a number holds are exact', async () => {
  const large = 9_007_199_254_740_993n;
  await book('2019-01-01', [1, 8], large);
  await book('2019-01-01', [1, 8], large);
  const day = Temporal.PlainDate.from('2019-01-01');
  const query = { from: day, to: day, accountCode: 'CASH' };
  const { accounts, totals } = await tenantTransact(scene.owner, tenantId, (tx) =>
    findTrialBalance(tx, tenantId, query),
  );
  assert.deepEqual([accounts[0]?.balance, totals.difference], [large * 2n, 0n]);
});

test('another workspace has a ledger of its own', async () => {
  const other = await scene.workspace('ledger-other');
  const { data } = await other.getTrialBalance({ toDate: '31/12/9999' });
  assert.deepEqual(data.totals, { debit: 0, credit: 0, difference: 0 });
});

test('managers, auditors and administrators read the ledger, operators and cashiers do not', async () => {
  for (const role of ['Billing Manager', 'Auditor'] as const) {
    await (await scene.loginAs(admin, [role])).getTrialBalance();
  }
  for (const role of ['Billing Operator', 'Cashier', 'Meter Reader', 'Customer'] as const) {
    const own = role === 'Customer' ? { partyNumber: 100001 } : {};
    const login = await scene.loginAs(admin, [role], own);
    await refuses(login.getTrialBalance(), 'PERMISSION_DENIED', { statusCode: 403 });
  }
});

test('server and workers read the totals and cannot write them', async () => {
  const { rows } = await scene.sql.query(
    `select t as table, r as role, p as privilege
     from unnest($1::text[]) t, unnest(array['billwright_api', 'billwright_worker']) r,
       unnest(array['select', 'insert', 'update', 'delete']) p
     where has_table_privilege(r, t, p) order by t, r, p`,
    [['ledger_day_totals', ...openTables]],
  );
  const tables = ['ledger_day_totals', ...openTables].sort();
  assert.deepEqual(
    rows,
    tables.flatMap((table) => [
      { table, role: 'billwright_api', privilege: 'select' },
      { table, role: 'billwright_worker', privilege: 'select' },
    ]),
  );
});

test('verify names open amounts that are not those of bills and items', async () => {
  const wrong = async () => {
    const found = (await resultsOf(scene, tenantId)).find(({ check }) => check === 'L19');
    return found?.examples;
  };
  await doDailyWork(scene, tenantId);
  assert.deepEqual(await wrong(), []);
  const changes = {
    'open_totals owed': /^open amounts of context 1 due on /,
    'open_totals items': /^open amounts of context 1 due on /,
    'open_parties items': /^open items of party 1 in context 1$/,
    'open_party_counts parties': /^count of parties with open items in context [01]$/,
  };
  for (const [what, named] of Object.entries(changes)) {
    const [table, column] = what.split(' ');
    const where = `where tenant_id = ${tenantId} ${table === 'open_parties' ? 'and party_id = 1' : ''}`;
    await tamper(scene, `update ${table} set ${column} = ${column} + 1 ${where}`);
    assert.match((await wrong())?.[0] ?? '', named, what);
    await tamper(scene, `update ${table} set ${column} = ${column} - 1 ${where}`);
  }
  assert.deepEqual(await wrong(), []);
});

test('verify names totals that are not those of the journal lines', async () => {
  const wrong = async () => {
    const found = (await resultsOf(scene, tenantId)).find(({ check }) => check === 'L16');
    return found?.examples;
  };
  assert.deepEqual(await wrong(), []);
  const where = `where tenant_id = ${tenantId} and posting_date = '2020-01-31'`;
  for (const change of ['debit = debit + 1', 'lines = lines + 1']) {
    await tamper(
      scene,
      `update ledger_day_totals set ${change} ${where} and ledger_account_id = 1`,
    );
    assert.deepEqual(await wrong(), ['ledger account 1 on 2020-01-31'], change);
    const [column = ''] = change.split(' ');
    await tamper(
      scene,
      `update ledger_day_totals set ${column} = ${column} - 1 ${where} and ledger_account_id = 1`,
    );
  }
  assert.deepEqual(await wrong(), []);
});
