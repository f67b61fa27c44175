// Bills made in advance: what the next one makes of the term before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type ShownBill } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { february, january, march, openHome } from '../support/skipped-bills.ts';
import { newMeter, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const linesOf = (bill: ShownBill | undefined) =>
  bill?.lines.map((line) => [line.component, line.lineType, line.amount]);

for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
  test(`${postType}: what a bill knew of the account is not known better by the next`, async () => {
    const components = ['fee', 'welcome', 'reminder'].map((name, index) => {
      return { name, label: name, type: 'Charge' as const, sequence: index };
    });
    const place = await openOffer(
      scene,
      `advance-${postType.toLowerCase().replace(' ', '-')}`,
      { postType, postBilling: 0, components },
      {
        componentRules: [
          { component: 'fee', formula: '310', prorate: 'Days' },
          { component: 'welcome', when: 'connection.isFirstBill', formula: '1500' },
          { component: 'reminder', formula: 'IF(account.arrears > 0, 50, 0)' },
        ],
      },
    );
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const connection = { ...place.offer, connectionDate: '01072026', users };
    await subscribe(place.client, connection);
    const isAlone = postType === 'Post Subscription';
    if (!isAlone) await subscribe(place.client, connection);
    const billed = async (days: typeof july) => {
      const term = await place.open(days);
      await generate(place, term);
      const [bill] = await billsOf(place, term);
      await post(place, term);
      const lines = linesOf(bill) ?? [];
      return isAlone ? lines : lines.slice(lines.length / 2);
    };
    assert.deepEqual(await billed(july), [
      ['fee', 'Normal', 310],
      ['welcome', 'Normal', 1500],
    ]);
    const later = [
      ['fee', 'Normal', 310],
      ['reminder', 'Normal', 50],
    ];
    assert.deepEqual(await billed(august), later);
    assert.deepEqual(await billed(september), later);
    await assertChecks(scene, place.tenantId);
  });
}

const energyRule = { component: 'energyCharge', formula: 'usage.energy * rate' };

/** A home that is billed in advance and pays for energy by these rules. */
async function openAdvance(rule: object, required = 1) {
  const home = await openHome(scene, { postBilling: 0 });
  const [plan] = (await home.client.getTariffs({})).data.tariffs;
  const { serviceCode = '', tariffCode: code = '' } = plan ?? {};
  const tariff = {
    componentRules: [
      { ...energyRule, ...rule },
      { component: 'gst', formula: '0' },
    ],
    usageData: [{ input: 'energy', source: 'Metered' as const, required }],
  };
  const effectiveDate = '01/01/2026';
  await home.client.updateTariff({ tariff: { serviceCode, code, effectiveDate, ...tariff } });
  const billed = async (days: typeof january, ...rows: [string, string][]) => {
    const term = await home.read(days, ...rows);
    await generate(home.run, term);
    const [bill] = await billsOf(home.run, term);
    assert.deepEqual(bill?.errors, []);
    await post(home.run, term);
    return (bill?.lines ?? []).map((line) => [line.lineType, line.fromDate, line.amount]);
  };
  return { home, tariff, serviceCode, billed };
}

for (const scope of ['Segment', 'Term'] as const) {
  for (const required of forms([0, 1])) {
    test(`what meters measured of the term before is billed: ${scope}, ${required}`, async () => {
      const rule = { scope, window: 'Previous' as const };
      const { home, billed } = await openAdvance(rule, required);
      assert.deepEqual(await billed(january), []);
      const first = await billed(february, ['100', '31/01/2026']);
      assert.deepEqual(first, [['Normal', '01/01/2026', 2000]]);
      const second = await billed(march, ['250', '28/02/2026']);
      assert.deepEqual(second, [['Normal', '01/02/2026', 3000]]);
      await assertChecks(scene, home.tenantId);
    });
  }
}

test('what was measured for a bill made in advance is not given back by the next', async () => {
  const { home, billed } = await openAdvance({}, 0);
  assert.deepEqual(await billed(january), []);
  assert.deepEqual(await billed(february, ['100', '31/01/2026']), [['Normal', '01/02/2026', 2000]]);
  assert.deepEqual(await billed(march, ['250', '28/02/2026']), [['Normal', '01/03/2026', 3000]]);
  await assertChecks(scene, home.tenantId);
});

test('a plan that changed in the term before divides its use by the reading of the day', async () => {
  const { home, tariff, serviceCode, billed } = await openAdvance({ window: 'Previous' });
  await billed(january);
  await billed(february, ['100', '31/01/2026']);
  const valueFormulas = [{ name: 'rate', formula: '30' }];
  const { code } = await newTariff(home.client, serviceCode, { ...tariff, valueFormulas });
  const change = { connectionNumber: home.connection, effectiveDate: '11/02/2026' };
  await home.client.changeTariff({ data: { ...change, tariffCode: code } });
  // 30 at 20 and 120 at 30
  assert.deepEqual(await billed(march, ['130', '10/02/2026'], ['250', '28/02/2026']), [
    ['Normal', '01/02/2026', 600],
    ['Normal', '11/02/2026', 3600],
  ]);
});

/** Energy at 10, of the previous term, estimated at 10 a day if it is not read. */
function openEstimated(workspace: string) {
  const estimation = { allowed: 1, defaultDaily: 10 };
  const energy = { name: 'energy', unit: 'kWh', register: 'kWh', estimation };
  const rule = { component: 'energyCharge', window: 'Previous', formula: 'usage.energy * 10' };
  return openOffer(
    scene,
    workspace,
    {
      postBilling: 0,
      meteredInputs: [energy],
      components: [{ name: 'energyCharge', label: 'Energy', type: 'Charge' }],
    } as never,
    {
      componentRules: [rule as never],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
}

for (const reading of forms(['current', 'estimated', 'previous'])) {
  test(`a first bill that is made late leaves what was used to the next: ${reading}`, async () => {
    const place = await openEstimated(`late-${reading}`);
    const { client } = place;
    const [number, newNumber] = [await newMeter(client), await newMeter(client)];
    const meter = { number, installDate: '30/06/2026', initialReading: '0' };
    const connectionNumber = await place.connectOld({ meters: [meter] });
    const meters = { connectionNumber, oldNumber: number, newNumber, replaceDate: '16/07/2026' };
    const exchanged = { finalReadings: [{ value: '60' }], initialReadings: [{ value: '0' }] };
    await client.replaceMeter({ data: { ...meters, ...exchanged } });
    const readings = [{ number: newNumber, value: '40', readingDate: '31/07/2026' }];
    await client.makeReadings({ readings });
    const billed = async (days: typeof july) => {
      const termID = await place.open(days);
      await client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
      await generate(place, termID);
      const [bill] = await billsOf(place, termID);
      assert.deepEqual(bill?.errors, []);
      await post(place, termID);
      return bill?.billAmount;
    };
    assert.equal(await billed(july), 0);
    // 60 on the old meter, 40 on the new one
    assert.equal(await billed(august), 1000);
    await assertChecks(scene, place.tenantId);
  });
}

for (const first of forms(['current', 'estimated'])) {
  test(`use is estimated up to the day before the term: ${first}`, async () => {
    const place = await openEstimated(`ahead-${first}`);
    const number = await newMeter(place.client);
    const meter = { number, installDate: '30/06/2026', initialReading: '0' };
    const connection = await place.connectOld({ meters: [meter] });
    const made = async (termID: number, reading: string) => {
      await place.client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
      await generate(place, termID);
      const [bill] = await billsOf(place, termID);
      assert.deepEqual(bill?.errors, []);
      return bill?.billAmount;
    };
    const start = await place.open(july);
    assert.equal(await made(start, first), 0);
    await post(place, start);
    // 31 days of July; a term of the same days takes the same estimate.
    const second = await place.open(august);
    const who = { type: 'OffCycle' as const, connectionNumbers: [connection] };
    const beside = await place.open({ ...august, ...who });
    assert.deepEqual(
      [await made(second, 'estimated'), await made(beside, 'estimated')],
      [3100, 3100],
    );
    await post(place, beside);
    const readings = [{ number, value: '400', readingDate: '31/08/2026' }];
    await place.client.makeReadings({ readings });
    const third = await place.open(september);
    assert.equal(await made(third, 'current'), 900);
    await post(place, third);
    await assertChecks(scene, place.tenantId);
  });
}
