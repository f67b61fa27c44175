// Rules, inheritance, add-ons, manual values, errors and totals, one story each.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wireBill } from '../../src/domain/rating/bill.ts';
import {
  billOf,
  codes,
  connected,
  context,
  july,
  meter,
  plan,
  planWith,
  shown,
} from './small-tariff.ts';

const noTax = { component: 'tax', exclude: 1 } as const;

describe('inheritance', () => {
  const base = planWith([noTax], { code: 'BASE' });
  const child = (formula: string, more = {}) => ({
    code: 'A',
    parentTariffCode: 'BASE',
    componentRules: [{ component: 'feeCharge', formula, ...more }],
  });
  const half = connected({ connectionDate: '01/07/2025', disconnectDate: '11/07/2025' });

  test('SUPER() is the inherited amount, prorated as inherited and not rounded', () => {
    assert.deepEqual(shown(billOf(half, [child('SUPER() * 90%'), base])), [
      'feeCharge 90 01/07-10/07',
    ]);
    const thirds = { ...base, valueFormulas: [{ name: 'fee', formula: '1' }] };
    // 1 x 10/31 x 310 is 100 exactly; a rounded 0.32 would give 99.20
    assert.deepEqual(shown(billOf(half, [child('SUPER() * 310'), thirds])), [
      'feeCharge 100 01/07-10/07',
    ]);
  });

  test('SUPER() of a rule whose condition does not hold is 0', () => {
    const conditional = planWith(
      [noTax, { component: 'feeCharge', formula: 'fee', when: 'rate > 5' }],
      {
        code: 'BASE',
      },
    );
    assert.deepEqual(shown(billOf({}, [child('SUPER() + 7'), conditional])), ['feeCharge 7']);
  });

  test('a child moves a component from segments to the term', () => {
    const bill = billOf(connected({ transfers: [{ transferDate: '11/07/2025' }] }), [
      child('SUPER()', { scope: 'Term' }),
      base,
    ]);
    assert.deepEqual(shown(bill), ['feeCharge 310']);
  });

  test('usageData is merged by input, and exclude drops', () => {
    const parent = { ...base, usageData: [{ input: 'energy', required: 1 as const }] };
    assert.deepEqual(codes(billOf({}, [{ code: 'A', parentTariffCode: 'BASE' }, parent])), [
      'USAGE_MISSING',
    ]);
    const free = {
      code: 'A',
      parentTariffCode: 'BASE',
      usageData: [{ input: 'energy', exclude: 1 as const }],
    };
    assert.deepEqual(codes(billOf({}, [free, parent])), []);
  });
});

describe('add-ons', () => {
  const addOn = {
    code: 'X',
    uniqueLabel: 'Extra line',
    planType: 'ADDON_PLAN',
    componentRules: [
      { component: 'extra', formula: '31 * segment.quantity', prorate: 'Days' as const },
      { component: 'tax', scope: 'Term' as const, formula: '1000' },
    ],
  };

  test('are priced for their own days and quantity, and counted in category sums', () => {
    const addOns = [{ tariffLabel: 'Extra line', quantity: '2', fromDate: '22/07/2025' }];
    const bill = billOf(connected({ addOns }), [plan, addOn]);
    // 31 x 2 x 10/31, then 10 % of 330: the base plan's tax, once
    assert.deepEqual(shown(bill), ['feeCharge 310', 'extra 20 22/07-31/07', 'tax 33']);
    assert.equal(bill.lines[1]?.tariffCode, 'X');
  });

  test('twice the same add-on makes lines for each', () => {
    const addOns = [
      { tariffCode: 'X', quantity: '1' },
      { tariffCode: 'X', quantity: '3', toDate: '10/07/2025' },
    ];
    const bill = billOf(connected({ addOns }), [plan, addOn]);
    assert.deepEqual(shown(bill).slice(1, 3), ['extra 30 01/07-10/07', 'extra 31'].sort());
  });

  test('an unknown add-on puts the bill in Error', () => {
    const bill = billOf(connected({ addOns: [{ tariffLabel: 'Nothing' }] }), [plan]);
    assert.deepEqual(codes(bill), ['NO_PLAN']);
  });

  test('a Term rule of an add-on alone is computed once', () => {
    const addOns = [{ tariffCode: 'X', quantity: '1' }];
    const bill = billOf(connected({ addOns }), [planWith([noTax]), addOn]);
    assert.deepEqual(shown(bill), ['feeCharge 310', 'extra 31', 'tax 1000']);
  });
});

describe('manual values', () => {
  const upload = (component: string, value: string) => ({
    ...connected({}),
    manual: [['S-1', component, value] as const],
  });

  test('replace the computed total before anything that depends on it', () => {
    const computed = planWith([{ component: 'extra', scope: 'Term', formula: '40' }]);
    const bill = billOf(upload('extra', '90.004'), [computed]);
    assert.deepEqual(shown(bill), ['feeCharge 310', 'extra 90', 'tax 40']);
    const line = bill.lines[1];
    assert.deepEqual(
      [line?.source, line?.lineType, line?.computedAmount],
      ['Manual', 'Manual', 4000],
    );
  });

  test('replace all segments by one line', () => {
    const segments = planWith([{ component: 'extra', formula: '31', prorate: 'Days' }]);
    const facts = upload('extra', '5');
    const connection = { ...facts.connection, transfers: [{ transferDate: '11/07/2025' }] };
    const bill = billOf({ ...facts, connection }, [segments]);
    assert.deepEqual(shown(bill).slice(2), ['extra 5', 'tax 31.5']);
    assert.equal(bill.lines[2]?.computedAmount, 3100);
  });

  test('may be named by label, taken back by an empty text, and meant for others', () => {
    const labelled = {
      components: (context.components ?? []).map((item) =>
        item.name === 'extra' ? { ...item, label: 'Hall booking' } : item,
      ),
    };
    assert.equal(shown(billOf(upload('Hall booking', '5'), [plan], labelled))[1], 'extra 5');
    const rows = [
      ['S-1', 'extra', '5'],
      ['S-1', 'extra', ''],
      ['S-2', 'extra', '9'],
    ] as const;
    assert.deepEqual(shown(billOf({ ...connected({}), manual: rows })), [
      'feeCharge 310',
      'tax 31',
    ]);
  });

  test('are negative only for discounts and subsidies', () => {
    assert.equal(shown(billOf(upload('discount', '-10')))[1], 'discount -10');
    assert.deepEqual(codes(billOf(upload('extra', '-10'))), ['INVALID_NUMBER']);
    assert.deepEqual(codes(billOf(upload('feeCharge', '1'))), ['COMPONENT_NOT_MANUAL']);
    assert.deepEqual(codes(billOf(upload('nothing', '1'))), ['COMPONENT_NOT_FOUND']);
  });

  test('that are required put the bill in Error until they are there', () => {
    const components = (context.components ?? []).map((item) =>
      item.name === 'extra' ? { ...item, manual: 'Required' as const } : item,
    );
    assert.deepEqual(codes(billOf(connected({}), [plan], { components })), [
      'MANUAL_COMPONENT_MISSING',
    ]);
    assert.deepEqual(codes(billOf(upload('extra', '1'), [plan], { components })), []);
  });
});

describe('errors of a bill', () => {
  const failing = (formula: string) => billOf({}, [planWith([{ component: 'extra', formula }])]);

  test('name the component in whose formula they arose', () => {
    const bill = failing('1 / (rate - 2)');
    assert.deepEqual(bill.errors, [
      { code: 'DIVISION_BY_ZERO', message: 'division by zero', component: 'extra' },
    ]);
    assert.deepEqual([bill.status, bill.lines.length, bill.totalAmount], ['Error', 0, 0]);
  });

  test('a custom field without value matters only where it is read', () => {
    assert.deepEqual(codes(failing('IF(input.size = "15", 1, 2)')), ['INPUT_MISSING']);
    assert.deepEqual(codes(failing('IF(TRUE, 1, IF(input.size = "15", 1, 2))')), []);
  });

  test('missing, reviewed and decreased readings are told together', () => {
    const bill = billOf({
      meters: [
        meter('0', '1', { current: null }),
        meter('0', '1', {
          number: 2,
          current: { date: '31/07/2025', value: '5', status: 'Review' },
        }),
        meter('500', '400', { number: 3 }),
        meter('5x', '6', { number: 4 }),
      ],
    });
    assert.deepEqual(
      bill.errors.map((error) => [error.code, error.meterNumber]),
      [
        ['READING_MISSING', 1],
        ['READING_UNDER_REVIEW', 2],
        ['READING_DECREASED', 3],
        ['INVALID_NUMBER', 4],
      ],
    );
  });

  test('a plan that does not exist, or not yet, is NO_PLAN', () => {
    assert.deepEqual(codes(billOf({ tariffCode: 'Z' })), ['NO_PLAN']);
    const tariffHistory = [{ tariffCode: 'A', fromDate: '05/07/2025' }];
    assert.deepEqual(codes(billOf(connected({ tariffHistory }))), ['NO_PLAN']);
  });

  test('odd facts are errors of the bill, not of the program', () => {
    assert.deepEqual(codes(billOf({ term: { ...july, endDate: '31/02/2025' } })), ['INVALID_DATE']);
    assert.deepEqual(codes(billOf({ term: { ...july, endDate: '30/06/2025' } })), ['INVALID_DATE']);
    assert.deepEqual(codes(billOf({ account: { arrears: '1,000' } })), ['INVALID_NUMBER']);
    assert.deepEqual(codes(billOf({ uploadedUsage: { data: '1e5' } })), ['INVALID_NUMBER']);
    assert.deepEqual(codes(billOf(connected({ connectionDate: 'soon' }))), ['INVALID_DATE']);
  });

  test('a plan that could not be saved is not priced', () => {
    const bill = billOf({}, [planWith([{ component: 'extra', formula: 'nope' }])]);
    assert.deepEqual(codes(bill), ['DEFINITION_INVALID']);
  });
});

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

  test('an estimate that was too high bills nothing and is carried', () => {
    const after = meter('5372', '5360', {
      previous: { date: '30/06/2025', value: '5372', type: 'Estimated' },
    });
    const bill = billOf({ meters: [after] });
    assert.deepEqual(bill.usage, [{ input: 'energy', unit: 'kWh', quantity: '0', carried: '12' }]);
    const next = billOf({ meters: [meter('5360', '5500')], carriedUnits: { energy: '12' } });
    assert.equal(next.usage[0]?.quantity, '128');
  });

  test('reslab spreads the true use over the estimated terms and bills the difference', () => {
    const slabbed = planWith([
      noTax,
      { component: 'feeCharge', exclude: 1 },
      { component: 'energyCharge', formula: 'SLAB(usage.energy, slabs, segment.months)' },
    ]);
    const rows = [
      { upTo: '100', rate: '1' },
      { upTo: null, rate: '10' },
    ];
    const values = [
      ...(context.values ?? []),
      { name: 'slabs', type: 'Table' as const, columns: ['upTo', 'rate'], default: rows },
    ];
    const june = { label: 'Jun-2025', startDate: '01/06/2025', endDate: '30/06/2025', months: 1 };
    const facts = {
      meters: [
        meter('1050', '1244', {
          previous: { date: '30/06/2025', value: '1050', type: 'Estimated' },
        }),
      ],
      reslab: {
        input: 'energy',
        since: { date: '31/05/2025', value: '1000', type: 'Actual' },
        terms: [{ term: june, billed: { energyCharge: '50.00' } }],
      },
    };
    const bill = billOf(facts, [slabbed], { values });
    // 244 units over 30 + 31 days: 120 and 124; June 100 + 20 x 10 - 50 billed, July 100 + 24 x 10
    assert.deepEqual(shown(bill), ['energyCharge 340', 'energyCharge 250 01/06-30/06']);
    assert.equal(bill.usage[0]?.quantity, '124');
    // Without it all of the late units fall on July.
    const plain = billOf({ meters: facts.meters }, [slabbed], { values });
    assert.deepEqual(shown(plain), ['energyCharge 1040']);
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

describe('totals', () => {
  test('a credit makes the payable amount 0 and leaves a balance', () => {
    const bill = billOf({ account: { arrears: '-400' } });
    assert.deepEqual([bill.payableWithinDueDate, bill.creditBalance], [0, 5900]);
    const wallet = billOf({ account: { arrears: '0', walletApplied: '41' } });
    assert.deepEqual([wallet.payableWithinDueDate, wallet.totalAmount], [30_000, 34_100]);
  });

  test('currencies without decimals and with three', () => {
    const yen = billOf({}, [planWith([{ component: 'extra', formula: '0.5' }])], {
      currencyScale: 0,
    });
    assert.deepEqual(
      yen.lines.map((line) => line.amount),
      [310, 1, 31],
    );
    const dinar = billOf({}, [planWith([{ component: 'extra', formula: '0.0005' }])], {
      currencyScale: 3,
    });
    assert.deepEqual(
      dinar.lines.map((line) => line.amount),
      [310_000, 1, 31_000],
    );
    assert.equal(wireBill(dinar).currentCharges, 341.001);
  });

  test('printIfZero prints, a condition that does not hold never does', () => {
    const components = (context.components ?? []).map((item) => ({
      ...item,
      printIfZero: 1 as const,
    }));
    const rules = [{ component: 'discount', formula: '1', when: 'FALSE' }];
    const bill = billOf({}, [planWith(rules)], { components });
    assert.deepEqual(shown(bill), ['feeCharge 310', 'energyCharge 0', 'extra 0', 'tax 31']);
  });

  test('the wire form has amounts in major units and all else unchanged', () => {
    const bill = billOf({ meters: [meter('0', '3')] }, [plan], {}, { explain: true });
    const wire = wireBill(bill) as {
      lines: { amount: number }[];
      explanation: { amount: number }[];
    };
    assert.deepEqual(
      wire.lines.map((line) => line.amount),
      [310, 6, 31.6],
    );
    assert.deepEqual(
      wire.explanation.map((line) => line.amount),
      [310, 6, 31.6],
    );
    assert.equal(JSON.stringify(wire).includes('currencyScale'), false);
  });
});
