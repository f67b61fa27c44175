// Prices of a plan, a version or an add-on on days when it is not in force: no segment reads them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  ChangeInTerm,
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenConnection } from '../../src/domain/rating/frozen-inputs.ts';
import { bookBill, connected, shown } from './small-tariff.ts';

type Prices = NonNullable<PlanDefinition['valueFormulas']>;

/** A fee of 1000 x rate, and 3.25 where a plan says nothing of the rate. */
const contextWith = (changeInTerm: ChangeInTerm): ContextDefinition => ({
  code: 'FORCE',
  values: [{ name: 'rate', type: 'Number', changeInTerm, overridable: 1, default: '3.25' }],
  components: [
    { name: 'fee', type: 'Charge' },
    { name: 'extra', type: 'Charge' },
  ],
});

const fee = { component: 'fee', formula: '1000 * rate', prorate: 'Days' } as const;
const extra = { component: 'extra', formula: 'rate * 100', prorate: 'Days' } as const;

function feesOf(
  changeInTerm: ChangeInTerm,
  plans: readonly { code?: string; effectiveDate?: string; prices: Prices }[],
  connection: FrozenConnection = {},
): string[] {
  const versions = plans.map(({ code = 'A', effectiveDate = null, prices }, index) => ({
    version: index + 1,
    effectiveDate,
    definition: { code, valueFormulas: prices, componentRules: [fee] },
  }));
  return shown(bookBill(bookOf(changeInTerm, versions), connected(connection)));
}

function bookOf(
  changeInTerm: ChangeInTerm,
  plans: readonly { version: number; effectiveDate: string | null; definition: PlanDefinition }[],
) {
  const definition = contextWith(changeInTerm);
  return { contexts: [{ version: 1, effectiveDate: null, definition }], plans };
}

const movedTo = (...entries: [string, string][]): FrozenConnection => ({
  tariffHistory: entries.map(([tariffCode, fromDate]) => ({ tariffCode, fromDate })),
});

describe('versions', () => {
  test('End: a price that a version withdrew before it held is on no bill', () => {
    const first = [{ name: 'rate', formula: '4', fromDate: '16/07/2025' }];
    const fees = feesOf('End', [{ prices: first }, { effectiveDate: '10/07/2025', prices: [] }]);
    // 3250 x 9/31 and 3250 x 22/31
    assert.deepEqual(fees, ['fee 943.55 01/07-09/07', 'fee 2306.45 10/07-31/07']);
  });

  test('Weighted: a price weighs by the days it holds, whenever its version begins', () => {
    const second = [{ name: 'rate', formula: '3.5', fromDate: '16/07/2025' }];
    const saved = (effectiveDate: string) =>
      feesOf('Weighted', [{ prices: [] }, { effectiveDate, prices: second }]);
    // 1000 x (15 x 3.25 + 16 x 3.5)/31
    assert.deepEqual(saved('01/06/2025'), ['fee 3379.03']);
    // 3250 x 9/31, and 1000 x (6 x 3.25 + 16 x 3.5)/22 x 22/31: together the same
    const wanted = ['fee 943.55 01/07-09/07', 'fee 2435.48 10/07-31/07'];
    assert.deepEqual(saved('10/07/2025'), wanted);
  });
});

describe('plans', () => {
  test('Weighted: the mean is over the days of the plan', () => {
    const prices = [{ name: 'rate', formula: '3.5', fromDate: '16/07/2025' }];
    const moved = movedTo(['A', '01/01/2025'], ['B', '11/07/2025']);
    const fees = feesOf('Weighted', [{ prices: [] }, { code: 'B', prices }], moved);
    // 3250 x 10/31, and 1000 x (5 x 3.25 + 16 x 3.5)/31
    assert.deepEqual(fees, ['fee 1048.39 01/07-10/07', 'fee 2330.65 11/07-31/07']);
  });

  test('Start: a price that ended before the plan began is not one of its prices', () => {
    const prices = [{ name: 'rate', formula: '9', toDate: '15/07/2025' }];
    const moved = movedTo(['A', '01/01/2025'], ['B', '16/07/2025']);
    const fees = feesOf('Start', [{ prices: [] }, { code: 'B', prices }], moved);
    // 3250 x 15/31 and 3250 x 16/31
    assert.deepEqual(fees, ['fee 1572.58 01/07-15/07', 'fee 1677.42 16/07-31/07']);
  });

  test('one that is taken up again is read over both its times', () => {
    const prices = [{ name: 'rate', formula: '4', fromDate: '06/07/2025' }];
    const moved = movedTo(['A', '01/01/2025'], ['B', '11/07/2025'], ['A', '22/07/2025']);
    const plans = [{ prices }, { code: 'B', prices: [] }];
    const middle = 'fee 1153.23 11/07-21/07';
    // 20 days of A, 5 at 3.25 and 15 at 4: 3812.5 x 10/31 each; 3250 x 11/31 between them
    assert.deepEqual(feesOf('Weighted', plans, moved), [
      'fee 1229.84 01/07-10/07',
      middle,
      'fee 1229.84 22/07-31/07',
    ]);
    // 4000 x 10/31 each, by the last day of A
    assert.deepEqual(feesOf('End', plans, moved), [
      'fee 1290.32 01/07-10/07',
      middle,
      'fee 1290.32 22/07-31/07',
    ]);
  });

  test("a customer's own price too is read on the days of the plan", () => {
    const variants = [{ name: 'rate', value: '9', toDate: '10/07/2025' }];
    const moved = { ...movedTo(['A', '01/01/2025'], ['B', '16/07/2025']), variants };
    const fees = feesOf('Start', [{ prices: [] }, { code: 'B', prices: [] }], moved);
    // 9000 x 15/31 and 3250 x 16/31
    assert.deepEqual(fees, ['fee 4354.84 01/07-15/07', 'fee 1677.42 16/07-31/07']);
  });
});

describe('add-ons', () => {
  const extras = (
    changeInTerm: ChangeInTerm,
    scope: 'Segment' | 'Term',
    addOns: FrozenConnection['addOns'],
  ) => {
    const valueFormulas = [{ name: 'rate', formula: '6.2', fromDate: '21/07/2025' }];
    const own = { code: 'IP', valueFormulas, componentRules: [{ ...extra, scope }] };
    const plans = [{ code: 'A', componentRules: [] }, own].map((definition) => {
      return { version: 1, effectiveDate: null, definition };
    });
    return shown(bookBill(bookOf(changeInTerm, plans), connected({ addOns: addOns ?? null })));
  };
  const until = (toDate: string) => [{ tariffCode: 'IP', toDate }];
  const from = (fromDate: string) => [{ tariffCode: 'IP', fromDate }];

  test('End: one that ended before its price changed costs what it did', () => {
    // 325 x 10/31
    assert.deepEqual(extras('End', 'Segment', until('10/07/2025')), ['extra 104.84 01/07-10/07']);
    // 620 x 25/31
    assert.deepEqual(extras('End', 'Segment', until('25/07/2025')), ['extra 500 01/07-25/07']);
  });

  test('so do its rules of the term', () => {
    // 325 x 10/31
    assert.deepEqual(extras('End', 'Term', until('10/07/2025')), ['extra 104.84']);
    // 620 x 11/31
    assert.deepEqual(extras('Start', 'Term', from('21/07/2025')), ['extra 220']);
    // 100 x (10 x 3.25 + 11 x 6.2)/31
    assert.deepEqual(extras('Weighted', 'Term', from('11/07/2025')), ['extra 324.84']);
    // 325 x 20/31, of two times of 10 days each
    const twice = [...until('10/07/2025'), { ...from('11/07/2025')[0], toDate: '20/07/2025' }];
    assert.deepEqual(extras('End', 'Term', twice), ['extra 209.68']);
  });
});
