// A plan that is changed in a term that was billed in advance already: all of the difference is
// billed, or the change is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { newTariff, type Tariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

type Rules = NonNullable<Tariff['componentRules']>;

/** Billed for July by a plan, and about to take another one. */
async function openBilled(
  workspace: string,
  cheap: Rules,
  dear: Rules,
  { isKnown = false, postType = 'Post Subscription' as 'Post Subscription' | 'Post Account' } = {},
) {
  const components = ['fee', 'seat', 'tax'].map((name, index) => {
    return { name, label: name, type: 'Charge' as const, sequence: index };
  });
  const service = { postBilling: 0 as const, postType, components };
  const place = await openOffer(scene, workspace, service, { componentRules: cheap });
  const connectionNumber = await place.connectOld();
  // So that a bill of the account is one of several.
  if (postType === 'Post Account') await place.connectOld();
  const { serviceCode } = place.offer;
  await newTariff(place.client, serviceCode, { code: 'DEAR', componentRules: dear });
  const billedBy = async (term: number) => {
    await generate(place, term);
    const [bill] = await billsOf(place, term);
    assert.deepEqual(bill?.errors ?? [], []);
    await post(place, term);
    return bill?.lines.map((line) => [line.component, line.lineType, line.amount]);
  };
  const billed = async (days: typeof july) => billedBy(await place.open(days));
  const change = (effectiveDate: string) =>
    place.client.changeTariff({ data: { connectionNumber, tariffCode: 'DEAR', effectiveDate } });
  if (isKnown) await change('11/07/2026');
  await billed(july);
  return { place, connectionNumber, change, billed, billedBy };
}

const bySegments = (component: string, formula: string): Rules[number] => {
  return { component, formula, prorate: 'Days' };
};
const byTerm = (component: string, formula: string): Rules[number] => {
  return { component, formula, prorate: 'Days', scope: 'Term' };
};

const seats = [bySegments('seat', '31'), bySegments('seat', '62')] as const;

for (const [name, cheap, dear, plan] of [
  ['both', [seats[0], byTerm('fee', '310')], [seats[1], byTerm('fee', '620')], undefined],
  ['new', [seats[0], bySegments('fee', '310')], [seats[1], byTerm('fee', '620')], 'DEAR'],
  ['old', [seats[0], byTerm('fee', '310')], [seats[1], bySegments('fee', '620')], undefined],
] as const) {
  test(`what a Term rule charges by days is not priced again: ${name}`, async () => {
    const opened = await openBilled(`by-term-${name}`, [...cheap], [...dear]);
    const { connectionNumber, change, billed } = opened;
    const field = 'data.effectiveDate';
    const { error } = await refuses(change('11/07/2026'), 'DATE_IN_POSTED_TERM', { field });
    assert.match(error.message, new RegExp(`^${connectionNumber} is billed up to 31/07/2026`));
    assert.match(error.message, new RegExp(`${plan ?? ''} charges fee for the term`));
    await change('01/08/2026');
    assert.deepEqual(await billed(august), [
      ['fee', 'Normal', 620],
      ['seat', 'Normal', 62],
    ]);
  });
}

test('Term rules that have ended, or are not prorated by days, do not prevent a plan change', async () => {
  const tax: Rules[number] = { component: 'tax', scope: 'Term', formula: 'comp.fee * 10%' };
  const over = { ...byTerm('seat', '31'), toDate: '30/06/2026' };
  const cheap = [bySegments('fee', '310'), tax, over];
  const dear = [bySegments('fee', '620'), tax];
  const { change, billed } = await openBilled('by-segments', cheap, dear);
  await change('11/07/2026');
  assert.deepEqual(await billed(august), [
    ['fee', 'Normal', 620],
    // 310 x 10/31 + 620 x 21/31 = 520, 310 billed
    ['fee', 'Adjustment', 210],
    // 10 % of 620 + 210
    ['tax', 'Normal', 83],
  ]);
});

const feeOf = (formula: string): Rules => [bySegments('fee', formula)];

for (const [price, difference] of [
  // 310 x 10/31 + 620 x 21/31 - 310, and 310 x 10/31 + 31 x 21/31 - 310
  ['620', 210],
  ['31', -189],
] as const) {
  for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
    test(`an owner who leaves when the term ends is billed for it: ${price}, ${postType}`, async () => {
      const name = `leaves-${price}-${postType.replace('Post ', '').toLowerCase()}`;
      const opened = await openBilled(name, feeOf('310'), feeOf(price), { postType });
      const { place, connectionNumber, change, billed } = opened;
      await change('11/07/2026');
      const off = {
        connectionNumber,
        effectiveDate: '01/08/2026',
        kind: 'CustomerRequest' as const,
      };
      await place.client.disconnectConnection({ data: off });
      const others = postType === 'Post Account' ? [['fee', 'Normal', 310]] : [];
      assert.deepEqual(await billed(august), [['fee', 'Adjustment', difference], ...others]);
      assert.deepEqual((await billed(september)) ?? [], others);
      await assertChecks(scene, place.tenantId);
    });
  }
}

test('the final bill at once also has the difference of the new plan', async () => {
  const opened = await openBilled('leaves-at-once', feeOf('310'), feeOf('620'));
  const { place, connectionNumber, change, billed, billedBy } = opened;
  await change('11/07/2026');
  const off = { connectionNumber, effectiveDate: '01/08/2026', kind: 'CustomerRequest' as const };
  await place.client.disconnectConnection({ data: off });
  const { headers } = await place.client.billConnection({ data: { connectionNumber } });
  const final = Number(headers.get('x-term-id'));
  assert.deepEqual(await billedBy(final), [['fee', 'Adjustment', 210]]);
  assert.equal(await billed(august), undefined);
  await refuses(place.client.billConnection({ data: { connectionNumber } }), 'INVALID_STATE');
  await assertChecks(scene, place.tenantId);
});

test('the difference is billed to the owner who transfers it then, not to the next one', async () => {
  const opened = await openBilled('hands-on', feeOf('310'), feeOf('620'));
  const { place, connectionNumber, change, billed, billedBy } = opened;
  await change('11/07/2026');
  const toPartyNumber = await newParty(place.client, 'Next');
  const transfer = { connectionNumber, transferDate: '01/08/2026', toPartyNumber };
  await place.client.transferConnection({ data: transfer });
  const { headers } = await place.client.billConnection({ data: { connectionNumber } });
  const final = Number(headers.get('x-term-id'));
  assert.deepEqual(await billedBy(final), [['fee', 'Adjustment', 210]]);
  const [bill] = await billsOf(place, final);
  assert.equal(bill?.partyNumber, place.party);
  assert.deepEqual(await billed(august), [['fee', 'Normal', 620]]);
  await assertChecks(scene, place.tenantId);
});

test('a plan that the bill knew of leaves nothing to bill', async () => {
  const known = { isKnown: true };
  const opened = await openBilled('known-before', feeOf('310'), feeOf('620'), known);
  const { place, connectionNumber, billed } = opened;
  const off = { connectionNumber, effectiveDate: '01/08/2026', kind: 'CustomerRequest' as const };
  await place.client.disconnectConnection({ data: off });
  await refuses(place.client.billConnection({ data: { connectionNumber } }), 'INVALID_STATE');
  assert.equal(await billed(august), undefined);
});
