// Cancelled bills of accounts, parties, owners that have left, and terms billed in advance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, rowsOf } from '../support/bill-run.ts';
import { billed, bookedOn, cancel, fee, onlyBill, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const schedule = { operation: 'schedule' as const };

const openFee = (workspace: string, service = {}) =>
  openOffer(scene, workspace, { ...fee.service, ...service }, fee.tariff);

for (const postType of forms(['Post Account', 'Post Party'] as const)) {
  test(`${postType}: all subscriptions of the bill are billed again`, async () => {
    const place = await openFee(`several-${postType.slice(5).toLowerCase()}`, { postType });
    const numbers = [await place.connectOld({ postType }), await place.connectOld({ postType })];
    const first = await place.open({ ...july, postType });
    const [bill] = await billed(place, first);
    assert.equal(bill?.billAmount, 682);
    await cancel(place, bill?.billID ?? 0, true);
    assert.deepEqual(await bookedOn(place), {});
    const [again] = await billed(place, await termAgain(place, bill?.billID ?? 0));
    assert.deepEqual([again?.billAmount, again?.arrears, again?.lines.length], [682, 0, 4]);
    for (const connectionNumber of numbers) {
      const { data } = await place.client.getCreditNotes({ connectionNumber });
      assert.equal(data.creditNotes.length, 1);
    }
    await assertChecks(scene, place.tenantId);
  });
}

test('a bill with a later one is cancelled, and not billed again before that one is', async () => {
  const place = await openFee('followed');
  await place.connectOld();
  const [first] = await billed(place, await place.open(july));
  const [second] = await billed(place, await place.open(august));
  assert.equal(await codeOf(cancel(place, first?.billID ?? 0, true)), 'INVALID_STATE');
  await cancel(place, first?.billID ?? 0);
  const [third] = await billed(place, await place.open(september));
  assert.deepEqual(
    [third?.previousBalance, third?.adjustments, third?.arrears, third?.billedFrom],
    [682, -341, 341, '01/09/2026'],
  );
  const again = cancel(place, second?.billID ?? 0, true);
  await assert.rejects(again, { code: 'INVALID_STATE', message: /cancel later bills first, with/ });
  await assertChecks(scene, place.tenantId);
});

test('a credit note is of the business unit that its bill was of', async () => {
  const place = await openFee('unit');
  await place.connectOld();
  const [bill] = await billed(place, await place.open(july));
  const service = { code: place.offer.serviceCode, businessUnitID: 2 };
  await place.client.updateService({ service });
  await cancel(place, bill?.billID ?? 0);
  const units = await rowsOf(
    place,
    'select source_type, business_unit_id::int as unit from journals where tenant_id = $1 order by 1',
  );
  assert.deepEqual(units, [
    { source_type: 'Bills', unit: 1 },
    { source_type: 'CreditNote', unit: 1 },
  ]);
});

test('in an archived context nothing is billed again', async () => {
  const place = await openFee('archived');
  await place.connectOld();
  const [bill] = await billed(place, await place.open(july));
  const { serviceCode: code } = place.offer;
  await place.client.updateService({ service: { code, archiveStatus: 1 } });
  assert.equal(await codeOf(cancel(place, bill?.billID ?? 0, true)), 'SERVICE_ARCHIVED');
  await cancel(place, bill?.billID ?? 0);
});

test('what went to the next owner is not credited to the one before', async () => {
  const place = await openFee('handed-on');
  const connectionNumber = await place.connectOld();
  const first = await place.open(july);
  const [bill] = await billed(place, first);
  const toPartyNumber = await newParty(place.client, 'Next');
  await place.client.transferConnection({
    data: {
      connectionNumber,
      transferDate: '01/08/2026',
      toPartyNumber,
      balanceHandling: 'MoveToNew',
    },
  });
  assert.equal(await codeOf(cancel(place, bill?.billID ?? 0)), 'INVALID_STATE');
  assert.equal((await onlyBill(place, first)).status, 'Posted');
  await assertChecks(scene, place.tenantId);
});

test('billed in advance: a cancelled month is not corrected by the next bill', async () => {
  for (const rebill of [false, true]) {
    const place = await openFee(`ahead-${rebill}`, { postBilling: 0 });
    await place.connectOld();
    const [bill] = await billed(place, await place.open(july));
    await cancel(place, bill?.billID ?? 0, rebill);
    if (rebill) {
      const [again] = await billed(place, await termAgain(place, bill?.billID ?? 0));
      assert.equal(again?.billAmount, 341);
    }
    const [next] = await billed(place, await place.open(august));
    assert.deepEqual(
      [next?.billAmount, next?.arrears, next?.lines.length],
      [341, rebill ? 341 : 0, 2],
    );
    await assertChecks(scene, place.tenantId);
  }
});

test('a bill that is cancelled before the term is published is neither issued nor sent', async () => {
  const place = await openFee('unissued');
  await place.connectOld();
  await place.connectOld();
  const termID = await place.open(july);
  const [gone, kept] = await billed(place, termID);
  await cancel(place, gone?.billID ?? 0);
  await place.client.publishBills({ ...schedule, data: { termID } });
  await place.client.distributeBills({ ...schedule, data: { termID } });
  const after = await billsOf(place, termID);
  assert.deepEqual(
    after.map((bill) => [bill.billID, bill.status]),
    [
      [gone?.billID, 'Cancelled'],
      [kept?.billID, 'Published'],
    ],
  );
  const { data } = await place.client.getDeliveries({ termID });
  assert.deepEqual([...new Set(data.deliveries.map((one) => one.billID))], [kept?.billID]);
  const { data: shown } = await place.client.getBillTerm({ billTermID: termID });
  assert.deepEqual([shown.summary.bills, shown.summary.currentCharges], [1, 341]);
  await assertChecks(scene, place.tenantId);
});

test('billed in advance: the bill that is made again is not due before it is made', async () => {
  const place = await openFee('due-ahead', { postBilling: 0 });
  await place.connectOld();
  const [bill] = await billed(place, await place.open({ ...july, dueDate: '10/07/2026' }));
  await cancel(place, bill?.billID ?? 0, true);
  const term = await termOf(place.client, await termAgain(place, bill?.billID ?? 0));
  // Today is 1 January, and customers have at least seven days to pay.
  assert.equal(term.dueDate, '08/01/2027');
});

test('what two subscriptions of one bill have against each other is taken back from each', async () => {
  const values = [
    { name: 'daily', type: 'Number' as const, default: '0', overridable: 1 as const },
  ];
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];
  const place = await openOffer(
    scene,
    'against',
    { postType: 'Post Account', components, values },
    { componentRules: [{ component: 'fee', formula: 'daily * segment.days' }] },
  );
  for (const value of ['2', '-2']) await place.connectOld({ variants: [{ name: 'daily', value }] });
  const owed = async () => {
    const rows = await rowsOf<{ receivable: string }>(
      place,
      'select receivable from subscription_balances where tenant_id = $1 order by subscription_id',
    );
    return rows.map((row) => Number(row.receivable));
  };
  const [bill] = await billed(place, await place.open(july));
  assert.deepEqual([bill?.billAmount, await owed()], [0, [6200, -6200]]);
  await cancel(place, bill?.billID ?? 0);
  assert.deepEqual(await owed(), [0, 0]);
  await assertChecks(scene, place.tenantId);
});
