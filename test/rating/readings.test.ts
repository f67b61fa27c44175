// Readings to quantities, estimates, and what looks back at earlier terms.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimalText } from '../../src/base/numbers/decimal-text.ts';
import type { RatingError } from '../../src/domain/rating/rating-error.ts';
import { estimateReading } from '../../src/domain/rating/usage/estimates.ts';
import { billOf, codes, connected, meter, planWith, shown } from './small-tariff.ts';

const noTax = { component: 'tax', exclude: 1 } as const;

describe('readings', () => {
  const use = (meters: ReturnType<typeof meter>[], more = {}) => {
    const bill = billOf({ meters, ...more });
    return bill.errors.length > 0 ? codes(bill).join() : bill.usage[0]?.quantity;
  };

  test('a rollover said by the reader is believed, one against all habit is not', () => {
    assert.equal(use([meter('99990', '15')]), '25');
    const said = { current: { date: '31/07/2025', value: '40000', rollover: true } };
    assert.equal(use([meter('50000', '0', said)]), '90000');
    const usageHistory = {
      energy: [
        { quantity: '300', days: 30 },
        { quantity: '310', days: 31 },
      ],
    };
    assert.equal(use([meter('90000', '30000')], { usageHistory }), 'READING_DECREASED');
    assert.equal(use([meter('99990', '300')], { usageHistory }), '310');
  });

  test('a turn is at most half of what the register holds', () => {
    assert.equal(use([meter('60000', '10000')]), '50000');
    assert.equal(use([meter('60000', '10001')]), 'READING_DECREASED');
  });

  test('an estimate that had turned over while the register had not is taken back', () => {
    const afterEstimate = (value: string, end: string) => {
      const previous = { date: '30/06/2025', value, type: 'Estimated' } as const;
      const [energy] = billOf({ meters: [meter(value, end, { previous })] }).usage;
      return [energy?.quantity, energy?.carried];
    };
    // 99995 - 100021
    assert.deepEqual(afterEstimate('21', '99995'), ['0', '26']);
    assert.deepEqual(afterEstimate('10000', '60000'), ['50000', undefined]);
    assert.deepEqual(afterEstimate('10000', '60001'), ['0', '49999']);
  });

  test('readings in between tell of turns, in the order of their days', () => {
    const between = (readings: { date: string; value: string; rollover?: boolean }[]) =>
      use([meter('100', '300', { readings })]);
    const before = { date: '10/07/2025', value: '99000' };
    const after = { date: '20/07/2025', value: '200', rollover: true };
    assert.equal(between([before, after]), '100200');
    assert.equal(between([after, before]), '100200');
    // It says so and went up: no turn.
    assert.equal(between([after]), '200');
  });

  test('what is against all habit goes by the factor of the input', () => {
    const turned = (quantity: string, highFactor: number, end: string, mf = 1) => {
      const term = { quantity, days: 30 };
      const meters = [meter('99990', end, { mf })];
      const facts = { meters, usageHistory: { energy: [term, term] } };
      const meteredInputs = [{ name: 'energy', unit: 'kWh', highLow: { highFactor } }];
      const bill = billOf(facts, undefined, { meteredInputs });
      return bill.errors.length > 0 ? codes(bill).join() : bill.usage[0]?.quantity;
    };
    // 1.2 a day, 2.4 at most: 74 in 31 days
    assert.deepEqual(
      ['64', '65'].map((end) => turned('36', 2, end)),
      ['74', 'READING_DECREASED'],
    );
    assert.deepEqual(
      ['27', '28'].map((end) => turned('36', 2, end, 2)),
      ['74', 'READING_DECREASED'],
    );
    // 0.5 a day, 5 at most: 155; or 1 where that is more
    assert.deepEqual(
      ['145', '146'].map((end) => turned('15', 10, end)),
      ['155', 'READING_DECREASED'],
    );
    assert.deepEqual(
      ['21', '22'].map((end) => turned('6', 3, end)),
      ['31', 'READING_DECREASED'],
    );
  });

  test('an estimate that was too high bills nothing and is carried', () => {
    const after = meter('5372', '5360', {
      previous: { date: '30/06/2025', value: '5372', type: 'Estimated' },
    });
    const bill = billOf({ meters: [after] });
    assert.deepEqual(bill.usage, [{ input: 'energy', unit: 'kWh', quantity: '0', carried: '12' }]);
    const next = billOf({ meters: [meter('5360', '5500')], carriedUnits: { energy: '12' } });
    assert.equal(next.usage[0]?.quantity, '128');
  });

  test('consumptive registers add their values, demand takes the largest', () => {
    const readings = [
      { date: '10/07/2025', value: '10' },
      { date: '20/07/2025', value: '30' },
    ];
    const consumptive = meter('0', '5', { kind: 'Consumptive', previous: null, readings, mf: 2 });
    assert.equal(use([consumptive]), '90');
    const demand = meter('0', '5', { kind: 'Demand', input: 'demand', previous: null, readings });
    assert.equal(use([demand]), '30');
  });

  test('quantities are rounded once, half up', () => {
    const parts = [meter('0', '0.3'), meter('0', '0.2', { number: 2 })];
    assert.equal(use(parts), '1');
  });
});

describe('advance billing', () => {
  const previous = { label: 'Jun-2025', startDate: '01/06/2025', endDate: '30/06/2025', months: 1 };
  const overage = planWith([
    noTax,
    {
      component: 'extra',
      scope: 'Term',
      window: 'Previous',
      formula: 'usage.data * 2 + HIST("data", 1)',
    },
  ]);

  test('a rule of the previous window reads the term before, and the history before that', () => {
    const usageHistory = {
      data: [
        { label: 'Jun-2025', quantity: '50' },
        { label: 'May-2025', quantity: '7' },
      ],
    };
    const bill = billOf({ previousTerm: { term: previous, usage: { data: '50' } }, usageHistory }, [
      overage,
    ]);
    assert.deepEqual(shown(bill), ['feeCharge 310', 'extra 107 01/06-30/06']);
  });

  test('the first bill has no term before', () => {
    assert.deepEqual(shown(billOf({}, [overage])), ['feeCharge 310']);
  });

  test('the final bill takes back what was billed for days after the end', () => {
    const facts = connected({ disconnectDate: '16/06/2025' });
    const billed = { feeCharge: '310.00' };
    const bill = billOf(
      { ...facts, previousTerm: { term: previous, usage: { data: '5' }, billed } },
      [overage],
    );
    // 310 x 15/30 - 310, and 5 x 2
    assert.deepEqual(shown(bill), ['feeCharge -155 01/06-15/06', 'extra 10 01/06-15/06']);
    assert.equal(bill.lines[0]?.lineType, 'Adjustment');
  });
});

describe('estimates', () => {
  const base = { previous: '5000', mf: 1, days: 31 };
  const made = (more: Partial<Parameters<typeof estimateReading>[0]>) => {
    const { reading, basis, rollover } = estimateReading({ ...base, ...more });
    return [decimalText(reading), basis, rollover];
  };

  test('take the first source that is good enough', () => {
    const sameTermLastYear = { quantity: '372', days: 31 };
    const previousTerm = { quantity: '290', days: 30 };
    const actualTerms = [
      { quantity: '100', days: 20 },
      { quantity: '900', days: 30, isEstimated: true },
      { quantity: '110', days: 22 },
    ];
    const all = { sameTermLastYear, previousTerm, actualTerms, defaultDaily: '2' };
    assert.deepEqual(made(all), ['5372', 'LastYear', false]);
    const estimated = { ...sameTermLastYear, isEstimated: true };
    assert.deepEqual(made({ ...all, sameTermLastYear: estimated }), [
      '5300',
      'PreviousTerm',
      false,
    ]);
    const short = { ...previousTerm, days: 14 };
    const recent = { ...all, sameTermLastYear: null, previousTerm: short };
    assert.deepEqual(made(recent), ['5155', 'RecentTerms', false]);
    const half = { quantity: '150', days: 15 };
    assert.deepEqual(made({ ...recent, previousTerm: half }), ['5310', 'PreviousTerm', false]);
    const corrected = { quantity: '-30', days: 30 };
    assert.deepEqual(made({ previousTerm: corrected }), ['5000', 'PreviousTerm', false]);
    assert.deepEqual(made({ defaultDaily: '2' }), ['5062', 'Default', false]);
  });

  test('roll over as registers do', () => {
    const near = { previous: '99990', digits: 5, defaultDaily: '1' };
    assert.deepEqual(made(near), ['21', 'Default', true]);
    assert.deepEqual(made({ ...near, previous: '99969' }), ['0', 'Default', true]);
    assert.deepEqual(made({ ...near, previous: '99968' }), ['99999', 'Default', false]);
  });

  test('are refused without a source, and after as many in a row as allowed', () => {
    const isRefused = (error: unknown) => (error as RatingError).code === 'ESTIMATE_NOT_POSSIBLE';
    assert.throws(() => made({}), isRefused);
    assert.throws(() => made({ defaultDaily: '2', consecutive: 3 }), isRefused);
    assert.deepEqual(made({ defaultDaily: '2', consecutive: 3, consecutiveMax: 4 })[0], '5062');
  });
});
