// Amounts at the edges of what a bill, a part of a term and a rule of thumb can hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

let places = 0;

/** One fee, which is given by hand. */
function openPlace(service: object = {}): Promise<OfferPlace> {
  places += 1;
  const fee = { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1, manual: 'Optional' };
  return openOffer(scene, `amounts-${places}`, { components: [fee], ...service } as never, {
    componentRules: [{ component: 'fee', formula: '0', prorate: 'None' }],
  });
}

async function giveByHand({ client }: OfferPlace, termID: number, values: [string, string][]) {
  const compsData = values.map(([connection, value]) => [connection, 'fee', value]);
  const data = JSON.stringify({ termID, compsData });
  await client.postManualComponentValues({ operation: 'schedule', data: { data } });
}

/** Two subscriptions of one party, of which a bill can hold one, but not both. */
async function openLarge(service: object = {}) {
  const place = await openPlace(service);
  const connections = [await place.connectOld(), await place.connectOld()];
  const term = await place.open(july);
  const large = connections.map((one): [string, string] => [one, '60000000000000']);
  await giveByHand(place, term, large);
  return { place, term };
}

test('bills that are too large together are posted to the last cent', async () => {
  const { place, term } = await openLarge();
  await generate(place, term);
  assert.match((await post(place, term)).message, /^2 bills posted/);
  const { rows } = await scene.sql.query(
    `select sum(amount) filter (where amount > 0)::text as debit, sum(amount)::text as difference
     from journal_lines where tenant_id = $1`,
    [place.tenantId],
  );
  assert.deepEqual(rows, [{ debit: '12000000000000000', difference: '0' }]);
  await assertChecks(scene, place.tenantId);
});

test('subscriptions that are too large for one bill are an error of that bill alone', async () => {
  const { place, term } = await openLarge({ postType: 'Post Party' });
  assert.match((await generate(place, term)).message, /1 in error/);
  const [bill] = await billsOf(place, term);
  assert.deepEqual(
    [bill?.status, bill?.errors.map(({ code }) => code)],
    ['Error', ['AMOUNT_OUT_OF_RANGE']],
  );
});

test('three times the average is not more than three times the average', async () => {
  const place = await openPlace({ holdRules: null });
  const connection = await place.connectOld();
  const billed = async (month: number, value: string, isPosted = true) => {
    const days = {
      startDate: `01/0${month}/2026`,
      endDate: `${month === 9 ? 30 : 31}/0${month}/2026`,
    };
    const { serviceCode } = place.offer;
    const term = await newTerm(place.client, { serviceCode, ...days });
    await giveByHand(place, term, [[connection, value]]);
    await generate(place, term);
    const [bill] = await billsOf(place, term);
    if (isPosted) await post(place, term);
    return bill?.status;
  };
  await billed(7, '100');
  await billed(8, '100.01');
  // The mean of the two is 100.005.
  assert.equal(await billed(9, '300.01', false), 'Draft');
  const term = (await place.client.getTerms({})).data.terms[0]?.termID ?? 0;
  await giveByHand(place, term, [[connection, '300.02']]);
  await generate(place, term);
  assert.equal((await billsOf(place, term))[0]?.status, 'Hold');
});
