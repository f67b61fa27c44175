// Three months each, with every amount computed by hand: plans that change inside a month, credits
// that are rounded, meters of several registers that are exchanged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, type OfferPlace, openOffer, september } from '../support/offer-place.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const charge = (name: string) => ({ name, label: name, type: 'Charge' as const });

/** Lines by component and first day, then arrears, rounding, what is payable and what is credit. */
async function billed(place: OfferPlace, days: typeof july, readings: string[][] = []) {
  const termID = await place.open(days);
  if (readings.length > 0) {
    const data = JSON.stringify({ termID, readings });
    await place.client.uploadMeterReadings({ operation: 'schedule', data: { data } });
    const lock = { termID, reading: 'current' };
    await place.client.postMeterReadings({ operation: 'schedule', data: lock });
  }
  await generate(place, termID);
  const [bill] = await billsOf(place, termID);
  await post(place, termID);
  assert.ok(bill);
  assert.deepEqual(bill.errors, []);
  const lines = bill.lines.map((line) => `${line.component} ${line.fromDate} ${line.amount}`);
  const { arrears, roundingAdjustment, payableWithinDueDate, creditBalance } = bill;
  return [...lines, [arrears, roundingAdjustment, payableWithinDueDate, creditBalance]];
}

const items = (values: Record<string, string>) =>
  Object.entries(values).map(([name, formula]) => ({ name, formula }));

const ofTerm = (component: string, formula: string) => ({
  component,
  scope: 'Term' as const,
  formula,
});

test('a child plan without the minimum of its parent, inside a month and back again', async () => {
  const changes = { fee: 'Split', atEnd: 'End', atStart: 'Start', mean: 'Weighted' } as const;
  const values = Object.entries(changes).map(([name, changeInTerm]) => {
    return { name, type: 'Number' as const, default: '0', changeInTerm };
  });
  const components = ['a', 'b', 'c', 'd', 'minimum'].map(charge);
  const place = await openOffer(
    scene,
    'months-plans',
    { values, components },
    {
      valueFormulas: items({ fee: '310', atEnd: '10', atStart: '10', mean: '31' }),
      componentRules: [
        { component: 'a', formula: 'fee', prorate: 'Days' },
        ofTerm('b', 'atEnd'),
        ofTerm('c', 'atStart'),
        ofTerm('d', 'mean'),
        ofTerm('minimum', 'MAX(0, 1000 * segment.factor - comp.a)'),
      ],
    },
  );
  const { serviceCode, tariffCode: parent } = place.offer;
  const { code: child } = await newTariff(place.client, serviceCode, {
    parentTariffCode: parent,
    valueFormulas: items({ fee: '620', atEnd: '20', atStart: '20', mean: '62' }),
    componentRules: [{ component: 'minimum', exclude: 1 }, ofTerm('c', 'SUPER() * 2')],
  });
  const connectionNumber = await place.connectOld();
  const change = (tariffCode: string, effectiveDate: string) =>
    place.client.changeTariff({ data: { connectionNumber, tariffCode, effectiveDate } });
  assert.deepEqual(await billed(place, july), [
    'a 01/07/2026 310',
    'b 01/07/2026 10',
    'c 01/07/2026 10',
    'd 01/07/2026 31',
    // 1000 - 310
    'minimum 01/07/2026 690',
    [0, 0, 1051, 0],
  ]);
  await change(child, '11/08/2026');
  assert.deepEqual(await billed(place, august), [
    // 310 * 10 / 31, 620 * 21 / 31
    'a 01/08/2026 100',
    'a 11/08/2026 420',
    'b 01/08/2026 20',
    // The first day's 10, twice.
    'c 01/08/2026 20',
    // (31 * 10 + 62 * 21) / 31
    'd 01/08/2026 52',
    [1051, 0, 1663, 0],
  ]);
  await change(parent, '16/09/2026');
  assert.deepEqual(await billed(place, september), [
    // 620 / 2, 310 / 2
    'a 01/09/2026 310',
    'a 16/09/2026 155',
    'b 01/09/2026 10',
    'c 01/09/2026 20',
    // (62 + 31) / 2
    'd 01/09/2026 46.5',
    // 1000 - 465
    'minimum 01/09/2026 535',
    [1663, 0, 2739.5, 0],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('a credit is rounded up, month by month, until it is used up', async () => {
  const place = await openOffer(
    scene,
    'months-credit',
    { billRounding: { scale: -1, mode: 'Ceiling' }, components: [charge('fee')] },
    { componentRules: [{ component: 'fee', formula: '100.40' }] },
  );
  await place.connectOld({ accounts: [{ title: 'Receivable', balance: '-205.50' }] });
  // 100.40 - 205.50 = -105.10, up to -100
  assert.deepEqual(await billed(place, july), ['fee 01/07/2026 100.4', [-205.5, 5.1, 0, 100]]);
  // 100.40 - 100 = 0.40, up to 10
  assert.deepEqual(await billed(place, august), ['fee 01/08/2026 100.4', [-100, 9.6, 10, 0]]);
  // 100.40 + 10 = 110.40, up to 120
  assert.deepEqual(await billed(place, september), ['fee 01/09/2026 100.4', [10, 9.6, 120, 0]]);
  await assertChecks(scene, place.tenantId);
});

const inputs = { peak: 'kWhPeak', rest: 'kWhOffPeak', load: 'kW' };

/** What the registers of a meter show, in their order. */
const shows = (...values: string[]) =>
  Object.values(inputs).flatMap((register, index) => {
    const value = values[index];
    return value === undefined ? [] : [{ register, value }];
  });

test('peak, rest and highest load over a turn and an exchange for a meter of factor 3', async () => {
  const demand = 'MAX(usage.load, 80% * HISTMAX("load", 11)) * 10';
  const place = await openOffer(
    scene,
    'months-registers',
    {
      components: ['peak', 'rest', 'demand'].map((name, sequence) => {
        return { ...charge(name), sequence };
      }),
      meteredInputs: Object.entries(inputs).map(([name, register]) => {
        const isLoad = register === 'kW';
        const aggregation = isLoad ? ('Max' as const) : ('Sum' as const);
        return { name, register, unit: isLoad ? 'kW' : 'kWh', aggregation };
      }),
    },
    {
      componentRules: [
        { component: 'peak', formula: 'usage.peak * 3' },
        { component: 'rest', formula: 'usage.rest' },
        { component: 'demand', scope: 'Term', formula: demand },
      ],
      usageData: Object.keys(inputs).map((input) => ({ input, source: 'Metered', required: 1 })),
    },
  );
  const old = await newMeter(place.client, { meterType: 2 });
  const next = await newMeter(place.client, { meterType: 2, mf: 3 });
  const initialReadings = shows('999900', '100');
  const number = await place.connectOld({
    meters: [{ number: old, installDate: '30/06/2026', initialReadings }],
  });
  const rows = (meter: number, date: string, ...values: string[]) =>
    shows(...values).map((one) => [number, String(meter), one.value, date, '', '', one.register]);
  assert.deepEqual(await billed(place, july, rows(old, '31/07/2026', '999950', '300', '10')), [
    'peak 01/07/2026 150',
    'rest 01/07/2026 200',
    'demand 01/07/2026 100',
    [0, 0, 450, 0],
  ]);
  await place.client.replaceMeter({
    data: {
      connectionNumber: number,
      oldNumber: old,
      newNumber: next,
      replaceDate: '15/08/2026',
      finalReadings: shows('50', '400', '5'),
      initialReadings: shows('10', '20'),
      reason: 'old',
    },
  });
  assert.deepEqual(await billed(place, august, rows(next, '31/08/2026', '30', '30', '2')), [
    // (50 + 1000000 - 999950 + (30 - 10) * 3) * 3
    'peak 01/08/2026 480',
    // 400 - 300 + (30 - 20) * 3
    'rest 01/08/2026 130',
    // 5 and 2 * 3 are less than 80% of 10
    'demand 01/08/2026 80',
    [450, 0, 1140, 0],
  ]);
  assert.deepEqual(await billed(place, september, rows(next, '30/09/2026', '40', '30', '3')), [
    'peak 01/09/2026 90',
    // 3 * 3
    'demand 01/09/2026 90',
    [1140, 0, 1320, 0],
  ]);
  await assertChecks(scene, place.tenantId);
});
