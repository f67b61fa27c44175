// Bills made in advance: what was used in the last term of who hands it on when that ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { cancel, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const october = { startDate: '01/10/2026', endDate: '31/10/2026' };

let houses = 0;

/** 310 a month ahead and 10 a unit afterwards; July and August are billed, 100 units of July. */
async function openHouse(postType = 'Post Subscription') {
  houses += 1;
  const place = await openOffer(
    scene,
    `handed-on-${houses}`,
    {
      postType,
      postBilling: 0,
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 2 },
      ],
    } as never,
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'energyCharge', window: 'Previous', formula: 'usage.energy * 10' },
      ],
      usageData: [],
    },
  );
  const number = await newMeter(place.client);
  const meter = { number, installDate: '30/06/2026', initialReading: '0' };
  const connectionNumber = await place.connectOld({ postType, meters: [meter] });
  const made = async (termID: number) => {
    const data = { termID, reading: 'current' };
    await place.client.postMeterReadings({ operation: 'schedule', data });
    await generate(place, termID);
    return (await billsOf(place, termID)).map(told);
  };
  const bill = async (days: typeof july) => {
    const termID = await place.open({ ...days, postType });
    const shown = await made(termID);
    await post(place, termID);
    return { termID, shown };
  };
  const read = (value: string, readingDate: string) =>
    place.client.makeReadings({ readings: [{ number, value, readingDate }] });
  const handOn = async (transferDate: string, value: string) => {
    const toPartyNumber = await newParty(place.client, 'Next');
    const readings = [{ number, value }];
    const data = { connectionNumber, transferDate, toPartyNumber, readings };
    await place.client.transferConnection({ data });
    return toPartyNumber;
  };
  const askFinal = () => place.client.billConnection({ data: { connectionNumber } });
  const billFinal = async () => Number((await askFinal()).headers.get('x-term-id'));
  await bill(july);
  await read('100', '31/07/2026');
  const { termID: last } = await bill(august);
  const house = { place, postType, connectionNumber, last, made, bill, read, handOn };
  return { ...house, askFinal, billFinal };
}

type Shown = Awaited<ReturnType<typeof billsOf>>[number];

const told = ({ partyNumber, days, lines, errors }: Shown) => [
  partyNumber,
  days,
  ...lines.map((line) => line.amount),
  ...errors.map(({ code }) => code),
];

for (const postType of forms(['Post Subscription', 'Post Account', 'Post Party'])) {
  test(`the last month is billed to the former owner, not to the present one: ${postType}`, async () => {
    const { place, last, made, bill, read, handOn, askFinal, billFinal } =
      await openHouse(postType);
    const next = await handOn('01/09/2026', '250');
    const regular = await place.open({ ...september, postType });
    assert.deepEqual(await made(regular), [[next, 0, 'TRANSFER_NOT_BILLED']]);
    const final = await billFinal();
    assert.deepEqual((await billsOf(place, final)).map(told), [[place.party, 0, 1500]]);
    await post(place, final);
    assert.equal(await codeOf(askFinal()), 'INVALID_STATE');
    await assert.rejects(unpost(place, last), { message: /A later term has billed after/ });
    await place.client.unpostMeterReadings({ data: { termID: regular } });
    assert.deepEqual(await made(regular), [[next, 30, 310]]);
    await post(place, regular);
    await read('400', '30/09/2026');
    assert.deepEqual((await bill(october)).shown, [[next, 31, 310, 1500]]);
    await assertChecks(scene, place.tenantId);
  });
}

test('a bill of use alone is posted once, taken back, and made again', async () => {
  const { place, connectionNumber, last, made, handOn, billFinal } = await openHouse();
  await handOn('01/09/2026', '250');
  const chosen = { type: 'Final' as const, connectionNumbers: [connectionNumber] };
  const beside = await place.open({ ...september, ...chosen });
  const use = [[place.party, 0, 1500]];
  assert.deepEqual(await made(beside), use);
  const final = await place.open({ ...september, ...chosen, label: 'Again' });
  assert.deepEqual(await made(final), use);
  await post(place, final);
  assert.notEqual(await codeOf(place.client.postBills(schedule(beside))), null);
  await unpost(place, final);
  await assertChecks(scene, place.tenantId);
  await unpost(place, last);
  await generate(place, last);
  await post(place, last);
  await generate(place, final);
  await post(place, final);
  await place.client.cancelTerm({ data: { termID: beside, reason: 'billed' } });
  const [bill] = await billsOf(place, final);
  await cancel(place, bill?.billID ?? 0, true);
  const again = await termAgain(place, bill?.billID ?? 0);
  assert.deepEqual(await made(again), use);
  await post(place, again);
  assert.equal(await codeOf(billFinal()), 'INVALID_STATE');
  await assertChecks(scene, place.tenantId);
});

test('the month before is billed again after a bill of use alone was cancelled', async () => {
  const { place, last, made, handOn, billFinal } = await openHouse();
  await handOn('01/09/2026', '250');
  const final = await billFinal();
  await post(place, final);
  const [use] = await billsOf(place, final);
  const [month] = await billsOf(place, last);
  assert.ok(use && month);
  assert.equal(await codeOf(cancel(place, month.billID, true)), 'INVALID_STATE');
  await cancel(place, use.billID);
  await assertChecks(scene, place.tenantId);
  await cancel(place, month.billID, true);
  await assertChecks(scene, place.tenantId);
  const again = await termAgain(place, month.billID);
  await made(again);
  await post(place, again);
  await assertChecks(scene, place.tenantId);
});
