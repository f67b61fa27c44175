// Step 7: numbers, ledger, histories; what refuses it, and how it is taken back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { cancelTermStep } from '../../src/billrun/cancel-term.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import { unpostBillsStep } from '../../src/billrun/unpost.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  type BillRun,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  type ShownBill,
  tariffCase,
  unpost,
} from '../support/bill-run.ts';
import { assertChecks, resultsOf } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { makeFullTerm } from '../support/full-term.ts';
import { termID } from '../support/residential-rows.ts';
import { prepareStep, runStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening, readNext } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

const elec = tariffCase('ELEC');
const [elecA, elecB, elecC] = elec.scenarios as unknown as [
  FrozenInputs,
  FrozenInputs,
  FrozenInputs,
];

const cents = (amount: number) => Math.round(amount * 100);

/** A generated term with a bill for each use. */
async function generated(
  uses: readonly number[],
  options: { changed?: object; facts?: FrozenInputs } = {},
): Promise<{ run: BillRun; termId: number; subscriptions: number[] }> {
  const run = await openBillRun(scene, elec, (options.changed ?? {}) as never);
  const termId = await addTerm(run);
  const subscriptions: number[] = [];
  for (const [index, use] of uses.entries()) {
    const facts = { ...copyOf(options.facts ?? elecC, index, use), account: {} };
    subscriptions.push(await addSubscription(run, termId, facts));
  }
  await generate(run, termId);
  return { run, termId, subscriptions };
}

type Balance = { code: string; amount: string };

const balances = (run: BillRun) =>
  rowsOf<Balance>(
    run,
    `select a.code, sum(l.amount)::text as amount from journal_lines l
     join ledger_accounts a on a.tenant_id = l.tenant_id
       and a.ledger_account_id = l.ledger_account_id
     where l.tenant_id = $1
     group by a.code having sum(l.amount) <> 0 order by a.code`,
  );

const termOf = async (run: BillRun, termId: number) => {
  const [term] = await rowsOf<{ status: string; stage: string }>(
    run,
    'select status, stage from terms where tenant_id = $1 and term_id = $2',
    [termId],
  );
  return [term?.status, term?.stage];
};

test('the worked bills are posted: numbers, debits, credits, histories, billed days', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  const ids: number[] = [];
  for (const scenario of [elecA, elecB, elecC])
    ids.push(await addSubscription(run, termId, scenario));
  await generate(run, termId);
  const before = await balances(run);
  assert.deepEqual(before, [
    { code: 'OPENING', amount: '-120960' },
    { code: 'RECEIVABLE', amount: '120960' },
  ]);
  await post(run, termId);
  assert.deepEqual(await termOf(run, termId), ['Posted', 'Posted']);
  const bills = await billsOf(run, termId);
  const year = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year;
  assert.deepEqual(
    bills.map((bill) => [bill.status, bill.billNumber]),
    [1, 2, 3].map((n) => ['Posted', `ELEC-${year}-00000${n}`]),
  );
  // 13592.00 + 9156.41 + 165.27 = 22913.68; tax 2222.66 + 1511.18 + 20.02 = 3753.86;
  // rounding 0.40 - 0.41 - 0.27 = -0.28; receivable 1209.60 + 22913.40.
  assert.deepEqual(await balances(run), [
    { code: 'INCOME', amount: '-1915982' },
    { code: 'OPENING', amount: '-120960' },
    { code: 'RECEIVABLE', amount: '2412300' },
    { code: 'ROUNDING', amount: '28' },
    { code: 'TAX', amount: '-375386' },
  ]);
  const histories = await rowsOf<{ terms: object[]; brought_forward: string }>(
    run,
    `select terms, brought_forward from usage_histories
     where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(histories[0]?.terms[0], {
    termId,
    label: 'Jul-2025',
    endDate: '2025-07-31',
    days: 31,
    amount: 1_359_200,
    usage: { energy: { quantity: '404', type: 'Actual' } },
  });
  assert.equal(histories[0]?.terms.length, 3);
  assert.equal(histories[0]?.brought_forward, '1484200');
  const billed = await rowsOf<{ billed_through: string }>(
    run,
    `select billed_through::text from subscriptions where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(
    billed.map((row) => row.billed_through),
    ['2025-07-31', '2025-07-20', '2025-07-31'],
  );
  await assertChecks(scene, run.tenantId);
});

test('the next bill begins where the last ended: history, arrears, what was paid between', async () => {
  const { run, termId, subscriptions } = await generated([404]);
  await post(run, termId);
  const [first] = await billsOf(run, termId);
  const [id = 0] = subscriptions;
  await insertOpening(scene, run.tenantId, id, -500_00, 'Payment');
  await insertOpening(scene, run.tenantId, id, 7_25, 'Adjustment');
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await readNext(scene, run.tenantId, august, id, { date: '2025-08-31', use: 100 });
  await generate(run, august);
  const [second] = await billsOf(run, august);
  assert.ok(first && second);
  assert.equal(second.billedFrom, '01/08/2025');
  assert.equal(second.previousBalance, first.totalAmount);
  assert.equal(second.paymentsReceived, 500);
  assert.equal(second.adjustments, 7.25);
  assert.equal(cents(second.arrears), cents(first.totalAmount) - 500_00 + 7_25);
  assert.deepEqual(
    second.history.map((item) => [item.label, item.quantity, item.amount]),
    [
      ['Jul-2025', '404', first.billAmount],
      ['Jun-2025', '0', null],
      ['May-2025', '12', null],
    ],
  );
  await post(run, august);
  await assertChecks(scene, run.tenantId);
  const { data } = await run.client.getBillTerm({ billTermID: august });
  assert.equal(data.summary.comparison?.previousTermID, termId);
  assert.match(data.summary.comparison?.currentChargesChangePct ?? '', /^-\d+(\.\d)?$/);
});

test('components are credited to the accounts they name, which are opened when they are missing', async () => {
  const components = (elec.service.components ?? []).map((component) => ({
    ...component,
    ...(component.name === 'tvFee' ? { account: 'TV-FEES' } : {}),
    ...(component.name === 'gst' ? { account: 'GST' } : {}),
    // Only entries of customers may be on this account.
    ...(component.name === 'meterRent' ? { account: 'RECEIVABLE' } : {}),
  }));
  const { run, termId } = await generated([150], { changed: { components } });
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  const line = (name: string) =>
    cents(bill?.lines.find((one) => one.component === name)?.amount ?? 0);
  const found = new Map((await balances(run)).map(({ code, amount }) => [code, Number(amount)]));
  assert.equal(found.get('TV-FEES'), -line('tvFee'));
  assert.equal(found.get('GST'), -line('gst'));
  assert.equal(found.get('TAX'), -line('electricityDuty'));
  assert.equal(found.get('RECEIVABLE'), cents(bill?.billAmount ?? 0));
  await assertChecks(scene, run.tenantId);
});

test('posting needs a generated term in which nothing changed since', async () => {
  const { run, termId, subscriptions } = await generated([10, 20]);
  const stale = () => refuses(post(run, termId), 'TERM_STALE_GENERATE_AGAIN', { statusCode: 409 });
  const change = (query: string, values: unknown[] = []) => rowsOf(run, query, values);
  const fresh = async () => {
    await generate(run, termId);
    await run.client.getBillTerm({ billTermID: termId });
  };
  await change('update terms set is_stale = true where tenant_id = $1');
  await stale();
  await fresh();
  await change(
    'update subscriptions set ts = ts + 1 where tenant_id = $1 and subscription_id = $2',
    [subscriptions[0]],
  );
  await stale();
  await fresh();
  await addSubscription(run, termId, { ...copyOf(elecC, 7, 30), account: {} });
  await stale();
  await fresh();
  await change(
    `update term_readings set locked_at = now() + interval '1 hour'
     where tenant_id = $1 and subscription_id = $2`,
    [subscriptions[0]],
  );
  await stale();
  await change('update term_readings set locked_at = now() where tenant_id = $1');
  const { tariff } = { tariff: elec.tariffs.find((plan) => plan.code === 'RES-A1-PRV') };
  await run.client.updateTariff({ tariff: { ...(tariff as object), name: 'Renamed' } as never });
  await stale();
  await fresh();
  await post(run, termId);
  assert.deepEqual(await termOf(run, termId), ['Posted', 'Posted']);
});

test('bills in Error and on hold stop posting, or are skipped and caught up on by the next term', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  const good = await addSubscription(run, termId, { ...copyOf(elecC, 1, 100), account: {} });
  const unread = copyOf(elecC, 2, 100);
  const meters = (unread.meters ?? []).map(({ current: _current, ...meter }) => meter);
  const bad = await addSubscription(run, termId, { ...unread, meters, account: {} });
  const held = await addSubscription(run, termId, { ...copyOf(elecC, 3, 100), account: {} });
  await generate(run, termId);
  const bills = await billsOf(run, termId);
  await run.client.holdBill({ data: { billID: bills[2]?.billID ?? 0, hold: true, reason: 'x' } });
  const refusal = await refuses(post(run, termId), 'TERM_HAS_OPEN_BILLS', { statusCode: 409 });
  assert.deepEqual(
    refusal.error.details.map((detail) => detail.message),
    [
      '1 in error',
      '1 on hold',
      `E-000103-2: register kWh of meter ${meters[0]?.number} has no current reading`,
      'E-000103-3: on hold, x',
    ],
  );
  const { message } = await post(run, termId, true);
  assert.equal(
    message,
    '1 bill posted, 2 left for the next term: E-000103-2 READING_MISSING and E-000103-3 on hold',
  );
  const statuses = (await billsOf(run, termId)).map((bill) => [bill.connectionID, bill.status]);
  assert.deepEqual(statuses, [
    [good, 'Posted'],
    [bad, 'Error'],
    [held, 'Hold'],
  ]);
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  for (const id of [good, bad, held]) {
    await readNext(scene, run.tenantId, august, id, { date: '2025-08-31', use: 62 });
  }
  await generate(run, august);
  const next = await billsOf(run, august);
  assert.deepEqual(
    next.map((bill) => [bill.billedFrom, bill.days, bill.errors]),
    [
      ['01/08/2025', 31, []],
      ['01/07/2025', 62, []],
      ['01/07/2025', 62, []],
    ],
  );
  await post(run, august);
  await assertChecks(scene, run.tenantId);
});

test('wallets pay bills as they are posted, as far as they go, oldest bill first', async () => {
  const { run, termId } = await generated([100, 100, 100]);
  const amounts = (await billsOf(run, termId)).map((bill) => cents(bill.billAmount));
  const [one = 0] = amounts;
  // Enough for one bill and a half.
  const wallet = one + Math.floor(one / 2);
  await insertOpening(scene, run.tenantId, null, -wallet, 'Opening');
  await post(run, termId);
  const bills = await billsOf(run, termId);
  assert.deepEqual(
    bills.map((bill) => [cents(bill.walletApplied), cents(bill.paidAmount), bill.paymentStatus]),
    [
      [one, one, 'Paid'],
      [wallet - one, wallet - one, 'PartiallyPaid'],
      [0, 0, 'Unpaid'],
    ],
  );
  for (const bill of bills) {
    assert.equal(
      cents(bill.payableWithinDueDate),
      cents(bill.totalAmount) - cents(bill.walletApplied),
    );
    assert.equal(cents(bill.outstandingAmount), cents(bill.billAmount) - cents(bill.walletApplied));
  }
  const [party] = await rowsOf<{ wallet_balance: string }>(
    run,
    'select wallet_balance from parties where tenant_id = $1',
  );
  assert.equal(party?.wallet_balance, '0');
  await assertChecks(scene, run.tenantId);
});

test('a wallet pays the oldest bill first, whichever part of the term is posted first', async () => {
  // One more than goes into a part.
  const { workspace, tenantId } = await makeFullTerm(scene, scene.baseUrl, 'wallet-parts', 1_001);
  const ofParty = (partyId: number, ...ids: number[]) =>
    scene.sql.query(
      `update subscriptions set party_id = $2, account_id = $2
       where tenant_id = $1 and subscription_id = any($3)`,
      [tenantId, partyId, ids],
    );
  await ofParty(1, 1, 3, 1_001);
  await ofParty(2, 2, 4);
  await whileCrew(scene, workspace, async (crew) => {
    await runStep(crew, generateBillsStep, { termId: termID });
    const drafts = await scene.sql.query(
      'select bill_id, bill_amount from bills where tenant_id = $1 order by bill_id',
      [tenantId],
    );
    const amounts = drafts.rows.map((row) => Number(row.bill_amount));
    const [one = 0, , three = 0] = amounts;
    await insertOpening(scene, tenantId, null, -(one + three + 500), 'Opening');
    // The second part is posted by a job that goes no further, and another one goes on.
    const { job, chunks } = await prepareStep(crew, postBillsStep, { termId: termID });
    await tenantTransact(crew.database, tenantId, (tx) =>
      postBillsStep.work(tx, job, chunks[1] ?? assert.fail(), crew.tools),
    );
    await assert.rejects(
      tenantTransact(crew.database, tenantId, (tx) => cancelTermStep.check(tx, job)),
      { code: 'INVALID_STATE' },
      'a bill of it is posted',
    );
    await runStep(crew, postBillsStep, { termId: termID });
    const { rows } = await scene.sql.query(
      `select subscription_id::integer as subscription, wallet_applied::integer as wallet,
         paid_amount::integer as paid, payment_status as status from bills
       where tenant_id = $1 and wallet_applied <> 0 order by bill_id`,
      [tenantId],
    );
    assert.deepEqual(rows, [
      { subscription: 1, wallet: one, paid: one, status: 'Paid' },
      { subscription: 3, wallet: three, paid: three, status: 'Paid' },
      { subscription: 1_001, wallet: 500, paid: 500, status: 'PartiallyPaid' },
    ]);
    await assertChecks(scene, tenantId);
    await runStep(crew, unpostBillsStep, { termId: termID, parameters: { reason: 'again' } });
    const party = await scene.sql.query(
      'select wallet_balance::integer as wallet from parties where tenant_id = $1 and party_id = 1',
      [tenantId],
    );
    assert.deepEqual(party.rows, [{ wallet: one + three + 500 }]);
    await assertChecks(scene, tenantId);
  });
});

test('a context may leave wallets alone; prepaid bills are due at once', async () => {
  const left = await generated([100], { changed: { autoApplyWallet: 0 } });
  await insertOpening(scene, left.run.tenantId, null, -1_000_00, 'Opening');
  await post(left.run, left.termId);
  const [bill] = await billsOf(left.run, left.termId);
  assert.deepEqual([bill?.walletApplied, bill?.dueDate], [0, '15/08/2025']);
  const run = await openBillRun(
    scene,
    {
      ...elec,
      tariffs: elec.tariffs.map((plan) => ({ ...plan, chargeType: 'Prepaid' })) as never,
    },
    { chargingType: 'Prepaid', autoApplyWallet: 0 } as never,
  );
  const termId = await addTerm(run);
  await addSubscription(run, termId, { ...copyOf(elecC, 1, 100), account: {} });
  await generate(run, termId);
  await insertOpening(scene, run.tenantId, null, -1_000_00, 'Opening');
  await post(run, termId);
  const [prepaid] = await billsOf(run, termId);
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const due = prepaid?.dueDate.split('/').reverse().join('-');
  assert.deepEqual([prepaid?.walletApplied, due], [1000, today.toString()]);
  await assertChecks(scene, run.tenantId);
});

test('a deposit due with the first bill is demanded with it, once', async () => {
  const tariffs = elec.tariffs.map((plan) =>
    plan.code === 'RES-BASE'
      ? {
          ...plan,
          securityAttributes: [
            { name: 'Deposit', formula: 'input.sanctionedLoad * 1500', dueAt: 'FirstBill' },
          ],
        }
      : plan,
  );
  const run = await openBillRun(scene, { ...elec, tariffs: tariffs as never });
  const termId = await addTerm(run);
  const first = copyOf(elecC, 1, 100);
  const connection = {
    ...first.connection,
    connectionDate: '10/07/2025',
    isFirstBill: true,
    tariffHistory: [{ tariffCode: 'RES-A1', fromDate: '10/07/2025' }],
  };
  await addSubscription(run, termId, { ...first, connection, account: {} });
  await addSubscription(run, termId, { ...copyOf(elecC, 2, 100), account: {} });
  await generate(run, termId);
  await post(run, termId);
  const deposits = await rowsOf<{ subscription_id: string; deposit: string }>(
    run,
    'select subscription_id, deposit from subscription_balances where tenant_id = $1 order by 1',
  );
  assert.deepEqual(
    deposits.map((row) => row.deposit),
    ['150000', '0'],
  );
  const found = new Map((await balances(run)).map(({ code, amount }) => [code, Number(amount)]));
  assert.equal(found.get('DEPOSIT'), -150_000);
  await assertChecks(scene, run.tenantId);
  await unpost(run, termId);
  assert.deepEqual(await balances(run), []);
  await assertChecks(scene, run.tenantId);
});

test('a deposit that cannot be computed is an error of its bill, and stops no posting', async () => {
  const securityAttributes = [
    { name: 'Deposit', formula: '1500 / (input.sanctionedLoad - 1)', dueAt: 'FirstBill' },
  ];
  const tariffs = elec.tariffs.map((plan) =>
    plan.code === 'RES-BASE' ? { ...plan, securityAttributes } : plan,
  );
  const run = await openBillRun(scene, { ...elec, tariffs: tariffs as never });
  const termId = await addTerm(run);
  const first = copyOf(elecC, 1, 100);
  const connection = {
    ...first.connection,
    connectionDate: '10/07/2025',
    isFirstBill: true,
    tariffHistory: [{ tariffCode: 'RES-A1', fromDate: '10/07/2025' }],
  };
  await addSubscription(run, termId, { ...first, connection, account: {} });
  await addSubscription(run, termId, { ...copyOf(elecC, 2, 100), account: {} });
  await generate(run, termId);
  const { exceptions } = (await run.client.getBillTerm({ billTermID: termId })).data;
  assert.deepEqual(
    exceptions.map(({ code, message }) => [code, message]),
    [['DIVISION_BY_ZERO', 'The security deposit cannot be computed: division by zero']],
  );
  const { message } = await post(run, termId, true);
  assert.equal(message, '1 bill posted, 1 left for the next term: E-000103-1 DIVISION_BY_ZERO');
  await assertChecks(scene, run.tenantId);
});

test('unposting mirrors the journals, retires the numbers and gives everything back', async () => {
  const { run, termId } = await generated([100, 200, 300]);
  await insertOpening(scene, run.tenantId, null, -50_00, 'Opening');
  const before = await billsOf(run, termId);
  const books = await balances(run);
  const state = () =>
    rowsOf(
      run,
      `select s.billed_through::text, h.terms, h.brought_forward
       from subscriptions s left join usage_histories h
         on h.tenant_id = s.tenant_id and h.subscription_id = s.subscription_id
       where s.tenant_id = $1 order by s.subscription_id`,
    );
  const subscriptions = await state();
  await post(run, termId);
  const posted = await billsOf(run, termId);
  await unpost(run, termId, 'wrong fuel price');
  assert.deepEqual(await termOf(run, termId), ['Open', 'Generated']);
  assert.deepEqual(await balances(run), books);
  assert.deepEqual(await state(), subscriptions);
  const plain = (bills: typeof before) =>
    bills.map(({ modifiedAt: _at, modifiedBy: _by, ts: _ts, ...bill }) => bill);
  assert.deepEqual(plain(await billsOf(run, termId)), plain(before));
  await assertChecks(scene, run.tenantId);
  const { summary } = (await run.client.getBillTerm({ billTermID: termId })).data;
  assert.deepEqual(
    summary.retiredNumbers.map(({ first, last, count, reason }) => [first, last, count, reason]),
    [[posted[0]?.billNumber, posted[2]?.billNumber, 3, 'wrong fuel price']],
  );
  await post(run, termId);
  const again = await billsOf(run, termId);
  assert.deepEqual(
    again.map((bill) => bill.billNumber?.slice(-6)),
    ['000004', '000005', '000006'],
  );
  await assertChecks(scene, run.tenantId);
});

test('a due date can be moved until a bill is published, and changes only the bill', async () => {
  const { run, termId } = await generated([100, 120]);
  await post(run, termId);
  const before = await billsOf(run, termId);
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await rowsOf(run, `update terms set stage = 'Generated' where tenant_id = $1 and term_id = $2`, [
    august,
  ]);
  const move = (dueDate: string) => run.client.updateTerm({ data: { termID: termId, dueDate } });
  await move('25/08/2025');
  const after = await billsOf(run, termId);
  assert.deepEqual(
    after.map((bill) => [bill.dueDate, bill.modifiedBy]),
    after.map(() => ['25/08/2025', `admin@${run.client.workspace}.example`]),
  );
  assert.ok(after.every((bill, index) => bill.ts > (before[index]?.ts ?? 0)));
  const entries = await rowsOf(
    run,
    `select due_date from subledger_entries
     where tenant_id = $1 and bill_id is not null and due_date is not null`,
  );
  assert.deepEqual(entries, []);
  // Overdue amounts on later bills depend on it.
  const [later] = await rowsOf<{ is_stale: boolean }>(
    run,
    'select is_stale from terms where tenant_id = $1 and term_id = $2',
    [august],
  );
  assert.equal(later?.is_stale, true);
  // One customer has seen his bill: the term no longer has one due date to move.
  await rowsOf(run, `update bills set status = 'Published' where tenant_id = $1 and bill_id = $2`, [
    after[0]?.billID,
  ]);
  await refuses(move('26/08/2025'), 'INVALID_STATE');
});

test('payments after generation are on the next bills, and wallets pay with their balance at posting', async () => {
  const { run, termId, subscriptions } = await generated([100]);
  const [id = 0] = subscriptions;
  await insertOpening(scene, run.tenantId, id, 900_00, 'Opening');
  await generate(run, termId);
  const brought = (bill: ShownBill | undefined) => [
    bill?.previousBalance,
    bill?.paymentsReceived,
    bill?.adjustments,
    bill?.arrears,
  ];
  const [draft] = await billsOf(run, termId);
  assert.deepEqual(brought(draft), [0, 0, 900, 900]);
  // If payments made a term stale, a term with payments all day could never be posted.
  await insertOpening(scene, run.tenantId, id, -600_00, 'Payment');
  await insertOpening(scene, run.tenantId, null, -50_00, 'Payment');
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  assert.deepEqual(brought(bill), brought(draft));
  assert.equal(bill?.walletApplied, 50);
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await readNext(scene, run.tenantId, august, id, { date: '2025-08-31', use: 120 });
  await generate(run, august);
  const [next] = await billsOf(run, august);
  const owed = (bill?.billAmount ?? 0) + 900;
  assert.deepEqual(brought(next), [owed, 600 + 50, 0, owed - 650]);
  await assertChecks(scene, run.tenantId);
});

test('what was paid, credited or followed by a later bill is not unposted', async () => {
  const { run, termId, subscriptions } = await generated([100]);
  const [id = 0] = subscriptions;
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  await rowsOf(run, 'update bills set paid_amount = 100 where tenant_id = $1');
  await refuses(unpost(run, termId), 'INVALID_STATE');
  await rowsOf(run, 'update bills set paid_amount = 0 where tenant_id = $1');
  await insertOpening(scene, run.tenantId, id, -5_00, 'CreditNote', bill?.billID);
  await refuses(unpost(run, termId), 'INVALID_STATE');
  const other = await generated([100]);
  await post(other.run, other.termId);
  const august = await addTerm(other.run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  const [second = 0] = other.subscriptions;
  await readNext(scene, other.run.tenantId, august, second, { date: '2025-08-31', use: 10 });
  await generate(other.run, august);
  await post(other.run, august);
  await refuses(unpost(other.run, other.termId), 'INVALID_STATE');
  await unpost(other.run, august);
  await unpost(other.run, other.termId);
  await assertChecks(scene, other.run.tenantId);
});

test('bills of accounts are posted by subscription, and unposted', async () => {
  const run = await openBillRun(scene, elec, { postType: 'Post Account' } as never);
  const termId = await addTerm(run);
  const ids: number[] = [];
  for (const [index, scenario] of [elecA, elecB, elecC].entries()) {
    ids.push(await addSubscription(run, termId, copyOf(scenario, index)));
  }
  await generate(run, termId);
  await insertOpening(scene, run.tenantId, null, -20_000_00, 'Opening');
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  assert.equal(bill?.status, 'Posted');
  assert.equal(bill?.walletApplied, 20_000);
  const entries = await rowsOf<{ subscription_id: string; amount: string }>(
    run,
    `select subscription_id, amount from subledger_entries
     where tenant_id = $1 and kind = 'Bill' order by subscription_id`,
  );
  assert.deepEqual(
    entries.map((entry) => [Number(entry.subscription_id), Number(entry.amount)]),
    // The last one takes the rounding of -0.28.
    [
      [ids[0], 13_592_00],
      [ids[1], 9156_41],
      [ids[2], 165_27 - 28],
    ],
  );
  const histories = await rowsOf<{ quantity: string }>(
    run,
    `select terms[1] -> 'usage' -> 'energy' ->> 'quantity' as quantity from usage_histories
     where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(
    histories.map((row) => row.quantity),
    ['404', '260', '0'],
  );
  await assertChecks(scene, run.tenantId);
  await unpost(run, termId);
  await assertChecks(scene, run.tenantId);
  await post(run, termId);
  await assertChecks(scene, run.tenantId);
});

test('what is booked of a bill is what its document says', async () => {
  const rows = await scene.sql.query<{ bills: string; other: string }>(
    `select count(*) as bills, count(*) filter (
         where b.charges::jsonb is distinct from coalesce(d.charges, '{}')
           or b.usage::jsonb is distinct from d.usage
       ) as other
     from bills b
     join bill_contents k on k.tenant_id = b.tenant_id and k.bill_id = b.bill_id
     cross join lateral (
       select (
         select jsonb_object_agg(key, amount) from (
           select l ->> 'type' || ' ' || (l ->> 'component') as key,
             sum((l ->> 'amount')::bigint) as amount
           from json_array_elements(k.document -> 'lines') l group by 1
         ) sums
       ) as charges, case when b.subscription_id is not null then coalesce((
         select jsonb_object_agg(u ->> 'input', jsonb_strip_nulls(jsonb_build_object(
           'quantity', u ->> 'quantity', 'carried', u ->> 'carried',
           'type', case when u ->> 'estimated' is null then 'Actual' else 'Estimated' end)))
         from json_array_elements(k.document -> 'usage') u
       ), '{}') end as usage
     ) d`,
  );
  const [found] = rows.rows;
  assert.equal(found?.other, '0');
  assert.ok(Number(found?.bills) > 10);
});

test('a plan that is billed once ends with its bill', async () => {
  const tariffs = elec.tariffs.map((plan) => ({ ...plan, planType: 'ONE_TIME_PLAN' }));
  const run = await openBillRun(scene, { ...elec, tariffs: tariffs as never });
  const termId = await addTerm(run);
  const id = await addSubscription(run, termId, { ...copyOf(elecC, 1, 100), account: {} });
  await generate(run, termId);
  await post(run, termId);
  const status = async () => {
    const [row] = await rowsOf<{ status: string; last: string }>(
      run,
      `select status, status_history -> -1 ->> 'fromDate' as last from subscriptions
       where tenant_id = $1 and subscription_id = $2`,
      [id],
    );
    return [row?.status, row?.last];
  };
  assert.deepEqual(await status(), ['Disconnected', '2025-08-01']);
  await assertChecks(scene, run.tenantId);
  await unpost(run, termId);
  assert.deepEqual(await status(), ['Active', '2020-01-01']);
});

test('a term whose posting came to nothing is cancelled, and its numbers are retired', async () => {
  const { run, termId } = await generated([100, 200]);
  await scene.sql.query(`
    create function refuse_posting() returns trigger language plpgsql as
      $$ begin raise exception 'a bill that cannot be posted'; end $$;
    create trigger refusing before update on bills for each row
      when (new.tenant_id = ${run.tenantId} and new.status = 'Posted')
      execute function refuse_posting()`);
  await assert.rejects(post(run, termId), /post-bills failed/);
  await scene.sql.query('drop trigger refusing on bills');
  assert.deepEqual(await termOf(run, termId), ['Open', 'Posting']);
  await assertChecks(scene, run.tenantId);
  await run.client.cancelTerm({ data: { termID: termId, reason: 'It cannot be posted' } });
  assert.deepEqual(await termOf(run, termId), ['Cancelled', 'Cancelled']);
  await assertChecks(scene, run.tenantId);
  const { summary } = (await run.client.getBillTerm({ billTermID: termId })).data;
  const year = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year;
  assert.deepEqual(
    summary.retiredNumbers.map(({ first, last, count, reason }) => [first, last, count, reason]),
    [[`ELEC-${year}-000001`, `ELEC-${year}-000002`, 2, 'It cannot be posted']],
  );
  // The same days again, with the numbers that follow.
  const second = await addTerm(run, { label: 'Jul-2025 again' });
  await addSubscription(run, second, { ...copyOf(elecC, 7, 300), account: {} });
  await generate(run, second);
  await post(run, second, true);
  const numbers = (await billsOf(run, second)).flatMap((bill) => bill.billNumber ?? []);
  assert.ok(numbers.includes(`ELEC-${year}-000003`), numbers.join());
  await assertChecks(scene, run.tenantId);
});

test('50 clicks on generate and on post make one job each', async () => {
  const { run, termId } = await generated([10, 20]);
  for (const click of [() => generate(run, termId), () => post(run, termId)]) {
    const answers = await Promise.allSettled(Array.from({ length: 50 }, click));
    const done = answers.filter((answer) => answer.status === 'fulfilled');
    assert.ok(done.length >= 1);
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      const { error } = answer.reason as { error: { code: string } };
      assert.ok(['JOB_ALREADY_RUNNING', 'INVALID_STATE'].includes(error.code), error.code);
    }
  }
  const bills = await billsOf(run, termId);
  assert.deepEqual(
    bills.map((bill) => bill.status),
    ['Posted', 'Posted'],
  );
  await assertChecks(scene, run.tenantId);
});

test('verify names data that was changed by hand', async () => {
  const { run, termId } = await generated([100, 200]);
  await post(run, termId);
  const broken = async () =>
    (await resultsOf(scene, run.tenantId)).filter((one) => one.wrong > 0).map((one) => one.check);
  assert.deepEqual(await broken(), []);
  await rowsOf(
    run,
    'update subscription_balances set receivable = receivable + 1 where tenant_id = $1',
  );
  assert.deepEqual(await broken(), ['L5']);
  await rowsOf(
    run,
    'update subscription_balances set receivable = receivable - 1 where tenant_id = $1',
  );
  await rowsOf(run, 'update number_series set last_number = last_number + 1 where tenant_id = $1');
  assert.deepEqual(await broken(), ['L3']);
  await rowsOf(run, 'update number_series set last_number = last_number - 1 where tenant_id = $1');
  await rowsOf(
    run,
    `update subscriptions set billed_through = billed_through - 1 where tenant_id = $1`,
  );
  assert.deepEqual(await broken(), ['L2']);
  await rowsOf(
    run,
    `update subscriptions set billed_through = billed_through + 1 where tenant_id = $1`,
  );
  await scene.sql.query('alter table bill_contents disable trigger bill_contents_fixed');
  await rowsOf(
    run,
    `update bill_contents set document = replace(document::text, 'A. Khan', 'B. Khan')::json
     where tenant_id = $1 and bill_id = (select min(bill_id) from bills where tenant_id = $1)`,
  );
  await scene.sql.query('alter table bill_contents enable trigger bill_contents_fixed');
  assert.deepEqual(await broken(), ['L4']);
});

/** What posting changes of every bill, and not only where a wallet pays or it is due at once. */
const writtenColumns = ['status', 'bill_number', 'posting', 'modified_at', 'modified_by', 'ts'];

test('posting writes a bill in place on its page and touches none of its indexes', async () => {
  // Columns of keys, expressions and conditions alike.
  const { rows: columns } = await scene.sql.query<{ name: string }>(
    `select distinct a.attname as name
     from pg_index i
     join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where i.indrelid = 'bills'::regclass and d.refobjid = i.indrelid`,
  );
  const indexed = new Set(columns.map(({ name }) => name));
  assert.ok(indexed.has('review_status'));
  assert.deepEqual(
    writtenColumns.filter((name) => indexed.has(name)),
    [],
  );
  const { run, termId } = await generated(Array(20).fill(100));
  const places = () =>
    rowsOf(
      run,
      `select bill_id, (ctid::text::point)[0] as page from bills
       where tenant_id = $1 order by bill_id`,
    );
  const drafts = await places();
  await post(run, termId);
  assert.equal(drafts.length, 20);
  assert.deepEqual(await places(), drafts);
});
