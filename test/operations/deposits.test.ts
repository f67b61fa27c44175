// Security deposits that are demanded, paid, held, applied and paid back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

function demand(place: Owing, connectionNumber: string, amount: number, reference: string) {
  const data = { connectionNumber, amount, reference, reason: 'Paid late' };
  return place.client.demandDeposit({ data: { ...data, dueDate: '31/08/2026' } });
}

/** What is demanded, paid, open and held. */
async function deposits(place: Owing, connectionNumber: string) {
  const { data } = await place.client.getDeposits({ connectionNumber });
  return data.deposits.map((one) => [
    one.amount,
    one.paidAmount,
    one.outstandingAmount,
    one.heldAmount,
  ]);
}

async function balance(place: Owing, code: string) {
  const { data } = await place.client.getTrialBalance({});
  return data.accounts.find((one) => one.accountCode === code)?.balance;
}

test('a demanded deposit is an open item, held once it is paid, and refunded once', async () => {
  const place = await openOwing(scene, 'deposit-demand');
  const number = await place.connectOld();
  await demand(place, number, 500, 'D1');
  await demand(place, number, 500, 'D1');
  assert.deepEqual([await place.owed(), await deposits(place, number)], [500, [[500, 0, 500, 0]]]);
  const other = demand(place, number, 400, 'D1');
  await refuses(other, 'DUPLICATE', { statusCode: 409, field: 'data.reference' });
  await place.pay({ amount: 300 });
  assert.deepEqual(await deposits(place, number), [[500, 300, 200, 300]]);
  const refund = { connectionNumber: number, reference: 'DR1', reason: 'Paid in time' };
  const above = place.client.refundDeposit({ data: { ...refund, amount: 300.01 } });
  await refuses(above, 'AMOUNT_ABOVE_OPEN', { statusCode: 422, field: 'data.amount' });
  const two = [250, 250].map((amount) =>
    place.client.refundDeposit({ data: { ...refund, amount } }),
  );
  await Promise.all(two);
  // 300 taken and 250 paid back
  assert.deepEqual([await balance(place, 'CASH'), await balance(place, 'DEPOSIT')], [50, -250]);
  assert.deepEqual(await deposits(place, number), [[500, 300, 200, 50]]);
  const { data } = await place.client.getPayments({ reference: 'DR1' });
  assert.deepEqual([data.payments[0]?.status, data.payments[0]?.amount], ['Refunded', 250]);
  await assertChecks(scene, place.tenantId);
});

test('a deposit that a cheque paid is refunded only after the bank has paid the cheque', async () => {
  const place = await openOwing(scene, 'deposit-cheque');
  const number = await place.connectOld();
  await demand(place, number, 100, 'D2');
  await place.pay({ amount: 30 });
  const cheque = { paymentMethod: 'Cheque', chequeNumber: '000452', amount: 70 } as const;
  const paymentID = await place.pay(cheque);
  const refund = (amount: number, reference: string) => {
    const data = { connectionNumber: number, amount, reference, reason: 'Paid in time' };
    return place.client.refundDeposit({ data });
  };
  // 100 are held, 70 of them uncleared.
  await refuses(refund(31, 'DR2'), 'NOT_CLEARED', { statusCode: 422, field: 'data.amount' });
  await refund(30, 'DR3');
  await place.client.clearPayment({ data: { paymentID } });
  await refund(70, 'DR4');
  assert.equal(await balance(place, 'DEPOSIT'), 0);
});

test('closing takes back what was not paid of a deposit, and applies the rest to the oldest bill', async () => {
  const place = await openOwing(scene, 'deposit-closing');
  const number = await place.connectOld();
  await demand(place, number, 500, 'D2');
  await place.bill({ [number]: 100 });
  // The bill is due on 15/08 and the deposit on 31/08: 100 and 250 of 500.
  await place.pay({ amount: 350 });
  assert.deepEqual(await deposits(place, number), [[500, 250, 250, 250]]);
  await place.bill({ [number]: 80 });
  const data = { connectionNumber: number, effectiveDate: '01/09/2026' };
  await place.client.disconnectConnection({ data });
  await place.client.closeConnection({
    data: { connectionNumber: number, depositHandling: 'ApplyToBalance' },
  });
  // 250 held - 80
  assert.deepEqual([await place.owed(), await place.wallet()], [0, 170]);
  assert.deepEqual(await balance(place, 'DEPOSIT'), 0);
  const late = demand(place, number, 10, 'D3');
  await refuses(late, 'INVALID_STATE', { statusCode: 409, field: 'data.connectionNumber' });
  await assertChecks(scene, place.tenantId);
});

test('a refund of a deposit above the approval limit waits for a second person', async () => {
  const place = await openOwing(scene, 'deposit-approval');
  const number = await place.connectOld();
  await place.client.updateSettings({ data: { approvalLimit: 100 } });
  await demand(place, number, 500, 'D4');
  await place.pay({ amount: 500 });
  const refund = { connectionNumber: number, reference: 'DR4', reason: 'Moved away' };
  const above = place.client.refundDeposit({ data: { ...refund, amount: 200 } });
  await refuses(above, 'APPROVAL_REQUIRED', { statusCode: 409 });
  const second = await scene.loginAs(place.client, ['Billing Manager']);
  const { data } = await second.getApprovals({ status: 'Waiting' });
  const approvalID = data.approvals[0]?.approvalID ?? 0;
  await second.decideApproval({ data: { approvalID, decision: 'Approve', reason: 'Agreed' } });
  assert.deepEqual(await deposits(place, number), [[500, 500, 0, 300]]);
});
