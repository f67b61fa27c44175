// Formula, rounding, usage and plan-check vectors of the specification.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkFormula, type Scope } from '../../src/base/formula/check.ts';
import { compileFormula } from '../../src/base/formula/compile.ts';
import type { Scalar } from '../../src/base/formula/function-kinds.ts';
import { compileTable, type Table } from '../../src/base/formula/table.ts';
import { decimalText, minorUnitsText, parseDecimal } from '../../src/base/numbers/decimal-text.ts';
import { ArithmeticError, Exact, zero } from '../../src/base/numbers/exact.ts';
import { type RoundingMode, round } from '../../src/base/numbers/rounding.ts';
import { checkPlans } from '../../src/domain/rating/check/check-plan.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import type { RatingError } from '../../src/domain/rating/rating-error.ts';
import { estimateReading } from '../../src/domain/rating/usage/estimates.ts';
import { inputQuantity, registerUse } from '../../src/domain/rating/usage/quantities.ts';
import { tariffCases, vectors } from './tariff-cases.ts';

const columns = ['upTo', 'rate'];
const slab = compileTable(columns, vectors.slabs).table as Table;
const scope: Scope = {
  resolve: (space, id) =>
    space === null && id === 'slab'
      ? { kind: 'table', columns }
      : { code: 'FORMULA_UNKNOWN_NAME', message: 'unknown' },
  functions: new Map(),
};

function evaluated(formula: string): string {
  const checked = checkFormula(formula, scope, 'unknown');
  if (checked.node === null || checked.problems.length > 0) {
    return checked.problems.map((problem) => problem.code).join();
  }
  const closure = compileFormula<null>(checked.node, {
    name: () => () => slab,
    host: () => () => zero,
  });
  try {
    return shown(closure(null));
  } catch (error) {
    if (error instanceof ArithmeticError) return error.code;
    throw error;
  }
}

function shown(value: Scalar): string {
  if (value instanceof Exact) return decimalText(value);
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

describe('formula vectors', () => {
  for (const { formula, expect, error } of vectors.formulas) {
    test(`${formula} gives ${expect ?? error}`, () => {
      assert.equal(evaluated(formula), expect ?? error);
    });
  }
});

describe('rounding vectors', () => {
  for (const { value, scale, mode, expect } of vectors.roundings) {
    test(`${value} to ${scale} ${mode} is ${expect}`, () => {
      const rounded = round(parseDecimal(value) as Exact, scale, mode as RoundingMode);
      assert.equal(decimalText(rounded), decimalText(parseDecimal(expect) as Exact));
    });
  }
});

describe('usage vectors', () => {
  const input = { name: 'x', decimals: 0 };
  const meterOf = (previous: string, current: string, mf: number, digits = 6, type = 'Actual') => ({
    number: 1,
    input: 'x',
    mf,
    digits,
    previous: { date: '30/06/2025', value: previous, type },
    current: { date: '31/07/2025', value: current, type: 'Actual' },
  });
  for (const vector of vectors.usages) {
    const { meters, estimate, trueUp } = vector;
    test(`${vector.id}: ${vector.title}`, () => {
      if (meters !== undefined) {
        const use = () => {
          const uses = meters.map((meter) => {
            const facts = meterOf(meter.previous, meter.current, meter.mf, meter.digits);
            return registerUse(facts, () => null).use;
          });
          return decimalText(inputQuantity(input, uses, zero).quantity);
        };
        if (vector.error === undefined) assert.equal(use(), vector.expect);
        else assert.throws(use, (error) => (error as RatingError).code === vector.error);
      } else if (estimate !== undefined) {
        const made = estimateReading(estimate);
        assert.equal(decimalText(made.reading), vector.expectReading);
        assert.equal(decimalText(made.quantity), vector.expect);
      } else if (trueUp !== undefined) {
        const billed: string[] = [];
        const carried: string[] = [];
        let carry = zero;
        for (let index = 1; index < trueUp.readings.length; index++) {
          const [before, now] = [trueUp.readings[index - 1], trueUp.readings[index]] as [
            string,
            string,
          ];
          const type = index === 1 ? 'Estimated' : 'Actual';
          const { use } = registerUse(meterOf(before, now, trueUp.mf, 6, type), () => null);
          const quantity = inputQuantity(input, [use], carry);
          carry = quantity.carried;
          billed.push(decimalText(quantity.quantity));
          carried.push(decimalText(quantity.carried));
        }
        assert.deepEqual(billed, vector.expectBilled);
        assert.deepEqual(carried, vector.expectCarried);
      } else assert.fail('a vector of unknown kind');
    });
  }
});

describe('plan checks', () => {
  for (const check of vectors.planChecks) {
    const context = { code: 'CHECK', components: check.components };
    test(`${check.id}: ${check.title}`, () => {
      const { errors } = checkPlans(context, check.tariffs);
      if (check.error !== undefined) {
        assert.ok(
          errors.some((error) => error.code === check.error),
          JSON.stringify(errors),
        );
        return;
      }
      assert.deepEqual(errors, []);
      const bill = rateBill(compilePriceBook(singleVersion(context, check.tariffs)), {
        term: { startDate: '01/07/2025', endDate: '31/07/2025' },
        tariffCode: 'P',
      });
      const amounts = Object.keys(check.amounts ?? {}).map((name) => {
        const lines = bill.lines.filter((line) => line.component === name);
        const sum = lines.reduce((total, line) => total + line.amount, 0);
        return [name, minorUnitsText(sum, 2)];
      });
      assert.deepEqual(Object.fromEntries(amounts), check.amounts);
    });
  }
});

test('the plans of the worked tariffs have no errors', () => {
  for (const { service, tariffs } of tariffCases) {
    assert.deepEqual(checkPlans(service, tariffs).errors, []);
  }
});
