// A plan that is changed in a term that was billed in advance already: all of the difference is
// billed, or the change is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { august, july, openOffer } from '../support/offer-place.ts';
import { newTariff, type Tariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

type Rules = NonNullable<Tariff['componentRules']>;

/** Billed for July by a plan, and about to take another one. */
async function openBilled(workspace: string, cheap: Rules, dear: Rules) {
  const components = ['fee', 'seat', 'tax'].map((name, index) => {
    return { name, label: name, type: 'Charge' as const, sequence: index };
  });
  const service = { postBilling: 0 as const, components };
  const place = await openOffer(scene, workspace, service, { componentRules: cheap });
  const connectionNumber = await place.connectOld();
  const { serviceCode } = place.offer;
  await newTariff(place.client, serviceCode, { code: 'DEAR', componentRules: dear });
  const billed = async (days: typeof july) => {
    const term = await place.open(days);
    await generate(place, term);
    const [bill] = await billsOf(place, term);
    await post(place, term);
    return bill?.lines.map((line) => [line.component, line.lineType, line.amount]);
  };
  await billed(july);
  const change = (effectiveDate: string) =>
    place.client.changeTariff({ data: { connectionNumber, tariffCode: 'DEAR', effectiveDate } });
  return { connectionNumber, change, billed };
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
    const place = await openBilled(`by-term-${name}`, [...cheap], [...dear]);
    const { connectionNumber, change, billed } = place;
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

test('Term rules that are over, or do not go by days, stand in no way', async () => {
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
