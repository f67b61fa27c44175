// Estimates and their correction across a bill that is cancelled and not billed again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpost } from '../support/bill-run.ts';
import { billed, cancel } from '../support/cancelled-bills.ts';
import { assertLaws } from '../support/laws.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const october = { startDate: '01/10/2026', endDate: '31/10/2026' };

let houses = 0;

/** 10 a unit and 31 a month; who is not read is estimated at 10 a day. */
async function openHouse(postType = 'Post Subscription') {
  houses += 1;
  const place = await openOffer(
    scene,
    `house-${houses}`,
    {
      postType,
      meteredInputs: [
        {
          name: 'energy',
          unit: 'kWh',
          register: 'kWh',
          estimation: { allowed: 1, defaultDaily: 10 },
        },
      ],
      components: [
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 },
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 2 },
      ],
    } as never,
    {
      componentRules: [
        { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
        { component: 'fee', scope: 'Term', formula: '31' },
      ],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
  const numbers: number[] = [];
  for (const _ of postType === 'Post Subscription' ? [1] : [1, 2]) {
    const number = await newMeter(place.client);
    const meter = { number, installDate: '30/06/2026', initialReading: '0' };
    await place.connectOld({ meters: [meter] });
    numbers.push(number);
  }
  /** Posts a term that ends with a reading, or with an estimate where none is given. */
  const bill = async (days: typeof july, value?: string) => {
    const readings = numbers.map((number) => ({ number, value: value ?? '' }));
    if (value !== undefined) {
      const readingDate = days.endDate;
      await place.client.makeReadings({
        readings: readings.map((one) => ({ ...one, readingDate })),
      });
    }
    const termID = await place.open({ ...days, postType });
    const reading = value === undefined ? 'estimated' : 'current';
    await place.client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
    const [one] = await billed(place, termID);
    assert.ok(one);
    const [usage] = one.sections.length === 0 ? one.usage : (one.sections[0]?.usage ?? []);
    const { billID, billAmount } = one;
    return { termID, billID, told: [billAmount, usage?.quantity, usage?.carried] };
  };
  return { place, bill };
}

for (const postType of ['Post Subscription', 'Post Account']) {
  test(`${postType}: what was billed too much is credited, also after a cancelled bill`, async () => {
    const { place, bill } = await openHouse(postType);
    const times = postType === 'Post Subscription' ? 1 : 2;
    assert.deepEqual((await bill(july)).told, [3131 * times, '310', undefined]);
    const second = await bill(august, '250');
    assert.deepEqual(second.told, [31 * times, '0', '60']);
    await cancel(place, second.billID);
    // 400 - 250 - 60
    const third = await bill(september, '400');
    assert.deepEqual(third.told, [931 * times, '90', undefined]);
    // The 60 are used up, until that is unposted.
    await unpost(place, third.termID);
    await place.client.cancelTerm({ data: { termID: third.termID, reason: 'for October' } });
    assert.deepEqual((await bill(october, '500')).told, [1931 * times, '190', undefined]);
    await assertLaws(scene, place.tenantId);
  });
}

test('what a cancelled bill had credited is credited by the next', async () => {
  const { place, bill } = await openHouse();
  await bill(july);
  assert.deepEqual((await bill(august, '250')).told, [31, '0', '60']);
  const third = await bill(september, '270');
  assert.deepEqual(third.told, [31, '0', '40']);
  await cancel(place, third.billID);
  // 400 - 270 - 60: what was used in September is billed to nobody.
  assert.deepEqual((await bill(october, '400')).told, [731, '70', undefined]);
  await assertLaws(scene, place.tenantId);
});
