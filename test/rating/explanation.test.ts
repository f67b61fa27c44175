// Why a line has its amount: names with their sources, steps, rounding, and a text for the bill.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import type { LineExplanation } from '../../src/domain/rating/rate/explain.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { billOf, connected, meter, plan, planWith } from './small-tariff.ts';
import { tariffCases } from './tariff-cases.ts';

function explained(id: string): Map<string, LineExplanation> {
  for (const { service, tariffs, scenarios } of tariffCases) {
    const scenario = scenarios.find((candidate) => candidate.id === id);
    if (scenario === undefined) continue;
    const book = compilePriceBook(singleVersion(service, tariffs));
    const { explanation } = rateBill(book, scenario, { explain: true });
    return new Map((explanation ?? []).map((line) => [line.component, line]));
  }
  throw new Error(`there is no scenario ${id}`);
}

function sourceOf(line: LineExplanation | undefined, name: string) {
  const found = line?.names.find((item) => item.name === name);
  return found === undefined
    ? undefined
    : { value: found.value, unit: found.unit, ...found.source };
}

describe('explanation', () => {
  const elec = explained('ELEC-a');

  test('shows the formula, each step, the exact result and the rounding', () => {
    const line = elec.get('fuelAdjustment');
    assert.equal(line?.formula, 'HIST("energy", 2) * fpaRate');
    assert.deepEqual(line?.steps, [
      { expression: 'HIST("energy", 2)', value: '376' },
      { expression: 'HIST("energy", 2) * fpaRate', value: '321.2168' },
    ]);
    assert.equal(line?.exact, '321.2168');
    assert.deepEqual(line?.rounding, { scale: 2, mode: 'HalfUp' });
    assert.deepEqual(
      [line?.amount, line?.scope, line?.factor, line?.days],
      [32_122, 'Term', '1', 31],
    );
  });

  test('says where each number came from', () => {
    const energy = elec.get('energyCharge');
    const reading = {
      value: '404',
      unit: 'kWh',
      kind: 'Reading',
      ref: '700101 700202',
      date: '31/07/2025',
    };
    assert.deepEqual(sourceOf(energy, 'usage.energy'), reading);
    const slabs = sourceOf(energy, 'energySlabs');
    assert.deepEqual(
      [slabs?.kind, slabs?.tariffCode, slabs?.version, slabs?.date],
      ['Plan', 'RES-A1', 1, '01/07/2024'],
    );
    const fuel = elec.get('fuelAdjustment');
    assert.deepEqual(sourceOf(fuel, 'HIST("energy", 2)'), {
      value: '376',
      unit: null,
      kind: 'History',
      ref: 'energy',
    });
    const fixed = elec.get('fixedCharge');
    assert.equal(sourceOf(fixed, 'fixedPerKw')?.kind, 'Default');
    assert.equal(sourceOf(fixed, 'input.sanctionedLoad')?.kind, 'Input');
    assert.equal(fixed?.when, 'usage.energy > fixedThreshold');
    assert.equal(sourceOf(elec.get('gst'), 'SUMCAT("taxable")')?.kind, 'Component');
    assert.equal(sourceOf(elec.get('lateSurcharge'), 'bill.current')?.kind, 'Component');
    assert.equal(
      sourceOf(explained('SOC-a').get('interest'), 'account.overdueAmountDays')?.kind,
      'Account',
    );
    const saas = explained('SAAS-a');
    assert.equal(sourceOf(saas.get('platform'), 'platformFee')?.kind, 'Variant');
    assert.equal(sourceOf(saas.get('apiOverage'), 'usage.apiCalls')?.kind, 'Uploaded');
  });

  test('of a quantity that was uploaded in place of the meter names the upload', () => {
    const facts = {
      ...connected({}),
      meters: [meter('0', '310')],
      uploadedUsage: { energy: '50' },
    };
    const bill = billOf(facts, [plan], {}, { explain: true });
    const line = bill.explanation?.find(({ component }) => component === 'energyCharge');
    const { value, kind } = sourceOf(line, 'usage.energy') ?? {};
    assert.deepEqual([value, kind], ['50', 'Uploaded']);
  });

  test('distinguishes a parent from the plan itself, and follows SUPER() and values of values', () => {
    const parent = planWith([{ component: 'feeCharge', formula: 'fee * 2', prorate: 'Days' }], {
      code: 'P',
      valueFormulas: [{ name: 'fee', formula: 'rate + 1' }],
    });
    const child = {
      code: 'A',
      parentTariffCode: 'P',
      componentRules: [{ component: 'feeCharge', formula: 'SUPER() + 1' }],
    };
    const bill = billOf(
      connected({ disconnectDate: '11/07/2025' }),
      [child, parent],
      {},
      { explain: true },
    );
    const line = bill.explanation?.[0];
    assert.equal(sourceOf(line, 'fee')?.kind, 'Parent');
    assert.equal(sourceOf(line, 'fee')?.tariffCode, 'P');
    assert.equal(sourceOf(line, 'rate')?.kind, 'Default');
    assert.equal(sourceOf(line, 'SUPER()')?.value, '1.935483870968…');
    assert.equal(line?.factor, '0.322580645161…');
    assert.equal(line?.text, '1.935484… + 1 = 2.935484…, rounded 2.94');
  });

  const sums = {
    '100 - (30 - 10)': '100 - (30 - 10) = 80.00',
    '100 - 30 - 10': '100 - 30 - 10 = 60.00',
    '100 + (30 - 10)': '100 + 30 - 10 = 120.00',
    '100 / (5 * 2)': '100 / (5 x 2) = 10.00',
    '100 / 5 * 2': '100 / 5 x 2 = 40.00',
    '100 - IF(rate > 1, 30 - rate, 0)': '100 - (30 - 2) = 72.00',
  };
  for (const [formula, text] of Object.entries(sums)) {
    test(`of ${formula} is the same sum`, () => {
      const rule = { component: 'extra', scope: 'Term' as const, formula };
      const bill = billOf({}, [planWith([rule])], {}, { explain: true });
      const line = bill.explanation?.find(({ component }) => component === 'extra');
      assert.equal(line?.text, text);
    });
  }

  test('of a sum for a part of the days says that all of it is for these days', () => {
    const rule = { component: 'extra', prorate: 'Days' as const, formula: 'IF(TRUE, rate + 1, 0)' };
    const facts = connected({ disconnectDate: '11/07/2025' });
    const bill = billOf(facts, [planWith([rule])], {}, { explain: true });
    const line = bill.explanation?.find(({ component }) => component === 'extra');
    assert.equal(line?.text, '(2 + 1) x 10/31 days = 0.967742…, rounded 0.97');
  });

  const texts: [string, string, string][] = [
    ['ELEC-a', 'energyCharge', '100 x 16.48 + 100 x 22.95 + 100 x 27.14 + 104 x 32.03 = 9988.12'],
    ['ELEC-a', 'fixedCharge', '5 x 200 = 1000.00'],
    ['ELEC-a', 'gst', '11488.98 x 18% = 2068.0164, rounded 2068.02'],
    ['ELEC-a', 'tvFee', '35.00'],
    ['ELEC-b', 'meterRent', '25 x 20/31 days = 16.129032…, rounded 16.13'],
    ['ELEC-c', 'minimumAdjustment', '75 x 1 - 0 = 75.00'],
    ['WATER-b', 'vat', '1287 x 5% = 64.35'],
    ['GAS-a', 'gasCharge', '6.3222 x 1250 = 7902.75'],
    ['ISP-a', 'planFee', '2677.42 now, 2000.00 billed = 677.42'],
    ['SOC-a', 'gst', '8711.25 x 18% = 1568.025, rounded 1568.03'],
    ['SOC-a', 'hallBooking', 'uploaded: 2500.00'],
    ['SAAS-a', 'seatCharge', '20 x 12 x 20/30 days = 160.00'],
  ];
  for (const [id, component, text] of texts) {
    test(`of ${component} in ${id} prints "${text}"`, () => {
      assert.equal(explained(id).get(component)?.text, text);
    });
  }

  test('of an adjustment shows each part that was rated again', () => {
    const line = explained('ISP-a').get('planFee');
    assert.equal(line?.formula, 'monthlyFee');
    assert.deepEqual(line?.steps, [
      {
        expression: '01/08/2025 to 10/08/2025: 2000 x 10/31 days = 645.16129…, rounded 645.16',
        value: '645.16',
      },
      {
        expression: '11/08/2025 to 31/08/2025: 3000 x 21/31 days = 2032.258065…, rounded 2032.26',
        value: '2032.26',
      },
      { expression: 'billed before', value: '2000.00' },
    ]);
    assert.deepEqual(
      line?.names.map((name) => name.source.tariffCode),
      ['NET-20', 'NET-50'],
    );
  });

  test('is no part of a bill that was not asked to explain itself', () => {
    const facts = { meters: [meter('0', '5')] };
    assert.equal('explanation' in billOf(facts), false);
    const { explanation, ...bill } = billOf(facts, [plan], {}, { explain: true });
    assert.equal(explanation?.length, 3);
    assert.deepEqual(bill, billOf(facts));
  });
});
