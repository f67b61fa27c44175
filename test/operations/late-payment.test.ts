// Late payment: the surcharge after the deadline, payments that cover it, and how it is taken back.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Late, openLate as openPlace } from '../support/late.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const places: Late[] = [];

async function openLate(...[workspace, year, service]: Story): Promise<Late> {
  const place = await openPlace(scene, workspace, year, service);
  places.push(place);
  return place;
}
type Story = [workspace: string, year: number, service?: Record<string, unknown>];

after(async () => {
  for (const { tenantId } of places) await assertChecks(scene, tenantId);
});

test('a payment at 00:20, before the surcharge of that night, pays everything in time', async () => {
  const place = await openLate('late-early', 2027);
  const first = await place.bill(1_249.6, '15/08');
  const second = await place.bill(13_592.4, '15/08');
  await place.on('16/08 00:20');
  assert.equal((await place.shown(second)).paymentStatus, 'Overdue');
  await place.pay(16_201);
  // 16,201 - 1,249.60 - 13,592.40 = 1,359.
  assert.deepEqual(await place.money(), { owed: 0, wallet: 1_359 });
  await place.on('16/08 00:31');
  assert.deepEqual(await place.money(), { owed: 0, wallet: 1_359 });
  for (const bill of [first, second]) {
    const shown = await place.shown(bill);
    assert.deepEqual([shown.paymentStatus, shown.outstandingAmount], ['Paid', 0]);
    assert.deepEqual(
      shown.surcharges.map((one) => one.surchargeID),
      [undefined],
      'printed and not posted',
    );
  }
});

test('a bill is surcharged once, on the night after its deadline', async () => {
  const place = await openLate('late-once', 2028, { graceDays: 2 });
  const bill = await place.bill(1_000, '15/08');
  await place.on('17/08 12:00');
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 0 }, 'two days of grace');
  await place.on('18/08 00:29');
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 0 });
  await place.on('18/08 00:31');
  await place.on('20/08');
  // 1,000 + 10 % of it.
  assert.deepEqual(await place.money(), { owed: 1_100, wallet: 0 });
  const shown = await place.shown(bill);
  assert.deepEqual([shown.paymentStatus, shown.outstandingAmount], ['Overdue', 1_000]);
  const [surcharge, ...others] = shown.surcharges;
  assert.deepEqual(
    [surcharge?.date, surcharge?.amount, surcharge?.paidAmount, surcharge?.outstandingAmount],
    ['18/08/2028', 100, 0, 100],
  );
  assert.equal(others.length, 0);
  assert.ok(surcharge?.surchargeID);

  // 100 for the surcharge, then 300 of 1,000.
  const paymentID = await place.pay(400);
  const { data } = await place.client.getPayments({ paymentID });
  assert.deepEqual(
    data.payments[0]?.allocations?.map((one) => [one.billID, one.amount, one.surchargeAmount]),
    [[bill.billID, 400, 100]],
  );
  const partly = await place.shown(bill);
  assert.deepEqual(
    [partly.paymentStatus, partly.paidAmount, partly.outstandingAmount],
    ['Overdue', 300, 700],
  );
  assert.deepEqual(
    partly.surcharges.map((one) => [one.paidAmount, one.outstandingAmount]),
    [[100, 0]],
  );
  await place.pay(700);
  assert.equal((await place.shown(bill)).paymentStatus, 'Paid');
  await place.client.reversePayment({ data: { paymentID, reason: 'bounced' } });
  const restored = await place.shown(bill);
  // 300 of the bill and 100 of the surcharge are owed again.
  assert.deepEqual([restored.paymentStatus, restored.outstandingAmount], ['Overdue', 300]);
  assert.deepEqual(await place.money(), { owed: 400, wallet: 0 });
});

test('999.99 of 1,000 paid: 100 on the basis BillAmount, nothing on UnpaidAmount', async () => {
  const all = await openLate('late-bill-amount', 2029);
  await all.bill(1_000, '15/08');
  await all.pay(999.99);
  await all.on('16/08');
  assert.deepEqual(await all.money(), { owed: 100.01, wallet: 0 });

  const open = await openLate('late-unpaid', 2030, { lateFeeBasis: 'UnpaidAmount' });
  await open.bill(1_000, '15/08');
  await open.pay(999.99);
  await open.on('16/08');
  // 10 % of 0.01, rounded to the unit.
  assert.deepEqual(await open.money(), { owed: 0.01, wallet: 0 });
  await open.bill(1_000, '15/09');
  // 0.01 of the older bill; of this one 455 are paid, and 10 % of 545 is 54.50.
  await open.pay(455.01);
  await open.on('16/09');
  assert.deepEqual(await open.money(), { owed: 545 + 55, wallet: 0 });
});

test('cancelling a surcharged bill takes the surcharge away; what was paid is in the wallet', async () => {
  const place = await openLate('late-cancelled', 2031);
  const { billID } = await place.bill(1_000, '15/08');
  await place.on('16/08');
  // 100 of the surcharge, 300 of the bill.
  await place.pay(400);
  assert.deepEqual(await place.money(), { owed: 700, wallet: 0 });
  await place.client.cancelBill({ data: { billID, reason: 'wrong meter' } });
  assert.deepEqual(await place.money(), { owed: 0, wallet: 400 });
});

test('600 of 1,000 dated in time leave the surcharge: 100 to it, 500 to the bill', async () => {
  const place = await openLate('late-part-in-time', 2032);
  const bill = await place.bill(1_000, '15/08');
  await place.on('18/08');
  assert.deepEqual(await place.money(), { owed: 1_100, wallet: 0 });
  const paymentID = await place.pay(600, '14/08');
  const { data } = await place.client.getPayments({ paymentID });
  assert.deepEqual(
    data.payments[0]?.allocations?.map((one) => [one.amount, one.surchargeAmount]),
    [[600, 100]],
  );
  assert.equal((await place.shown(bill)).outstandingAmount, 500);
  assert.deepEqual(await place.money(), { owed: 500, wallet: 0 });
});

test('a payment dated in time that covers the bill takes the surcharge back', async () => {
  const place = await openLate('late-in-time', 2033);
  const bill = await place.bill(1_000, '15/08');
  await place.pay(300);
  await place.on('18/08');
  // 50 of the surcharge were paid since.
  await place.pay(50);
  assert.deepEqual(await place.money(), { owed: 1_000 - 300 + 100 - 50, wallet: 0 });
  await place.pay(699.99, '15/08');
  // It did not cover the 700 that were open then: 50 to the surcharge, 649.99 to the bill.
  assert.deepEqual(await place.money(), { owed: 50.01, wallet: 0 });
  await place.pay(50.01, '15/08');
  // With 699.99 before it did: the 100 that were paid of the surcharge are in the wallet.
  const shown = await place.shown(bill);
  assert.deepEqual([shown.paymentStatus, shown.surcharges], ['Paid', []]);
  assert.deepEqual(await place.money(), { owed: 0, wallet: 100 });
  await place.on('20/08');
  assert.deepEqual(await place.money(), { owed: 0, wallet: 100 }, 'it is not surcharged again');
});

test('a surcharge that is waived is gone, what was paid of it is in the wallet, and it stays so', async () => {
  const place = await openLate('late-waived', 2034);
  const bill = await place.bill(1_000, '15/08');
  await place.on('16/08');
  await place.pay(60);
  // The surcharge of 100 comes before the bill.
  assert.deepEqual(await place.money(), { owed: 1_040, wallet: 0 });
  const data = { billID: bill.billID, reason: 'The bank was closed' };
  await place.client.waiveSurcharge({ data });
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 60 });
  await refuses(place.client.waiveSurcharge({ data }), 'INVALID_STATE', { statusCode: 409 });
  await place.on('18/08');
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 60 });
});

test('a disputed bill is not surcharged until the dispute is rejected', async () => {
  const place = await openLate('late-disputed', 2035);
  const bill = await place.bill(1_000, '15/08');
  const disputes = [{ billID: bill.billID, amount: 1_000, reason: 'Not mine' }];
  const { headers } = await place.client.makeDisputes({ disputes });
  const disputeID = Number(headers.get('x-resource-id'));
  await place.on('20/08');
  assert.deepEqual(await place.money(), { owed: 0, wallet: 0 });
  await place.client.resolveDispute({ data: { disputeID, outcome: 'Rejected' } });
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 0 });
  await place.on('21/08');
  const { paymentStatus, dueDate } = await place.shown(bill);
  assert.deepEqual([paymentStatus, dueDate], ['Overdue', bill.dueDate]);
  assert.deepEqual(await place.money(), { owed: 1_100, wallet: 0 });
});
