// Bills made in advance: the quantities and custom fields that a bill was made of are not those of
// the next one, and the term is priced again by its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, type OfferPlace, openOffer, september } from '../support/offer-place.ts';
import { postNothing } from '../support/post-nothing.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

type Rule = { component: string; formula: string; prorate?: 'Days'; window?: 'Previous' };

const seatRule: Rule = { component: 'fee', formula: 'qty.seats * 31', prorate: 'Days' };

/** A fee by rules over agreed seats and a load, which is a custom field. */
function openSeats(
  workspace: string,
  postType: 'Post Subscription' | 'Post Account' = 'Post Subscription',
  componentRules: Rule[] = [seatRule],
): Promise<OfferPlace> {
  return openOffer(
    scene,
    workspace,
    {
      postType,
      postBilling: 0,
      connectionInputs: [{ name: 'load', label: 'Load', type: 'Number', required: 0 }],
      unmeteredInputs: [{ name: 'seats', unit: 'seat', required: 0, changeInTerm: 'Split' }],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
    },
    { componentRules },
  );
}

const fiveSeats = { unmeteredInputs: [{ name: 'seats', value: '5' }] };

/** Lines of the bill, generated with as many seats uploaded for whoever is named. */
async function generated(
  place: OfferPlace,
  termID: number,
  seats?: { of: string; quantity: string },
): Promise<[string, string, number][]> {
  if (seats) {
    const data = JSON.stringify({ termID, usage: [[seats.of, 'seats', seats.quantity]] });
    await place.client.uploadUsage({ operation: 'schedule', data: { data } });
  }
  await generate(place, termID);
  const [bill] = await billsOf(place, termID);
  assert.deepEqual(bill?.errors, []);
  return (bill?.lines ?? []).map((line) => [line.lineType, line.fromDate, line.amount]);
}

async function billed(
  place: OfferPlace,
  days: typeof july,
  seats?: { of: string; quantity: string },
) {
  const termID = await place.open(days);
  const lines = await generated(place, termID, seats);
  await post(place, termID);
  return lines;
}

for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
  const name = postType.toLowerCase().replace(' ', '-');

  test(`${postType}: seats uploaded for a term are not taken back by the next`, async () => {
    const place = await openSeats(`uploaded-${name}`, postType);
    if (postType === 'Post Account') await place.connectOld();
    const number = await place.connectOld(fiveSeats);
    // 8 x 31, then 5 x 31 as agreed
    assert.deepEqual(await billed(place, july, { of: number, quantity: '8' }), [
      ['Normal', '01/07/2026', 248],
    ]);
    assert.deepEqual(await billed(place, august), [['Normal', '01/08/2026', 155]]);
    assert.deepEqual(await billed(place, september), [['Normal', '01/09/2026', 155]]);
    await assertChecks(scene, place.tenantId);
  });
}

test('where nothing is agreed, seats of each term are those uploaded for it', async () => {
  const place = await openSeats('not-agreed');
  const number = await place.connectOld();
  // 8 x 31, 10 x 31, nothing
  assert.deepEqual(await billed(place, july, { of: number, quantity: '8' }), [
    ['Normal', '01/07/2026', 248],
  ]);
  assert.deepEqual(await billed(place, august, { of: number, quantity: '10' }), [
    ['Normal', '01/08/2026', 310],
  ]);
  assert.deepEqual(await billed(place, september), []);
});

test('a changed custom field changes no earlier bill', async () => {
  const rule = { ...seatRule, formula: 'input.load * 31' };
  const place = await openSeats('field', 'Post Subscription', [rule]);
  const load = (value: string) => ({ connectionInputs: [{ name: 'load', value }] });
  const connectionNumber = await place.connectOld(load('5'));
  // 5 x 31, 10 x 31
  assert.deepEqual(await billed(place, july), [['Normal', '01/07/2026', 155]]);
  await place.client.updateConnection({ data: { connectionNumber, ...load('10') } });
  assert.deepEqual(await billed(place, august), [['Normal', '01/08/2026', 310]]);
});

test('a plan that goes back into the term prices the seats that were uploaded for it', async () => {
  const place = await openSeats('plan-before');
  const number = await place.connectOld(fiveSeats);
  const dear = { ...seatRule, formula: 'qty.seats * 62' };
  await newTariff(place.client, place.offer.serviceCode, { code: 'DEAR', componentRules: [dear] });
  await billed(place, july, { of: number, quantity: '8' });
  const change = { connectionNumber: number, tariffCode: 'DEAR', effectiveDate: '11/07/2026' };
  await place.client.changeTariff({ data: change });
  assert.deepEqual(await billed(place, august), [
    // 5 x 62
    ['Normal', '01/08/2026', 310],
    // 8 x 31 x 10/31 + 8 x 62 x 21/31 = 416, 248 billed
    ['Adjustment', '01/07/2026', 168],
  ]);
});

test('a version that begins in the term reads a custom field that is there only now', async () => {
  const place = await openSeats('field-later');
  const connectionNumber = await place.connectOld(fiveSeats);
  await billed(place, july);
  const connectionInputs = [{ name: 'load', value: '2' }];
  await place.client.updateConnection({ data: { connectionNumber, connectionInputs } });
  const { serviceCode, tariffCode: code } = place.offer;
  const componentRules = [{ ...seatRule, formula: 'qty.seats * input.load * 31' }];
  const tariff = { serviceCode, code, effectiveDate: '22/07/2026', componentRules };
  await place.client.updateTariff({ tariff });
  assert.deepEqual(await billed(place, august), [
    // 5 x 2 x 31
    ['Normal', '01/08/2026', 310],
    // 155 x 21/31 + 310 x 10/31 = 205, 155 billed
    ['Adjustment', '01/07/2026', 50],
  ]);
});

test('seats of a skipped bill are those of its days, and the previous term keeps its own', async () => {
  const place = await openSeats('left-out-between');
  const number = await place.connectOld(fiveSeats);
  await billed(place, july, { of: number, quantity: '8' });
  const term = await place.open(august);
  await generated(place, term, { of: number, quantity: '9' });
  const [bill] = await billsOf(place, term);
  const hold = { billID: bill?.billID ?? 0, hold: true, reason: 'asked' };
  await place.client.holdBill({ data: hold });
  await postNothing(place, term);
  assert.deepEqual(await billed(place, september), [
    // 9 x 31 x 31/30 and 5 x 31
    ['Normal', '01/08/2026', 288.3],
    ['Normal', '01/09/2026', 155],
  ]);
});

test('rules over the term before read the seats of that term', async () => {
  const rule: Rule = { component: 'fee', formula: 'qty.seats * 10', window: 'Previous' };
  const place = await openSeats('looking-back', 'Post Subscription', [rule]);
  const number = await place.connectOld(fiveSeats);
  assert.deepEqual(await billed(place, july, { of: number, quantity: '8' }), []);
  // 8 x 10, then 5 x 10
  assert.deepEqual(await billed(place, august), [['Normal', '01/07/2026', 80]]);
  assert.deepEqual(await billed(place, september), [['Normal', '01/08/2026', 50]]);
});
