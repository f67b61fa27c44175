// The papers of a cancelled bill and of the bill that replaces it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf } from '../support/bill-run.ts';
import { billed, cancel, fee, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { august, july, type OfferPlace, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

type Kind = 'Original' | 'Cancelled';

async function documentOf(client: TestClient, billID: number, format: 'PDF' | 'HTML', kind?: Kind) {
  const { message, data } = await client.getBillDocument({
    billID,
    format,
    ...(kind === undefined ? {} : { kind }),
  });
  return { message, bytes: Buffer.from(data.base64, 'base64') };
}

/** The words of the page, one after the other. */
async function wordsOf(client: TestClient, billID: number, kind?: Kind): Promise<string> {
  const { bytes } = await documentOf(client, billID, 'HTML', kind);
  const body = bytes.toString().replace(/^.*<body>/s, '');
  return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

/** June was billed elsewhere; July is published, cancelled and billed again. */
async function rebilled(workspace: string) {
  const place = await openOffer(scene, workspace, fee.service, fee.tariff);
  await place.connectOld();
  const first = await place.open({ ...july, label: 'Jul-2026' });
  const [bill] = await billed(place, first);
  assert.ok(bill?.billNumber);
  await place.client.publishBills(schedule(first));
  const { bytes: original } = await documentOf(place.client, bill.billID, 'PDF');
  await cancel(place, bill.billID, true);
  const { data } = await place.client.getCreditNotes({ billID: bill.billID });
  const note = data.creditNotes[0]?.reference ?? assert.fail();
  return { place, first, bill: { ...bill, billNumber: bill.billNumber }, original, note };
}

async function billedAgain(place: OfferPlace, billID: number) {
  const again = await termAgain(place, billID);
  const [bill] = await billed(place, again);
  assert.ok(bill?.billNumber);
  await place.client.publishBills(schedule(again));
  return { ...bill, billNumber: bill.billNumber };
}

test('the document of a cancelled bill names credit note and new bill and asks for no payment', async () => {
  const { place, bill, original, note } = await rebilled('papers');
  const { client } = place;
  const before = await wordsOf(client, bill.billID);
  assert.match(before, /CANCELLED/);
  assert.match(before, new RegExp(`Credit note no. ${note}`));
  assert.doesNotMatch(before, /Replaced by/, 'the new bill has no number yet');
  const next = await billedAgain(place, bill.billID);
  const words = await wordsOf(client, bill.billID);
  assert.match(words, new RegExp(`Replaced by bill no. ${next.billNumber}`));
  assert.match(words, new RegExp(`Credit note no. ${note}`));
  assert.match(words, /Amount cancelled 341.00/);
  assert.doesNotMatch(words, /[Pp]ayable|Please pay|Payment slip|Scan|Due date|Payment reference/);
  const { message, bytes } = await documentOf(client, bill.billID, 'PDF');
  assert.equal(message, '1 found');
  assert.notDeepEqual(bytes, original);
  await assertChecks(scene, place.tenantId);
});

test('the original document of a cancelled bill stays the one that was published', async () => {
  const { place, bill, original } = await rebilled('originals');
  const { client } = place;
  await billedAgain(place, bill.billID);
  const { message, bytes } = await documentOf(client, bill.billID, 'PDF', 'Original');
  assert.equal(message, '1 found');
  assert.deepEqual(bytes, original);
  assert.match(await wordsOf(client, bill.billID, 'Original'), /Payable by/);
  const [other] = await billed(place, await place.open({ ...august, label: 'Aug-2026' }));
  assert.ok(other);
  const refused = documentOf(client, other.billID, 'PDF', 'Cancelled');
  await refuses(refused, 'INVALID_STATE', { field: 'kind' });
  await cancel(place, other.billID);
  const never = documentOf(client, other.billID, 'PDF', 'Original');
  assert.equal(await codeOf(never), 'INVALID_STATE', 'it was never published');
  assert.match(await wordsOf(client, other.billID), /CANCELLED/);
});

test('a bill that replaces another names it and is labelled with the month, on the chart too', async () => {
  const { place, bill, first } = await rebilled('months');
  const { client } = place;
  const again = await termAgain(place, bill.billID);
  const [draft] = await billed(place, again);
  assert.equal(draft?.termLabel, 'Jul-2026');
  assert.match(await wordsOf(client, draft?.billID ?? 0), /DRAFT/);
  await client.publishBills(schedule(again));
  const words = await wordsOf(client, draft?.billID ?? 0);
  assert.match(words, new RegExp(`Replaces bill no. ${bill.billNumber}`));
  assert.match(words, /Billing term Jul-2026/);
  assert.equal(words.split(bill.billNumber).length, 2, 'the old number appears once');
  // The bar of July on the chart of August.
  const [later] = await billed(place, await place.open({ ...august, label: 'Aug-2026' }));
  const chart = await wordsOf(client, later?.billID ?? 0);
  assert.match(chart, /Jul 2026/);
  assert.doesNotMatch(chart, new RegExp(bill.billNumber));
  assert.deepEqual(
    later?.history.map((one) => one.label),
    ['Jul-2026'],
  );
  const labels = await client.getTerms({ termID: again });
  assert.equal(labels.data.terms[0]?.label, 'Jul-2026');
  await refuses(place.open({ ...september, label: 'Jul-2026' }), 'DUPLICATE');
  assert.notEqual(first, again);
});

test('get-bills links a cancelled bill with its credit note and the bill that replaces it', async () => {
  const { place, bill, first, note } = await rebilled('rebilled-links');
  const next = await billedAgain(place, bill.billID);
  const [old] = await billsOf(place, first);
  assert.deepEqual(
    [old?.replacesBillNumber, old?.replacedByBillNumber, old?.creditNoteNumber],
    [null, next.billNumber, note],
  );
  assert.deepEqual(
    [next.replacesBillNumber, next.replacedByBillNumber, next.creditNoteNumber],
    [bill.billNumber, null, null],
  );
});
