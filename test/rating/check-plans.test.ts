// What saving a context or a plan tells: all mistakes at once with their places, and warnings.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkPlans } from '../../src/domain/rating/check/check-plan.ts';
import type {
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import { context, plan, planWith } from './small-tariff.ts';

type Told = [code: string, plan: string | null, field: string, position: number | null];

function told(problems: ReturnType<typeof checkPlans>['errors']): Told[] {
  return problems.map((problem) => [
    problem.code,
    problem.tariffCode,
    problem.field,
    problem.position,
  ]);
}

function errorsOf(plans: PlanDefinition[], own: Partial<ContextDefinition> = {}): Told[] {
  return told(checkPlans({ ...context, ...own }, plans).errors);
}

const slabs: Partial<ContextDefinition> = {
  values: [
    ...(context.values ?? []),
    { name: 'slabs', type: 'Table', columns: ['upTo', 'rate'], changeInTerm: 'Split' },
  ],
};

describe('errors of plans', () => {
  test('problems of all formulas of all plans are reported at once', () => {
    const bad = planWith(
      [
        { component: 'feeCharge', formula: 'fe', when: '1 + ' },
        { component: 'extra', scope: 'Term', formula: 'usage.enrgy + usage.dat' },
      ],
      { valueFormulas: [{ name: 'fee', formula: '"x"' }] },
    );
    const other = { code: 'B', componentRules: [{ component: 'extra', formula: 'FOO()' }] };
    assert.deepEqual(errorsOf([bad, other]), [
      ['FORMULA_TYPE', 'A', 'valueFormulas[0].formula', 0],
      ['FORMULA_UNKNOWN_NAME', 'A', 'componentRules[3].formula', 0],
      ['FORMULA_UNKNOWN_NAME', 'A', 'componentRules[3].formula', 14],
      ['FORMULA_UNKNOWN_NAME', 'A', 'componentRules[2].formula', 0],
      ['FORMULA_SYNTAX', 'A', 'componentRules[2].when', 4],
      ['FORMULA_UNKNOWN_FUNCTION', 'B', 'componentRules[0].formula', 0],
    ]);
  });

  test('a mistake in a parent is reported once, for the parent', () => {
    const parent = planWith([{ component: 'feeCharge', formula: 'nope' }]);
    const children = ['B', 'C'].map((code) => ({ code, parentTariffCode: 'A' }));
    const wanted: Told[] = [['FORMULA_UNKNOWN_NAME', 'A', 'componentRules[3].formula', 0]];
    assert.deepEqual(errorsOf([...children, parent]), wanted);
  });

  test('a change of the parent that breaks a descendant is reported for the descendant', () => {
    const parent = planWith([{ component: 'extra', scope: 'Term', formula: '5' }]);
    const child = {
      code: 'CHILD',
      parentTariffCode: 'A',
      componentRules: [{ component: 'feeCharge', formula: 'comp.extra' }],
    };
    assert.deepEqual(errorsOf([parent, child]), [
      ['FORMULA_SCOPE', 'CHILD', 'componentRules[0].formula', 0],
    ]);
    const segment = planWith([{ component: 'extra', formula: '5' }]);
    assert.deepEqual(errorsOf([segment, child]), []);
  });

  test('a value without price is allowed in a template and reported for each concrete plan', () => {
    const rules = [{ component: 'energyCharge', formula: 'SLAB(usage.energy, slabs)' }];
    const template = planWith(rules, { code: 'T', abstract: 1 });
    const child = { code: 'B', parentTariffCode: 'T' };
    const { errors } = checkPlans({ ...context, ...slabs }, [template, child]);
    assert.deepEqual(told(errors), [['VALUE_UNDEFINED', 'B', 'valueFormulas', null]]);
    assert.match(errors[0]?.message ?? '', /plan B needs the value `slabs`/);
    const complete = {
      ...child,
      valueFormulas: [{ name: 'slabs', rows: [{ upTo: null, rate: '1' }] }],
    };
    assert.deepEqual(errorsOf([template, complete], slabs), []);
  });

  test('slab tables: falling limits, no open end, no number', () => {
    const withRows = (rows: { upTo: string | null; rate: string }[]) =>
      errorsOf([{ ...plan, valueFormulas: [{ name: 'slabs', rows }] }], slabs);
    assert.deepEqual(
      withRows([
        { upTo: '200', rate: '1' },
        { upTo: '100', rate: '2' },
        { upTo: null, rate: '3' },
      ]),
      [['SLAB_ORDER', 'A', 'valueFormulas[0].rows[1].upTo', null]],
    );
    assert.deepEqual(withRows([{ upTo: '200', rate: '1' }]), [
      ['SLAB_OPEN_END_MISSING', 'A', 'valueFormulas[0].rows[0].upTo', null],
    ]);
    assert.deepEqual(withRows([{ upTo: null, rate: '1,5' }]), [
      ['FORMULA_TYPE', 'A', 'valueFormulas[0].rows[0].rate', null],
    ]);
  });

  test('overlapping ranges, invalid dates and unknown names are reported', () => {
    const bad = {
      code: 'A',
      valueFormulas: [
        { name: 'fee', formula: '1', fromDate: '01/01/2025', toDate: '31/01/2025' },
        { name: 'fee', formula: '2', fromDate: '31/01/2025' },
        { name: 'rate', formula: '1', fromDate: '31/02/2025' },
        { name: 'nothing', formula: '1' },
      ],
      componentRules: [
        { component: 'feeCharge', formula: '1' },
        { component: 'feeCharge', formula: '2', fromDate: '01/01/2026' },
        { component: 'nothing', formula: '1' },
      ],
      usageData: [{ input: 'nothing' }],
    };
    assert.deepEqual(errorsOf([bad]), [
      ['INVALID_DATE', 'A', 'valueFormulas[2].fromDate', null],
      ['FORMULA_UNKNOWN_NAME', 'A', 'valueFormulas[3].name', null],
      ['FORMULA_UNKNOWN_NAME', 'A', 'componentRules[2].component', null],
      ['FORMULA_UNKNOWN_NAME', 'A', 'usageData[0].input', null],
      ['EFFECTIVE_DATES_OVERLAP', 'A', 'valueFormulas[1].fromDate', null],
      ['EFFECTIVE_DATES_OVERLAP', 'A', 'componentRules[1].fromDate', null],
    ]);
  });

  test('values that need each other, and parents that do not exist', () => {
    const values = [
      { name: 'fee', type: 'Number' as const, default: 'rate' },
      { name: 'rate', type: 'Number' as const, default: 'fee + 1' },
    ];
    const ofContext: Told = ['FORMULA_CYCLE', null, 'values[0].default', 0];
    assert.deepEqual(errorsOf([plan], { values })[0], ofContext);
    assert.deepEqual(errorsOf([], { values }), [ofContext]);
    assert.deepEqual(errorsOf([{ ...plan, parentTariffCode: 'GONE' }]), [
      ['PARENT_NOT_FOUND', 'A', 'parentTariffCode', null],
    ]);
  });

  test('a circle of values is reported at the formula of the plan that closes it', () => {
    const values = [
      { name: 'fee', type: 'Number' as const, default: '1' },
      { name: 'rate', type: 'Number' as const, default: '2 + fee' },
    ];
    const closing = { ...plan, valueFormulas: [{ name: 'fee', formula: '1 + rate' }] };
    const wanted: Told[] = [['FORMULA_CYCLE', 'A', 'valueFormulas[0].formula', 4]];
    assert.deepEqual(errorsOf([closing], { values }), wanted);
    const child = { code: 'B', parentTariffCode: 'A', valueFormulas: closing.valueFormulas };
    assert.deepEqual(errorsOf([plan, child], { values }), [
      ['FORMULA_CYCLE', 'B', 'valueFormulas[0].formula', 4],
    ]);
    assert.deepEqual(errorsOf([closing, { code: 'C', parentTariffCode: 'A' }], { values }), wanted);
  });

  test('a circle of components is reported at the rule of the plan that closes it', () => {
    const parent = planWith([{ component: 'extra', formula: '2 + comp.feeCharge' }]);
    const rule = { component: 'feeCharge', formula: '1 + comp.extra' };
    const child = { code: 'B', parentTariffCode: 'A', componentRules: [rule] };
    assert.deepEqual(errorsOf([parent, child]), [
      ['FORMULA_CYCLE', 'B', 'componentRules[0].formula', 4],
    ]);
  });

  test('a security deposit may read custom fields, not usage', () => {
    const securityAttributes = [
      { name: 'Deposit', formula: 'rate * 1500' },
      { name: 'Other', formula: 'usage.energy' },
    ];
    assert.deepEqual(errorsOf([{ ...plan, securityAttributes }]), [
      ['FORMULA_SCOPE', 'A', 'securityAttributes[1].formula', 0],
    ]);
  });
});

describe('errors of a context', () => {
  const contextErrors = (own: Partial<ContextDefinition>) => errorsOf([], own);

  test('repeated names, invalid names and unknown kinds are reported', () => {
    const values = [
      { name: 'a', type: 'Number' as const },
      { name: 'a', type: 'Percentage' as never },
      { name: '1a', type: 'Text' as const, changeInTerm: 'Weighted' as const },
    ];
    assert.deepEqual(contextErrors({ values }), [
      ['DUPLICATE', null, 'values[1].name', null],
      ['DEFINITION_INVALID', null, 'values[2].name', null],
      ['INVALID_ENUM', null, 'values[1].type', null],
      ['DEFINITION_INVALID', null, 'values[2].changeInTerm', null],
    ]);
  });

  test('rounding finer than the currency, or of no known mode', () => {
    const components = [
      { name: 'c', type: 'Charge' as const, rounding: { scale: 3, mode: 'HalfUp' as const } },
    ];
    const billRounding = { scale: 0, mode: 'Nearest' as never };
    assert.deepEqual(contextErrors({ components, billRounding }), [
      ['DEFINITION_INVALID', null, 'components[0].rounding.scale', null],
      ['INVALID_ENUM', null, 'billRounding.mode', null],
    ]);
  });

  test('defaults are checked before there is any plan, and once where there are', () => {
    const values = [
      { name: 'a', type: 'Number' as const, default: 'nope + 1' },
      { name: 'b', type: 'Boolean' as const, default: '1 + 1' },
      { name: 'c', type: 'Text' as const, default: 'any words' },
      {
        name: 't',
        type: 'Table' as const,
        columns: ['upTo', 'rate'],
        default: [{ upTo: '1', rate: '1' }],
      },
    ];
    const wanted: Told[] = [
      ['FORMULA_UNKNOWN_NAME', null, 'values[0].default', 0],
      ['FORMULA_TYPE', null, 'values[1].default', 0],
      ['SLAB_OPEN_END_MISSING', null, 'values[3].default[0].upTo', null],
    ];
    assert.deepEqual(contextErrors({ values }), wanted);
    assert.deepEqual(errorsOf([{ code: 'A' }, { code: 'B' }], { values }), wanted);
  });

  test('an input that is metered and unmetered is reported with its place in its own array', () => {
    const meteredInputs = [{ name: 'a' }, { name: 'b' }];
    const unmeteredInputs = [{ name: 'c' }, { name: 'b' }, { name: '1d' }];
    assert.deepEqual(contextErrors({ meteredInputs, unmeteredInputs }), [
      ['DUPLICATE', null, 'unmeteredInputs[1].name', null],
      ['DEFINITION_INVALID', null, 'unmeteredInputs[2].name', null],
    ]);
  });

  test('hold rules are conditions', () => {
    const holdRules = [{ name: 'high', when: 'bill.current * 2' }];
    assert.deepEqual(contextErrors({ holdRules }), [
      ['FORMULA_TYPE', null, 'holdRules[0].when', 0],
    ]);
  });
});

describe('warnings', () => {
  const warningsOf = (plans: PlanDefinition[], own: Partial<ContextDefinition> = {}) => {
    const { errors, warnings } = checkPlans({ ...context, ...own }, plans);
    assert.deepEqual(errors, []);
    return warnings.map((warning) => `${warning.code} ${warning.field}`);
  };
  const warned = (formula: string, more = {}) =>
    warningsOf([planWith([{ component: 'extra', scope: 'Term', formula, ...more }])]);

  test('a plan in order has none', () => {
    assert.deepEqual(warningsOf([plan]), []);
  });

  test('a value no plan uses, a component no plan computes', () => {
    const own = {
      values: [...(context.values ?? []), { name: 'spare', type: 'Number' as const, default: '1' }],
      components: [...(context.components ?? []), { name: 'never', type: 'Charge' as const }],
    };
    const wanted = ['VALUE_UNUSED values.spare', 'COMPONENT_NEVER_COMPUTED components.never'];
    assert.deepEqual(warningsOf([plan], own), wanted);
  });

  test('a divisor that can be zero', () => {
    const wanted = ['DIVISOR_CAN_BE_ZERO componentRules[3].formula'];
    assert.deepEqual(warned('100 / usage.energy'), wanted);
    assert.deepEqual(warned('100 / (usage.energy - 1)'), wanted);
    assert.deepEqual(warned('IF(usage.energy > 0, 100 / usage.energy, 0)'), []);
    assert.deepEqual(warned('100 / MAX(1, usage.energy)'), []);
    assert.deepEqual(warned('100 / 12 / term.days / rate'), []);
  });

  test('what is prorated twice', () => {
    const wanted = ['PRORATED_TWICE componentRules[3].formula'];
    const prorate = { prorate: 'Days' };
    assert.deepEqual(warned('100 * segment.factor', prorate), wanted);
    assert.deepEqual(warned('comp.feeCharge * 2%', prorate), wanted);
    assert.deepEqual(warned('100 * segment.factor'), []);
    assert.deepEqual(warned('100', prorate), []);
  });

  test('days without a price, a slab in which nothing lies, an option without a row', () => {
    const own: Partial<ContextDefinition> = {
      connectionInputs: [{ name: 'size', type: 'Select', options: ['15', '20'] }],
      values: [
        { name: 'fee', type: 'Number' },
        { name: 'rate', type: 'Number' },
        {
          name: 'slabs',
          type: 'Table',
          columns: ['upTo', 'rate'],
          default: [
            { upTo: '0', rate: '1' },
            { upTo: null, rate: '2' },
          ],
        },
        {
          name: 'pipes',
          type: 'Table',
          columns: ['size', 'monthly'],
          default: [{ size: '15', monthly: '1' }],
        },
      ],
    };
    const formula = 'SLAB(usage.energy, slabs) + LOOKUP(pipes, input.size, "monthly")';
    const gaps = planWith([{ component: 'extra', scope: 'Term', formula }], {
      valueFormulas: [
        { name: 'fee', formula: '1', toDate: '31/01/2025' },
        { name: 'fee', formula: '2', fromDate: '01/03/2025' },
        { name: 'rate', formula: '1', toDate: '31/12/2025' },
      ],
    });
    assert.deepEqual(warningsOf([gaps], own).sort(), [
      'LOOKUP_GAP componentRules[3].formula',
      'SLAB_GAP valueFormulas.slabs',
      'VALUE_ENDS valueFormulas.rate',
      'VALUE_GAP valueFormulas.fee',
    ]);
  });
});
