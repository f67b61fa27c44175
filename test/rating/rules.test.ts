// Rules, inheritance, add-ons, manual values, errors and totals, one story each.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { presentSimulatedBill } from '../../src/domain/bills/simulated-bill.ts';
import { inMajorUnits } from '../../src/domain/rating/bill.ts';
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

describe('rules of some days', () => {
  const late = { name: 'late', type: 'LateSurcharge', categories: [], sequence: 6 } as const;
  const components = [...(context.components ?? []), late];
  const billWith = (rule: { component: string; fromDate?: string; toDate?: string }) => {
    const own = planWith([{ scope: 'Term', formula: '40', ...rule }]);
    const bill = billOf(connected({}), [own], { components });
    return [bill.currentCharges / 100, bill.latePaymentSurcharge / 100];
  };

  // 310 and a tenth of it as tax, or 350
  test('of the whole term count where they hold on its last day', () => {
    const extra = { component: 'extra' };
    assert.deepEqual(billWith({ ...extra, toDate: '31/07/2025' }), [385, 0]);
    assert.deepEqual(billWith({ ...extra, toDate: '30/07/2025' }), [341, 0]);
    assert.deepEqual(billWith({ ...extra, fromDate: '31/07/2025' }), [385, 0]);
    assert.deepEqual(billWith({ ...extra, fromDate: '01/08/2025' }), [341, 0]);
  });

  test('and so do those of paying late', () => {
    const paidLate = { component: 'late' };
    assert.deepEqual(billWith({ ...paidLate, toDate: '31/07/2025' }), [341, 40]);
    assert.deepEqual(billWith({ ...paidLate, toDate: '30/07/2025' }), [341, 0]);
    assert.deepEqual(billWith({ ...paidLate, fromDate: '01/08/2025' }), [341, 0]);
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

  test('may be nothing, which means the computed amount', () => {
    const computed = planWith([{ component: 'extra', scope: 'Term', formula: '40' }]);
    const bill = billOf(upload('extra', '0'), [computed]);
    assert.deepEqual([codes(bill), shown(bill)], [[], ['feeCharge 310', 'tax 31']]);
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

  test('missing, reviewed and decreased readings are reported together', () => {
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
    assert.equal(inMajorUnits(dinar).currentCharges, 341.001);
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
    const wire = inMajorUnits(bill);
    assert.deepEqual(
      wire.lines.map((line) => line.amount),
      [310, 6, 31.6],
    );
    assert.deepEqual(
      wire.explanation?.map((line) => line.amount),
      [310, 6, 31.6],
    );
    const presented = presentSimulatedBill(bill, { serviceLabel: '', isHeld: false });
    assert.doesNotMatch(JSON.stringify(presented), /currencyScale|segments/);
  });
});
