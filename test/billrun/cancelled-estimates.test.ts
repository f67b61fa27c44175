// Estimates and their correction across a bill that is cancelled and not billed again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpost } from '../support/bill-run.ts';
import { billed, cancel } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
const november = { startDate: '01/11/2026', endDate: '30/11/2026' };

let houses = 0;

/** 10 a unit and 31 a month; an unread meter is estimated at 10 a day. */
async function openHouse(
  postType = 'Post Subscription',
  meters = postType === 'Post Account' ? 2 : 1,
) {
  houses += 1;
  const place = await openOffer(
    scene,
    `estimated-${houses}`,
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
  const connections: string[] = [];
  while (numbers.length < meters) {
    const number = await newMeter(place.client);
    const meter = { number, installDate: '30/06/2026', initialReading: '0' };
    connections.push(await place.connectOld({ meters: [meter] }));
    numbers.push(number);
  }
  /** Posts a term that ends with a reading, or with an estimate where none is given. */
  const billAll = async (days: typeof july, value?: string) => {
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
    return (await billed(place, termID)).map((one) => {
      const [usage] = one.sections.length === 0 ? one.usage : (one.sections[0]?.usage ?? []);
      const { billID, billAmount, connectionNumber } = one;
      const told = [billAmount, usage?.quantity, usage?.carried];
      return { termID, billID, connectionNumber, told };
    });
  };
  const bill = async (days: typeof july, value?: string) => {
    const [one] = await billAll(days, value);
    assert.ok(one);
    return one;
  };
  return { place, bill, billAll, connections, number: numbers[0] ?? 0 };
}

for (const postType of forms(['Post Subscription', 'Post Account'])) {
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
    await assertChecks(scene, place.tenantId);
  });
}

test('what a cancelled bill had credited is credited by the next', async () => {
  const { place, bill } = await openHouse();
  await bill(july);
  assert.deepEqual((await bill(august, '250')).told, [31, '0', '60']);
  const third = await bill(september, '270');
  assert.deepEqual(third.told, [31, '0', '40']);
  await cancel(place, third.billID);
  // 400 - 270 - 60: usage of September is not billed.
  assert.deepEqual((await bill(october, '400')).told, [731, '70', undefined]);
  await assertChecks(scene, place.tenantId);
});

for (const postType of forms(['Post Subscription', 'Post Account'])) {
  const times = postType === 'Post Subscription' ? 1 : 2;

  test(`${postType}: an estimate whose bill was cancelled is not credited`, async () => {
    const { place, bill } = await openHouse(postType);
    await cancel(place, (await bill(july)).billID);
    // 60 less than the estimate that the customer did not pay for.
    assert.deepEqual((await bill(august, '250')).told, [31 * times, '0', undefined]);
    // 400 - 250
    assert.deepEqual((await bill(september, '400')).told, [1531 * times, '150', undefined]);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: nor is it where the next bill had found it already`, async () => {
    const { place, bill } = await openHouse(postType);
    const first = await bill(july);
    const second = await bill(august, '250');
    assert.deepEqual(second.told, [31 * times, '0', '60']);
    await cancel(place, first.billID);
    const third = await bill(september, '400');
    assert.deepEqual(third.told, [1531 * times, '150', undefined]);
    await unpost(place, third.termID);
    await unpost(place, second.termID);
    await place.client.cancelTerm({ data: { termID: third.termID, reason: 'again' } });
    const [again] = await billed(place, second.termID);
    assert.equal(again?.billAmount, 31 * times);
    assert.deepEqual((await bill(october, '400')).told, [1531 * times, '150', undefined]);
    await assertChecks(scene, place.tenantId);
  });
}

for (const postType of forms(['Post Subscription', 'Post Account'])) {
  const times = postType === 'Post Subscription' ? 1 : 2;

  test(`${postType}: where a later bill has credited it, the next one takes that back`, async () => {
    const { place, bill } = await openHouse(postType);
    const first = await bill(july);
    assert.deepEqual((await bill(august, '250')).told, [31 * times, '0', '60']);
    // 290 - 250, of the 60
    const third = await bill(september, '290');
    assert.deepEqual(third.told, [31 * times, '0', '20']);
    const fourth = await bill(october, '400');
    assert.deepEqual(fourth.told, [931 * times, '90', undefined]);
    await cancel(place, first.billID);
    await assertChecks(scene, place.tenantId);
    // 500 - 400 + 60
    const fifth = await bill(november, '500');
    assert.deepEqual(fifth.told, [1631 * times, '160', undefined]);
    await assertChecks(scene, place.tenantId);
    await unpost(place, fifth.termID);
    await place.client.cancelTerm({ data: { termID: fifth.termID, reason: 'again' } });
    await unpost(place, fourth.termID);
    await place.client.cancelTerm({ data: { termID: fourth.termID, reason: 'again' } });
    // 600 - 290 + 40
    const december = { startDate: '01/12/2026', endDate: '31/12/2026' };
    assert.deepEqual((await bill(december, '600')).told, [3531 * times, '350', undefined]);
    await assertChecks(scene, place.tenantId);
  });
}

test('a bill that had credited it and is cancelled, too, has credited nothing', async () => {
  const { place, billAll, connections } = await openHouse(undefined, 2);
  const first = await billAll(july);
  await billAll(august, '250');
  const third = await billAll(september, '400');
  for (const { told } of third) assert.deepEqual(told, [931, '90', undefined]);
  // In the first house the later bill is cancelled before the earlier one.
  for (const [connection, order] of [
    [connections[0], [third, first]],
    [connections[1], [first, third]],
  ] as const) {
    for (const bills of order) {
      const own = bills.find((one) => one.connectionNumber === connection);
      assert.ok(own);
      await cancel(place, own.billID);
    }
  }
  const fourth = await billAll(october, '500');
  assert.deepEqual(
    fourth.map((one) => one.told),
    connections.map(() => [1031, '100', undefined]),
  );
  await assertChecks(scene, place.tenantId);
});

const cancellations = [
  ['first', '310'],
  ['second', '60'],
  ['both', undefined],
].flatMap(([cancelled, carried]) =>
  (['before', 'after'] as const).map((when) => ({ cancelled, carried, when })),
);

/** 310 in July, 310 in August, 250 read in September: a house for each way to cancel, in one run. */
async function billStreet() {
  const { place, billAll, connections } = await openHouse(undefined, cancellations.length);
  const houseOf = ({ connectionNumber }: { connectionNumber: string | null }) =>
    cancellations[connections.indexOf(connectionNumber ?? '')];
  const [one, two] = [await billAll(july), await billAll(august)];
  const cancelThem = async (when: 'before' | 'after') => {
    for (const [bills, others] of [
      [one, 'second'],
      [two, 'first'],
    ] as const) {
      for (const each of bills) {
        const house = houseOf(each);
        if (house?.when === when && house.cancelled !== others) await cancel(place, each.billID);
      }
    }
  };
  await cancelThem('before');
  const third = await billAll(september, '250');
  await cancelThem('after');
  const fourth = await billAll(october, '700');
  await assertChecks(scene, place.tenantId);
  return (house: object) =>
    [third, fourth].map((bills) => bills.find((each) => houseOf(each) === house)?.told);
}

let street: ReturnType<typeof billStreet> | undefined;
for (const house of cancellations) {
  const { cancelled, carried, when } = house;
  test(`of two estimates what was paid for is credited: ${cancelled}, ${when}`, async () => {
    street ??= billStreet();
    const [third, fourth] = (await street)(house);
    assert.equal(third?.[1], '0');
    if (when === 'before') assert.equal(third[2], carried);
    // 700 - 250, less what was paid for
    const units = 450 - Number(carried ?? 0);
    assert.deepEqual(fourth?.slice(0, 2), [units * 10 + 31, `${units}`]);
  });
}

test('an estimate that was not billed takes nothing off what another meter measured', async () => {
  const { place, bill, connections, number } = await openHouse();
  await cancel(place, (await bill(july)).billID);
  const newNumber = await newMeter(place.client);
  await place.client.replaceMeter({
    data: {
      connectionNumber: connections[0] ?? '',
      oldNumber: number,
      newNumber,
      replaceDate: '11/08/2026',
      finalReadings: [{ value: '250' }],
      initialReadings: [{ value: '0' }],
      reason: 'old',
    },
  });
  const reading = { number: newNumber, value: '100', readingDate: '31/08/2026' };
  await place.client.makeReadings({ readings: [reading] });
  const termID = await place.open(august);
  const step = { termID, reading: 'current' };
  await place.client.postMeterReadings({ operation: 'schedule', data: step });
  const [one] = await billed(place, termID);
  assert.deepEqual([one?.billAmount, one?.usage[0]?.quantity], [1031, '100']);
});
