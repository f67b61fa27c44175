// Disputes: amounts that customers do not accept, until they are resolved.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

async function dispute(place: Owing, billID: number, amount: number): Promise<number> {
  const disputes = [{ billID, amount, reason: 'Not my usage' }];
  const { headers } = await place.client.makeDisputes({ disputes });
  return Number(headers.get('x-resource-id'));
}

/** What is receivable and what is disputed of the subscription. */
async function accounts(place: Owing, connectionNumber: string) {
  const { data } = await place.client.getConnections({ connectionNumber });
  const of = (title: string) =>
    data.connections[0]?.accounts?.find((one) => one.title === title)?.balance;
  return [of('Receivable'), of('Disputed')];
}

test('what is in dispute is not settled, and is owed again with its due date when rejected', async () => {
  const place = await openOwing(scene, 'dispute-rejected');
  const number = await place.connectOld();
  const [first] = await place.bill({ [number]: 100 });
  await place.bill({ [number]: 50 });
  const disputeID = await dispute(place, first?.billID ?? 0, 70);
  assert.deepEqual(await accounts(place, number), [80, 70]);
  // 30 of the first bill, 50 of the second, 20 are left
  await place.pay({ amount: 100 });
  assert.deepEqual([await place.left(), await place.wallet()], [[0, 0], 20]);
  await place.client.resolveDispute({ data: { disputeID, outcome: 'Rejected', remark: 'Read' } });
  assert.deepEqual(await accounts(place, number), [70, 0]);
  const { data: bills } = await place.client.getBills({ billID: first?.billID ?? 0 });
  const [bill] = bills.bills;
  assert.deepEqual(
    [bill?.outstandingAmount, bill?.dueDate, bill?.paymentStatus],
    [70, first?.dueDate, 'PartiallyPaid'],
  );
  const { data } = await place.client.getDisputes({ billID: first?.billID ?? 0 });
  const [shown] = data.disputes;
  assert.deepEqual(
    [shown?.status, shown?.amount, shown?.remark, shown?.creditNoteNumber],
    ['Rejected', 70, 'Read', null],
  );
  await assertChecks(scene, place.tenantId);
});

test('a dispute that is upheld makes a credit note, and is resolved once', async () => {
  const place = await openOwing(scene, 'dispute-upheld');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  const disputeID = await dispute(place, billID, 40);
  await place.pay({ amount: 60 });
  const data = { disputeID, outcome: 'Upheld' } as const;
  const both = [data, { ...data, outcome: 'Rejected' as const }];
  const results = await Promise.allSettled(
    both.map((one) => place.client.resolveDispute({ data: one })),
  );
  assert.equal(results.filter((one) => one.status === 'fulfilled').length, 1);
  await refuses(place.client.resolveDispute({ data }), 'INVALID_STATE', { statusCode: 409 });
  const { data: listed } = await place.client.getDisputes({ disputeID });
  const isUpheld = listed.disputes[0]?.status === 'Upheld';
  const { data: notes } = await place.client.getCreditNotes({ billID });
  const amounts = notes.creditNotes.map((one) => one.amount);
  assert.deepEqual(amounts, isUpheld ? [40] : []);
  assert.equal(
    notes.creditNotes[0]?.creditNoteNumber,
    listed.disputes[0]?.creditNoteNumber ?? undefined,
  );
  assert.deepEqual(await accounts(place, number), [isUpheld ? 0 : 40, 0]);
  await assertChecks(scene, place.tenantId);
});

test('a bill in dispute is not overdue and is left out of the aging, and cancelling it is refused', async () => {
  const place = await openOwing(scene, 'dispute-late');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  // As the nightly job does.
  await scene.sql.query(
    `update bills set status = 'Published', issue_date = '2026-08-01', overdue_on = '2026-09-01'
     where tenant_id = $1 and bill_id = $2`,
    [place.tenantId, billID],
  );
  const status = async () => {
    const { data } = await place.client.getBills({ billID });
    return data.bills[0]?.paymentStatus;
  };
  assert.equal(await status(), 'Overdue');
  const disputeID = await dispute(place, billID, 100);
  assert.equal(await status(), 'Unpaid');
  const { data } = await place.client.getStatement({ connectionNumber: number });
  assert.deepEqual([data.closingBalance, data.disputedBalance, data.aging.over90], [0, 100, 0]);
  const cancelled = place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  await refuses(cancelled, 'INVALID_STATE', { statusCode: 409 });
  await place.client.resolveDispute({ data: { disputeID, outcome: 'Rejected' } });
  assert.equal(await status(), 'Overdue');
});

test('no more than is open is disputed, of posted bills only, all or none', async () => {
  const place = await openOwing(scene, 'dispute-refused');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  const reason = 'Not mine';
  const two = place.client.makeDisputes({
    disputes: [
      { billID, amount: 60, reason },
      { billID, amount: 40.01, reason },
    ],
  });
  const field = 'disputes[1].amount';
  await refuses(two, 'AMOUNT_ABOVE_OPEN', { statusCode: 422, field });
  assert.deepEqual(await accounts(place, number), [100, 0]);
  const missing = place.client.makeDisputes({ disputes: [{ billID: 99, amount: 1, reason }] });
  await refuses(missing, 'BILL_NOT_FOUND', { statusCode: 404 });
  const none = place.client.makeDisputes({ disputes: [{ billID, amount: 0, reason }] });
  await refuses(none, 'INVALID_NUMBER', { statusCode: 400 });
  const unknown = { disputeID: 99, outcome: 'Upheld' } as const;
  await refuses(place.client.resolveDispute({ data: unknown }), 'DISPUTE_NOT_FOUND');
});

test('a dispute stays with the owner of the bill when the subscription is transferred', async () => {
  const place = await openOwing(scene, 'dispute-transfer');
  const connectionNumber = await place.connectOld();
  const [bill] = await place.bill({ [connectionNumber]: 100 });
  const disputeID = await dispute(place, bill?.billID ?? 0, 40);
  const partyNumber = await newParty(place.client, 'New owner');
  await place.client.transferConnection({
    data: {
      ...{ connectionNumber, toPartyNumber: partyNumber, transferDate: '01/08/2026' },
      ...{ balanceHandling: 'MoveToNew' as const, reason: 'Sold' },
    },
  });
  // 60 went to the new owner, 40 are still disputed by the old one.
  assert.deepEqual([await place.owed(), await place.owed(partyNumber)], [0, 60]);
  await place.client.resolveDispute({ data: { disputeID, outcome: 'Rejected' } });
  assert.deepEqual([await place.owed(), await place.owed(partyNumber)], [40, 60]);
  await assertChecks(scene, place.tenantId);
});
