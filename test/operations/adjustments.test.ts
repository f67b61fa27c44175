// Adjustments: what is charged, credited and written off beside bills.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

let references = 0;

type Adjustment = Parameters<Owing['client']['makeAdjustments']>[0]['adjustments'][number];

function adjust(place: Owing, adjustment: Omit<Adjustment, 'reference' | 'component' | 'reason'>) {
  references += 1;
  const usual = { reference: `A${references}`, component: 'fee', reason: 'test' };
  return place.client.makeAdjustments({ adjustments: [{ ...usual, ...adjustment }] });
}

test('a credit settles what is open, and the rest goes into the wallet; the next bill shows it', async () => {
  const place = await openOwing(scene, 'adjust-credit');
  const connectionNumber = await place.connectOld();
  await place.bill({ [connectionNumber]: 30 });
  await adjust(place, { connectionNumber, kind: 'Credit', amount: -50 });
  assert.deepEqual([await place.owed(), await place.wallet()], [0, 20]);
  const [next] = await place.bill({ [connectionNumber]: 100 });
  // 30 brought forward, nothing paid, 30 credited
  assert.deepEqual(
    [next?.previousBalance, next?.paymentsReceived, next?.adjustments, next?.arrears],
    [30, 0, -30, 0],
  );
  await assertChecks(scene, place.tenantId);
});

test('a debit is an open item of its own, and payments settle it by its date', async () => {
  const place = await openOwing(scene, 'adjust-debit');
  const connectionNumber = await place.connectOld();
  await adjust(place, { connectionNumber, kind: 'Debit', amount: 15.5, date: '01/07/2026' });
  await place.bill({ [connectionNumber]: 100 });
  const paymentID = await place.pay({ amount: 20 });
  const { data } = await place.client.getPayments({ paymentID });
  assert.deepEqual(
    data.payments[0]?.allocations?.map(({ kind, amount }) => [kind, amount]).sort(),
    [
      ['Adjustment', 15.5],
      ['Bill', 4.5],
    ],
  );
  await assertChecks(scene, place.tenantId);
});

test('no more than is open is written off, by decision or as a bad debt', async () => {
  const place = await openOwing(scene, 'adjust-write-off');
  const connectionNumber = await place.connectOld();
  const [bill] = await place.bill({ [connectionNumber]: 500 });
  for (const kind of ['WriteOff', 'BadDebt'] as const) {
    const over = adjust(place, { connectionNumber, kind, amount: -500.01 });
    await refuses(over, 'AMOUNT_ABOVE_OPEN', { statusCode: 422, field: 'adjustments[0].amount' });
  }
  await adjust(place, { connectionNumber, kind: 'BadDebt', amount: -200 });
  await adjust(place, { connectionNumber, kind: 'WriteOff', amount: -300 });
  assert.equal(await place.owed(), 0);
  const { data } = await place.client.getBills({ billID: bill?.billID ?? 0 });
  assert.equal(data.bills[0]?.paymentStatus, 'WrittenOff');
  const { data: ledger } = await place.client.getTrialBalance({});
  const badDebt = ledger.accounts.find((one) => one.accountCode === 'BAD_DEBT');
  assert.equal(badDebt?.balance, 500);
  await assertChecks(scene, place.tenantId);
});

test('the sign of an amount belongs to its kind; what is unknown is refused; nothing is stored', async () => {
  const place = await openOwing(scene, 'adjust-refused');
  const connectionNumber = await place.connectOld();
  for (const [kind, amount] of [
    ['Credit', 10],
    ['WriteOff', 10],
    ['Debit', -10],
    ['Debit', 0],
  ] as const) {
    const call = adjust(place, { connectionNumber, kind, amount });
    await refuses(call, 'INVALID_NUMBER', { statusCode: 400, field: 'adjustments[0].amount' });
  }
  const unknown = adjust(place, { connectionNumber: 'X', kind: 'Debit', amount: 1 });
  await refuses(unknown, 'SUBSCRIPTION_NOT_FOUND', { field: 'adjustments[0].connectionNumber' });
  const late = adjust(place, { connectionNumber, kind: 'Debit', amount: 1, date: '01/01/2050' });
  await refuses(late, 'DATE_IN_FUTURE', { field: 'adjustments[0].date' });
  assert.equal(await place.owed(), 0);
});

test('cancelling a bill that was credited by an adjustment credits the rest', async () => {
  const place = await openOwing(scene, 'adjust-cancel');
  const connectionNumber = await place.connectOld();
  const [bill] = await place.bill({ [connectionNumber]: 100 });
  const billID = bill?.billID ?? 0;
  await adjust(place, { connectionNumber, kind: 'Credit', amount: -40 });
  await place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  const { data } = await place.client.getCreditNotes({ billID });
  assert.deepEqual([data.creditNotes[0]?.amount, await place.owed()], [60, 0]);
  await assertChecks(scene, place.tenantId);
});
