// Days, segments and values over time, one story each with the sum in the line.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  billOf,
  bookBill,
  codes,
  connected,
  context,
  july,
  meter,
  plan,
  planWith,
  shown,
} from './small-tariff.ts';

describe('billable days', () => {
  test('days before the term that no term billed are caught up, cut at its start', () => {
    const bill = billOf(connected({ connectionDate: '21/06/2025', billedThrough: '20/06/2025' }));
    // 310 x 10/31 and 310
    assert.deepEqual(shown(bill), [
      'feeCharge 100 21/06-30/06',
      'feeCharge 310',
      'tax 41 21/06-31/07',
    ]);
    assert.equal(bill.days, 41);
    assert.equal(bill.billedFrom, '21/06/2025');
  });

  test('a term billed before is not billed again', () => {
    const bill = billOf(connected({ connectionDate: '01/01/2025', billedThrough: '30/06/2025' }));
    assert.deepEqual(shown(bill), ['feeCharge 310', 'tax 31']);
    const none = billOf(connected({ connectionDate: '01/01/2025', billedThrough: '31/07/2025' }));
    assert.deepEqual([none.days, none.lines.length, none.errors.length], [0, 0, 0]);
  });

  test('more than 366 days to catch up put the bill in Error', () => {
    const through = (billedThrough: string) => billOf(connected({ billedThrough }));
    assert.deepEqual(codes(through('29/06/2024')), []);
    assert.deepEqual(codes(through('28/06/2024')), ['CATCH_UP_TOO_LONG']);
  });

  test('disconnected and reconnected inside the term makes two runs', () => {
    const statusHistory = [
      { status: 'Active', fromDate: '01/01/2025' },
      { status: 'Disconnected', fromDate: '11/07/2025' },
      { status: 'Active', fromDate: '22/07/2025' },
    ];
    const bill = billOf(connected({ statusHistory }));
    assert.deepEqual(shown(bill), [
      'feeCharge 100 01/07-10/07',
      'feeCharge 100 22/07-31/07',
      'tax 20',
    ]);
  });

  test('a subscription that ends before the term has nothing to pay', () => {
    const bill = billOf(connected({ disconnectDate: '01/07/2025' }));
    assert.deepEqual([bill.status, bill.days, bill.currentCharges], ['Draft', 0, 0]);
  });

  test('a term of one day, a leap February and month ends have neither gap nor overlap', () => {
    for (const [startDate, endDate, days] of [
      ['29/02/2024', '29/02/2024', 1],
      ['01/02/2024', '29/02/2024', 29],
      ['31/01/2025', '27/02/2025', 28],
    ] as const) {
      const bill = billOf({ term: { startDate, endDate } });
      assert.deepEqual([bill.days, bill.lines[0]?.amount], [days, 31_000]);
    }
  });
});

describe('cuts', () => {
  test('a plan change cuts, and Term rules are those of the last plan', () => {
    const other = planWith(
      [{ component: 'tax', scope: 'Term', formula: 'SUMCAT("taxed") * 20%' }],
      {
        code: 'B',
        valueFormulas: [{ name: 'fee', formula: '620' }],
      },
    );
    const tariffHistory = [
      { tariffCode: 'A', fromDate: '01/01/2025' },
      { tariffCode: 'B', fromDate: '11/07/2025' },
    ];
    const bill = billOf(connected({ tariffHistory }), [plan, other]);
    // 310 x 10/31, 620 x 21/31, 20 % of 520
    assert.deepEqual(shown(bill), [
      'feeCharge 100 01/07-10/07',
      'feeCharge 420 11/07-31/07',
      'tax 104',
    ]);
  });

  test('an owner transfer cuts', () => {
    const bill = billOf(connected({ transfers: [{ transferDate: '11/07/2025' }] }));
    assert.deepEqual(shown(bill), [
      'feeCharge 100 01/07-10/07',
      'feeCharge 210 11/07-31/07',
      'tax 31',
    ]);
  });

  test('a quantity that no rule reads cuts nothing', () => {
    const unmeteredInputs = [
      { name: 'seats', value: '1', fromDate: '01/01/2025' },
      { name: 'seats', value: '2', fromDate: '11/07/2025' },
    ];
    assert.deepEqual(shown(billOf(connected({ unmeteredInputs }))), ['feeCharge 310', 'tax 31']);
    const reading = planWith([{ component: 'extra', formula: 'qty.seats * 31', prorate: 'Days' }]);
    const bill = billOf(connected({ unmeteredInputs }), [reading]);
    assert.deepEqual(shown(bill).slice(2, 4), ['extra 10 01/07-10/07', 'extra 42 11/07-31/07']);
  });

  test('a rule that begins inside the term cuts, and is 0 before', () => {
    const dated = planWith([
      { component: 'feeCharge', formula: 'fee', prorate: 'Days', toDate: '10/07/2025' },
      { component: 'feeCharge', formula: 'fee * 2', prorate: 'Days', fromDate: '22/07/2025' },
    ]);
    const bill = billOf({}, [dated]);
    assert.deepEqual(shown(bill), [
      'feeCharge 100 01/07-10/07',
      'feeCharge 200 22/07-31/07',
      'tax 30',
    ]);
    assert.equal(bill.segments.length, 3);
  });

  test('a new version of the plan or of the context cuts, and lines name the version', () => {
    const second = { ...plan, valueFormulas: [{ name: 'fee', formula: '620' }] };
    const bill = bookBill(
      {
        contexts: [
          { version: 1, effectiveDate: null, definition: context },
          { version: 2, effectiveDate: '22/07/2025', definition: context },
        ],
        plans: [
          { version: 1, effectiveDate: null, definition: plan },
          { version: 2, effectiveDate: '11/07/2025', definition: second },
        ],
      },
      {},
    );
    const fees = bill.lines.filter((line) => line.component === 'feeCharge');
    assert.deepEqual(
      fees.map((line) => [line.days, line.amount, line.tariffVersion]),
      [
        [10, 10_000, 1],
        [11, 22_000, 2],
        [10, 20_000, 2],
      ],
    );
  });

  test('a new version of the parent cuts too', () => {
    const child = { code: 'C', parentTariffCode: 'A' };
    const second = { ...plan, valueFormulas: [{ name: 'fee', formula: '620' }] };
    const versions = [
      { version: 1, effectiveDate: null, definition: plan },
      { version: 2, effectiveDate: '11/07/2025', definition: second },
      { version: 1, effectiveDate: null, definition: child },
    ];
    const contexts = [{ version: 1, effectiveDate: null, definition: context }];
    const bill = bookBill({ contexts, plans: versions }, { tariffCode: 'C' });
    assert.deepEqual(shown(bill).slice(0, 2), [
      'feeCharge 100 01/07-10/07',
      'feeCharge 420 11/07-31/07',
    ]);
  });
});

test('many lines are in the same order as few: by component, then by day', () => {
  const transfers = Array.from({ length: 30 }, (_, index) => {
    return { transferDate: `${String(31 - index).padStart(2, '0')}/07/2025` };
  });
  const bill = billOf({ ...connected({ transfers }), meters: [meter('0', '31')] });
  const keys = bill.lines.map((line) => `${line.component} ${line.fromDate}`);
  const wanted = ['feeCharge', 'energyCharge'].flatMap((component) =>
    Array.from(
      { length: 31 },
      (_, day) => `${component} ${String(day + 1).padStart(2, '0')}/07/2025`,
    ),
  );
  assert.deepEqual(keys, [...wanted, 'tax 01/07/2025']);
  assert.deepEqual(bill.lines.map((line) => line.lineNo).slice(-2), [62, 63]);
});

describe('usage of segments', () => {
  const transfers = [{ transferDate: '11/07/2025' }];
  const energy = (bill: ReturnType<typeof billOf>) =>
    shown(bill).filter((line) => line.startsWith('energyCharge'));

  test('goes by days where no reading was taken at the cut', () => {
    const bill = billOf({ ...connected({ transfers }), meters: [meter('0', '310')] });
    assert.deepEqual(energy(bill), [
      'energyCharge 200 01/07-10/07',
      'energyCharge 420 11/07-31/07',
    ]);
  });

  test('is measured where one was taken on the last day before it', () => {
    const readings = [{ date: '10/07/2025', value: '200' }];
    const bill = billOf({ ...connected({ transfers }), meters: [meter('0', '310', { readings })] });
    assert.deepEqual(energy(bill), [
      'energyCharge 400 01/07-10/07',
      'energyCharge 220 11/07-31/07',
    ]);
  });

  test('is measured by the last of that day, and by those before it', () => {
    const date = '10/07/2025';
    const measured = (...readings: { date: string; value: string; rollover?: boolean }[]) => {
      const meters = [meter('0', '310', { readings })];
      return energy(billOf({ ...connected({ transfers }), meters }));
    };
    const expected = ['energyCharge 400 01/07-10/07', 'energyCharge 220 11/07-31/07'];
    assert.deepEqual(measured({ date, value: '150' }, { date, value: '200' }), expected);
    const turned = measured({ date, value: '99900' }, { date, value: '200', rollover: true });
    // (100200 - 0) x 2, and (310 - 200) x 2
    assert.deepEqual(turned, ['energyCharge 200400 01/07-10/07', 'energyCharge 220 11/07-31/07']);
  });

  test('adds up to what is billed where a meter corrects an estimate or makes up for one', () => {
    const billed = (from: string, at: string, to: string, carried = '0') => {
      const previous = { date: '30/06/2025', value: from, type: 'Estimated' };
      const readings = [{ date: '10/07/2025', value: at }];
      const meters = [meter(from, to, { previous, readings })];
      return energy(
        billOf({ ...connected({ transfers }), meters, carriedUnits: { energy: carried } }),
      );
    };
    assert.deepEqual(billed('300', '50', '100'), []);
    assert.deepEqual(billed('300', '250', '340'), ['energyCharge 80 11/07-31/07']);
    assert.deepEqual(billed('0', '150', '250', '200'), ['energyCharge 100 11/07-31/07']);
    assert.deepEqual(billed('0', '150', '250', '100'), [
      'energyCharge 100 01/07-10/07',
      'energyCharge 200 11/07-31/07',
    ]);
    assert.deepEqual(billed('0', '150', '250', '300'), []);
  });

  test('or on the day itself as a check reading, but not as any other', () => {
    const on = (type: string) => {
      const readings = [{ date: '11/07/2025', value: '200', type }];
      return billOf({ ...connected({ transfers }), meters: [meter('0', '310', { readings })] });
    };
    assert.deepEqual(energy(on('Check')), [
      'energyCharge 400 01/07-10/07',
      'energyCharge 220 11/07-31/07',
    ]);
    assert.deepEqual(energy(on('Actual')), [
      'energyCharge 200 01/07-10/07',
      'energyCharge 420 11/07-31/07',
    ]);
  });

  test('is measured by an exchange that falls on the cut', () => {
    const old = meter('0', '100', { current: { date: '10/07/2025', value: '100' } });
    const fresh = meter('0', '5', { number: 2, previous: { date: '10/07/2025', value: '0' } });
    const bill = billOf({ ...connected({ transfers }), meters: [fresh, old] });
    assert.deepEqual(energy(bill), ['energyCharge 200 01/07-10/07', 'energyCharge 10 11/07-31/07']);
  });

  test('is measured after an earlier exchange if the new meter was read at the cut', () => {
    const old = meter('0', '100', {
      current: { date: '05/07/2025', value: '100', type: 'Removal' },
    });
    const fresh = (readings: { date: string; value: string }[]) =>
      meter('0', '210', {
        number: 2,
        previous: { date: '05/07/2025', value: '0', type: 'Installation' },
        readings,
      });
    const rated = (readings: { date: string; value: string }[]) =>
      energy(billOf({ ...connected({ transfers }), meters: [old, fresh(readings)] }));
    const atCut = rated([{ date: '10/07/2025', value: '20' }]);
    assert.deepEqual(atCut, ['energyCharge 240 01/07-10/07', 'energyCharge 380 11/07-31/07']);
    assert.deepEqual(rated([]), ['energyCharge 200 01/07-10/07', 'energyCharge 420 11/07-31/07']);
  });

  test('goes by days where the last reading was taken some days before the cut', () => {
    const early = meter('0', '310', { current: { date: '08/07/2025', value: '310' } });
    const bill = billOf({ ...connected({ transfers }), meters: [early] });
    assert.deepEqual(energy(bill), [
      'energyCharge 200 01/07-10/07',
      'energyCharge 420 11/07-31/07',
    ]);
  });

  test('demand is not divided', () => {
    const demand = planWith([{ component: 'extra', formula: 'usage.demand', prorate: 'Days' }]);
    const meters = [meter('0', '31', { input: 'demand', kind: 'Demand', previous: null })];
    const bill = billOf({ ...connected({ transfers }), meters }, [demand]);
    assert.deepEqual(shown(bill).slice(2, 4), ['extra 10 01/07-10/07', 'extra 21 11/07-31/07']);
  });

  test('dated uploads belong to their day, others to all days', () => {
    const rule = planWith([{ component: 'extra', formula: 'usage.data' }]);
    const data = [{ quantity: '31' }, { quantity: '5', date: '02/07/2025' }];
    const bill = billOf({ ...connected({ transfers }), uploadedUsage: { data } }, [rule]);
    assert.deepEqual(shown(bill).slice(2, 4), ['extra 15 01/07-10/07', 'extra 21 11/07-31/07']);
  });

  test('dated uploads add up to the quantity that was rounded', () => {
    const rule = planWith([{ component: 'extra', formula: 'usage.data' }]);
    const unmeteredInputs = [{ name: 'data', source: 'Uploaded' as const, decimals: 0 }];
    const uploaded = (...quantities: string[]) => {
      const dates = ['02/07/2025', '15/07/2025'];
      const data = quantities.map((quantity, index) => ({ quantity, date: dates[index] ?? null }));
      const facts = { ...connected({ transfers }), uploadedUsage: { data } };
      const bill = billOf(facts, [rule], { unmeteredInputs });
      return [bill.usage[0]?.quantity, ...shown(bill).slice(2, -1)];
    };
    assert.deepEqual(uploaded('10.4', '10.4'), [
      '21',
      'extra 10.5 01/07-10/07',
      'extra 10.5 11/07-31/07',
    ]);
    assert.deepEqual(uploaded('10.4'), ['10', 'extra 10 01/07-10/07']);
  });
});

describe('values', () => {
  const history = [
    { name: 'rate', formula: '1', toDate: '10/07/2025' },
    { name: 'rate', formula: '4', fromDate: '11/07/2025' },
  ];
  const withChange = (changeInTerm: 'End' | 'Start' | 'Weighted' | 'Split') => {
    const values = (context.values ?? []).map((value) =>
      value.name === 'rate' ? { ...value, changeInTerm } : value,
    );
    const bill = billOf({ meters: [meter('0', '310')] }, [{ ...plan, valueFormulas: history }], {
      values,
    });
    return shown(bill).filter((line) => line.startsWith('energyCharge'));
  };

  test('End takes the last day, Start the first, Weighted the mean, Split cuts', () => {
    assert.deepEqual(withChange('End'), ['energyCharge 1240']);
    assert.deepEqual(withChange('Start'), ['energyCharge 310']);
    // 310 x (1 x 10 + 4 x 21) / 31
    assert.deepEqual(withChange('Weighted'), ['energyCharge 940']);
    assert.deepEqual(withChange('Split'), [
      'energyCharge 100 01/07-10/07',
      'energyCharge 840 11/07-31/07',
    ]);
  });

  test('a gap in the history of a plan falls through to the parent, then to the default', () => {
    const parent = {
      ...plan,
      code: 'P',
      valueFormulas: [{ name: 'fee', formula: '620', fromDate: '22/07/2025' }],
    };
    const child = {
      code: 'A',
      parentTariffCode: 'P',
      valueFormulas: [{ name: 'fee', formula: '31', toDate: '10/07/2025' }],
    };
    const bill = billOf({}, [child, parent]);
    const wanted = [
      'feeCharge 10 01/07-10/07',
      'feeCharge 110 11/07-21/07',
      'feeCharge 200 22/07-31/07',
    ];
    assert.deepEqual(shown(bill).slice(0, 3), wanted);
  });

  test('a variant comes before all plans, while it lasts; of two the later one', () => {
    const variants = [
      { name: 'fee', value: '62', fromDate: '11/07/2025', toDate: '21/07/2025' },
      { name: 'fee', value: '31' },
    ];
    const bill = billOf(connected({ variants }));
    const wanted = [
      'feeCharge 10 01/07-10/07',
      'feeCharge 22 11/07-21/07',
      'feeCharge 10 22/07-31/07',
    ];
    assert.deepEqual(shown(bill).slice(0, 3), wanted);
  });

  test('a variant of what is not overridable puts the bill in Error', () => {
    const bill = billOf(connected({ variants: [{ name: 'rate', value: '1' }] }));
    assert.deepEqual(codes(bill), ['VARIANT_NOT_OVERRIDABLE']);
  });

  test('two months double what goes by months', () => {
    const rule = planWith([
      { component: 'extra', formula: '10 * segment.months + 100 * term.months' },
    ]);
    const term = { ...july, endDate: '31/08/2025', months: 2 };
    assert.equal(shown(billOf({ term }, [rule]))[1], 'extra 220 01/07-31/08');
  });
});
