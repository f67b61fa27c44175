// Debts that were written off, and paid later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

let references = 0;

async function writeOff(place: Owing, connectionNumber: string, amount: number): Promise<void> {
  references += 1;
  const wanted = { reference: `W${references}`, connectionNumber, component: 'fee' };
  await place.client.makeAdjustments({
    adjustments: [{ ...wanted, kind: 'WriteOff', amount: -amount, reason: 'Gone away' }],
  });
}

/** What is open, in the wallet, and lost. */
async function balances(place: Owing): Promise<(number | undefined)[]> {
  const { data } = await place.client.getTrialBalance({});
  const lost = data.accounts.find((one) => one.accountCode === 'BAD_DEBT')?.balance;
  return [await place.owed(), await place.wallet(), lost];
}

async function partsOf(place: Owing, paymentID: number) {
  const { data } = await place.client.getPayments({ paymentID });
  const [payment] = data.payments;
  const allocated = payment?.allocations?.reduce((sum, one) => sum + one.amount, 0);
  return [allocated, payment?.recoveredAmount, payment?.walletAmount];
}

test('a payment settles what is open, recovers what was written off, and a reversal undoes both', async () => {
  const place = await openOwing(scene, 'recover-payment');
  const number = await place.connectOld();
  await place.bill({ [number]: 500 });
  await writeOff(place, number, 300);
  assert.deepEqual(await balances(place), [200, 0, 300]);
  const paymentID = await place.pay({ amount: 600 });
  // 200 + 300 + 100
  assert.deepEqual(await partsOf(place, paymentID), [200, 300, 100]);
  assert.deepEqual(await balances(place), [0, 100, 0]);
  // Everything is recovered: the next payment is for the wallet.
  assert.deepEqual(await partsOf(place, await place.pay({ amount: 50 })), [0, 0, 50]);
  await place.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  assert.deepEqual(await balances(place), [200, 50, 300]);
  assert.deepEqual(await partsOf(place, await place.pay({ amount: 230 })), [200, 30, 0]);
  await assertChecks(scene, place.tenantId);
});

test('payments at the same moment recover no more than was written off', async () => {
  const place = await openOwing(scene, 'recover-race');
  const number = await place.connectOld();
  await place.bill({ [number]: 100 });
  await writeOff(place, number, 100);
  await Promise.all([40, 40, 40, 40].map((amount) => place.pay({ amount })));
  // 4 * 40 = 100 + 60
  assert.deepEqual(await balances(place), [0, 60, 0]);
  await assertChecks(scene, place.tenantId);
});

test('an allocation, the method Manual and a cancelled bill recover nothing', async () => {
  const place = await openOwing(scene, 'recover-nothing');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  await writeOff(place, number, 60);
  const allocated = await place.pay({ amount: 50, allocations: [{ billID, amount: 30 }] });
  assert.deepEqual(await partsOf(place, allocated), [30, 0, 20]);
  await place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  assert.deepEqual(await partsOf(place, await place.pay({ amount: 10 })), [0, 0, 10]);
  const manual = await openOwing(scene, 'recover-manual', { paymentSettlementMethod: 'Manual' });
  const other = await manual.connectOld();
  await manual.bill({ [other]: 100 });
  await writeOff(manual, other, 100);
  assert.deepEqual(await partsOf(manual, await manual.pay({ amount: 10 })), [0, 0, 10]);
  await assertChecks(scene, place.tenantId);
});
