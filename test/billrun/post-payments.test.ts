// Step 7: what wallets pay and which deposits are demanded when bills are posted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { cancelTermStep } from '../../src/billrun/cancel-term.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import { unpostBillsStep } from '../../src/billrun/unpost.ts';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  type ShownBill,
  unpost,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { makeFullTerm } from '../support/full-term.ts';
import { balances, cents, elec, elecC, generated } from '../support/generated-term.ts';
import { readNext } from '../support/meter-rows.ts';
import { termID } from '../support/residential-rows.ts';
import { prepareStep, runStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

test('wallets pay bills as they are posted, as far as they go, oldest bill first', async () => {
  const { run, termId } = await generated(scene, [100, 100, 100]);
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
  const [party] = await rowsOf<{ balance: string }>(
    run,
    'select balance from party_wallets where tenant_id = $1',
  );
  assert.equal(party?.balance, '0');
  await assertChecks(scene, run.tenantId);
});

test('a wallet pays the oldest bill first, whichever part of the term is posted first', async () => {
  // One more than goes into a part.
  const { workspace, tenantId } = await makeFullTerm(
    scene,
    scene.baseUrl,
    'post-wallet-parts',
    1_001,
  );
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
      'select balance::integer as wallet from party_wallets where tenant_id = $1 and party_id = 1',
      [tenantId],
    );
    assert.deepEqual(party.rows, [{ wallet: one + three + 500 }]);
    await assertChecks(scene, tenantId);
  });
});

test('a context may leave wallets alone; prepaid bills are due at once', async () => {
  const left = await generated(scene, [100], { changed: { autoApplyWallet: 0 } });
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

test('payments after generation are on the next bills, and wallets pay with their balance at posting', async () => {
  const { run, termId, subscriptions } = await generated(scene, [100]);
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
