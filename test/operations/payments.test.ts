// Payments: what they settle by each method, what goes into the wallet, what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

test('Chronology pays the oldest bills first; nothing is left for the wallet', async () => {
  const place = await openOwing(scene, 'pay-chronology');
  const number = await place.connectOld();
  for (const amount of [3000, 4000, 5000]) await place.bill({ [number]: amount });
  await place.pay({ amount: 8500 });
  // 3,000 + 4,000 + 1,500 of 5,000
  assert.deepEqual(await place.left(), [0, 0, 3500]);
  assert.equal(await place.wallet(), 0);
  await assertChecks(scene, place.tenantId);
});

test('Latest First pays the newest due date first', async () => {
  const place = await openOwing(scene, 'pay-latest', { paymentSettlementMethod: 'Latest First' });
  const number = await place.connectOld();
  for (const amount of [100, 100]) await place.bill({ [number]: amount });
  await place.pay({ amount: 150 });
  // July 100, June 50
  assert.deepEqual(await place.left(), [50, 0]);
  await assertChecks(scene, place.tenantId);
});

test('Proportional gives each bill its floor, and the rest by one unit, the largest first', async () => {
  const place = await openOwing(scene, 'pay-shares', { paymentSettlementMethod: 'Proportional' });
  const number = await place.connectOld();
  for (const amount of [100, 200, 300]) await place.bill({ [number]: amount });
  const paymentID = await place.pay({ amount: 100 });
  const { data } = await place.client.getPayments({ paymentID });
  // 16.66, 33.33 and 50.00 are the floors; 0.01 is left for the largest.
  assert.deepEqual(
    data.payments[0]?.allocations?.map((one) => one.amount),
    [16.66, 33.33, 50.01],
  );
  await assertChecks(scene, place.tenantId);
});

test('Manual puts everything into the wallet; settle-wallet uses it', async () => {
  const place = await openOwing(scene, 'pay-manual', { paymentSettlementMethod: 'Manual' });
  const number = await place.connectOld();
  await place.bill({ [number]: 100 });
  await place.pay({ amount: 150 });
  assert.deepEqual([await place.wallet(), await place.left()], [150, [100]]);
  const partyID = 1;
  const { message } = await place.client.settleWallet({ data: { partyID } });
  assert.equal(message, 'PKR 100.00 of the wallet settled open items');
  assert.deepEqual([await place.wallet(), await place.left()], [50, [0]]);
  const again = await place.client.settleWallet({ data: { partyID } });
  assert.equal(again.message, 'Nothing was settled');
  await assertChecks(scene, place.tenantId);
});

test('an allocation wins over the method, and its rest goes into the wallet', async () => {
  const place = await openOwing(scene, 'pay-allocated');
  const number = await place.connectOld();
  await place.bill({ [number]: 300 });
  const [second] = await place.bill({ [number]: 200 });
  const billID = second?.billID ?? 0;
  const over = place.pay({ amount: 300.01, allocations: [{ billID, amount: 200.01 }] });
  await refuses(over, 'OVER_ALLOCATED', { statusCode: 422 });
  const { data: none } = await place.client.getPayments({});
  assert.deepEqual(none.payments, []);
  await place.pay({ amount: 250, allocations: [{ billID, amount: 200 }] });
  assert.deepEqual([await place.left(), await place.wallet()], [[300, 0], 50]);
  await assertChecks(scene, place.tenantId);
});

test("another party's bill cannot be allocated to", async () => {
  const place = await openOwing(scene, 'pay-other');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 300 });
  const partyNumber = await newParty(place.client, 'Other');
  const allocations = [{ billID: bill?.billID ?? 0, amount: 100 }];
  const foreign = place.pay({ partyNumber, amount: 100, allocations });
  const field = 'payments[0].allocations[0].billID';
  await refuses(foreign, 'BILL_OF_OTHER_PARTY', { statusCode: 422, field });
  assert.equal(await place.wallet(partyNumber), 0);
});

test('a reference is taken once for ever, whoever names the payer and how', async () => {
  const place = await openOwing(scene, 'pay-once');
  const number = await place.connectOld();
  await place.bill({ [number]: 100 });
  const sent = { reference: 'BANK-1', amount: 60 };
  const first = await place.pay({ ...sent, connectionNumber: number });
  assert.equal(await place.pay({ ...sent, paymentMethod: 'Bank' }), first);
  assert.deepEqual(await place.left(), [40]);
  await refuses(place.pay({ ...sent, amount: 61 }), 'DUPLICATE', { statusCode: 409 });
  const partyNumber = await newParty(place.client, 'Other');
  await refuses(place.pay({ ...sent, partyNumber }), 'DUPLICATE', { statusCode: 409 });
  await place.client.reversePayment({ data: { paymentID: first, reason: 'Bounced' } });
  assert.equal(await place.pay({ ...sent, connectionNumber: number }), first);
  const { data } = await place.client.getPayments({ paymentID: first });
  assert.equal(data.payments[0]?.status, 'Reversed');
  assert.deepEqual([await place.left(), await place.wallet()], [[100], 0]);
  await assertChecks(scene, place.tenantId);
});

test('a credit of the subscription is used before money', async () => {
  const place = await openOwing(scene, 'pay-credit');
  const number = await place.connectOld();
  await place.bill({ [number]: -50 });
  const [bill] = await place.bill({ [number]: 120 });
  await place.pay({ amount: 70 });
  // 120 - 50 = 70
  assert.deepEqual([await place.left(), await place.owed(), await place.wallet()], [[0, 0], 0, 0]);
  const { data } = await place.client.getBills({ billID: bill?.billID ?? 0 });
  assert.equal(data.bills[0]?.paymentStatus, 'Paid');
  await assertChecks(scene, place.tenantId);
});

test('a bill of several subscriptions is paid in the order of ids, the named one first', async () => {
  for (const [named, left] of [
    [false, [0, 30]],
    [true, [30, 0]],
  ] as const) {
    const postType = 'Post Account';
    const place = await openOwing(scene, `pay-several-${named}`, { postType });
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const [s1, s2] = [await place.connectOld({ users }), await place.connectOld({ users })];
    await place.bill({ [s1]: 60, [s2]: 40 });
    await place.pay(named ? { amount: 70, connectionNumber: s2 } : { amount: 70 });
    const shares = await Promise.all(
      [s1, s2].map(async (connectionNumber) => {
        const { data } = await place.client.getConnections({ connectionNumber });
        return data.connections[0]?.accounts?.find((one) => one.title === 'Receivable')?.balance;
      }),
    );
    assert.deepEqual(shares, left);
    await assertChecks(scene, place.tenantId);
  }
});

test('a transfer that leaves the balance: each owner pays own bills', async () => {
  const place = await openOwing(scene, 'pay-handed-over');
  const connectionNumber = await place.connectOld();
  const [first] = await place.bill({ [connectionNumber]: 100 });
  const toPartyNumber = await newParty(place.client, 'Next');
  await place.client.transferConnection({
    data: {
      connectionNumber,
      transferDate: '01/08/2026',
      toPartyNumber,
      balanceHandling: 'StayWithOld',
    },
  });
  await place.bill({ [connectionNumber]: 200 });
  await place.pay({ connectionNumber, amount: 200 });
  assert.deepEqual(await place.left(), [100, 0]);
  await place.pay({ billRefNo: first?.billRefNo ?? '', amount: 100 });
  assert.deepEqual(await place.left(), [0, 0]);
  await assertChecks(scene, place.tenantId);
});

test('a reversal opens the bill again; what the wallet had paid of others is undone first', async () => {
  const place = await openOwing(scene, 'pay-bounced', { autoApplyWallet: 1 });
  const number = await place.connectOld();
  await place.bill({ [number]: 100 });
  const paymentID = await place.pay({ amount: 180 });
  assert.deepEqual([await place.left(), await place.wallet()], [[0], 80]);
  // The wallet pays 50 of the next bill: 30 are left in it.
  await place.bill({ [number]: 50 });
  assert.deepEqual([await place.left(), await place.wallet()], [[0, 0], 30]);
  const data = { paymentID, reason: 'Bounced', chargeComponent: 'fee', chargeAmount: 10 };
  await place.client.reversePayment({ data });
  // 100 and 50 are open again, and 10 for the cheque.
  assert.deepEqual(
    [await place.left(), await place.owed(), await place.wallet()],
    [[100, 50], 160, 0],
  );
  await refuses(place.client.reversePayment({ data }), 'ALREADY_REVERSED', { statusCode: 409 });
  await assertChecks(scene, place.tenantId);
});

test('two reversals undo two uses of the wallet, each once', async () => {
  const place = await openOwing(scene, 'pay-two-bounced', { autoApplyWallet: 1 });
  const number = await place.connectOld();
  const payments = [await place.pay({ amount: 60 }), await place.pay({ amount: 60 })];
  await place.bill({ [number]: 50 });
  await place.bill({ [number]: 50 });
  assert.deepEqual([await place.left(), await place.wallet()], [[0, 0], 20]);
  const reverse = (paymentID = 0) =>
    place.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await reverse(payments[0]);
  // 60 = 20 of the wallet + 40 of the newest use
  assert.deepEqual([await place.left(), await place.wallet()], [[0, 40], 0]);
  await reverse(payments[1]);
  // 60 = 10 that are left of the newest use + 50 of the one before
  assert.deepEqual([await place.left(), await place.owed()], [[50, 50], 100]);
  const { data } = await place.client.getPayments({});
  assert.deepEqual(
    data.payments.map(({ status, allocations }) => [status, allocations]),
    [
      ['Reversed', []],
      ['Reversed', []],
    ],
  );
  await assertChecks(scene, place.tenantId);
});

test('a bill whose payment was reversed is cancelled, and the wallet gets nothing', async () => {
  const place = await openOwing(scene, 'pay-cancelled');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const paymentID = await place.pay({ amount: 100 });
  await place.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await place.client.cancelBill({ data: { billID: bill?.billID ?? 0, reason: 'Wrong' } });
  assert.deepEqual([await place.owed(), await place.wallet()], [0, 0]);
  await assertChecks(scene, place.tenantId);
});

test('a bill below zero that has paid others is not cancelled', async () => {
  const place = await openOwing(scene, 'pay-used-credit');
  const number = await place.connectOld();
  const [credit] = await place.bill({ [number]: -50 });
  const [bill] = await place.bill({ [number]: 120 });
  await place.pay({ amount: 70 });
  const cancel = (billID = 0) => place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  await refuses(cancel(credit?.billID), 'INVALID_STATE', { statusCode: 409 });
  await cancel(bill?.billID);
  // 70 that was paid, and 50 of the credit
  assert.deepEqual([await place.owed(), await place.wallet()], [0, 120]);
  await assertChecks(scene, place.tenantId);
});

test('of two refunds at once that a wallet cannot both pay, one is made', async () => {
  const place = await openOwing(scene, 'pay-refunds');
  await place.connectOld();
  await place.pay({ amount: 100 });
  const refund = (reference: string) =>
    place.client.refundPayment({
      data: { partyID: 1, amount: 80, reference, paymentMethod: 'Bank' },
    });
  const done = await Promise.allSettled([refund('F1'), refund('F2')]);
  assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(await place.wallet(), 20);
  const { data } = await place.client.getPayments({ status: 'Refunded' });
  assert.deepEqual(
    data.payments.map(({ amount, direction, walletAmount }) => [amount, direction, walletAmount]),
    [[80, 'Out', -80]],
  );
  await assertChecks(scene, place.tenantId);
});

test('a payment with bad input is refused with its field, and nothing is stored', async () => {
  const place = await openOwing(scene, 'pay-refused');
  const connectionNumber = await place.connectOld();
  const cases = [
    [{ amount: 0 }, 'INVALID_NUMBER', 'payments[0].amount'],
    [{ amount: -5 }, 'INVALID_NUMBER', 'payments[0].amount'],
    [{ amount: 1.234 }, 'INVALID_NUMBER', 'payments[0].amount'],
    [{ amount: 5, currency: 'USD' }, 'CURRENCY_MISMATCH', 'payments[0].currency'],
    [{ amount: 5, partyNumber: 999 }, 'PARTY_NOT_FOUND', 'payments[0].partyNumber'],
    [
      { amount: 5, connectionNumber: 'X' },
      'SUBSCRIPTION_NOT_FOUND',
      'payments[0].connectionNumber',
    ],
    [{ amount: 5, billRefNo: '123' }, 'BILL_NOT_FOUND', 'payments[0].billRefNo'],
    [
      { amount: 5, partyNumber: place.party, connectionNumber },
      'REQUIRED_FIELD',
      'payments[0].partyNumber',
    ],
    [{ amount: 5, paymentDate: '01/01/2050' }, 'DATE_IN_FUTURE', 'payments[0].paymentDate'],
  ] as const;
  for (const [payment, code, field] of cases) {
    await refuses(place.pay(payment), code, { field });
  }
  const { data } = await place.client.getPayments({});
  assert.deepEqual(data.payments, []);
});
