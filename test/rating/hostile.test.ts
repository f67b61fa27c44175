// Formulas and names made to do harm: each ends quickly, with an error or a result.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Bill } from '../../src/domain/rating/bill.ts';
import { checkPlans } from '../../src/domain/rating/check/check-plan.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import type {
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { tariffCases } from './tariff-cases.ts';

/** Far above what any of these needs, far below what a user would notice as a delay. */
const limitMs = 250;
const rows = Array.from({ length: 1000 }, (_, index) => ({
  upTo: index === 999 ? null : `${index + 1}.${index % 7}`,
  rate: `${(index * 37) % 101}.${index % 89}`,
}));
const context: ContextDefinition = {
  code: 'X',
  values: [
    { name: 'a', type: 'Number', default: '1234567.891' },
    { name: 't', type: 'Table', columns: ['upTo', 'rate'], default: rows },
  ],
  meteredInputs: [],
  unmeteredInputs: [{ name: 'u', source: 'Uploaded' }],
  components: [{ name: 'fee', type: 'Charge', categories: ['c'] }],
};

function planOf(formula: string): PlanDefinition {
  return { code: 'P', componentRules: [{ component: 'fee', scope: 'Term', formula }] };
}

function timed<Result>(work: () => Result): Result {
  // Time of this process, not of the clock: other work on the machine must not fail a test.
  const started = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(started);
  const took = (user + system) / 1000;
  assert.ok(took < limitMs, `took ${took} ms`);
  return result;
}

function errorsOf(formula: string): string[] {
  return timed(() => checkPlans(context, [planOf(formula)])).errors.map((error) => error.code);
}

function billOf(formula: string, options = {}): Bill {
  const book = compilePriceBook(singleVersion(context, [planOf(formula)]));
  const facts = {
    term: { startDate: '01/07/2025', endDate: '31/07/2025' },
    tariffCode: 'P',
    uploadedUsage: { u: '777.7' },
  };
  return timed(() => rateBill(book, facts, options));
}

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

describe('names of JavaScript objects', () => {
  for (const name of names) {
    test(`${name} is no name in a formula`, () => {
      // Names start with a letter, so those that do not are no names at all.
      const code = /^[A-Za-z]/.test(name) ? 'FORMULA_UNKNOWN_NAME' : 'FORMULA_SYNTAX';
      for (const space of ['', 'usage.', 'qty.', 'input.', 'comp.', 'segment.', 'account.']) {
        assert.deepEqual(errorsOf(`${space}${name} + 1`), [code]);
      }
      assert.deepEqual(errorsOf(`${name}.${name}`), [code]);
      const call = code === 'FORMULA_SYNTAX' ? code : 'FORMULA_UNKNOWN_FUNCTION';
      assert.deepEqual(errorsOf(`${name}(1)`), [call]);
    });

    test(`${name} is no input, category, column or row`, () => {
      assert.deepEqual(errorsOf(`HIST("${name}", 1)`), ['FORMULA_UNKNOWN_NAME']);
      assert.deepEqual(errorsOf(`SUMCAT("${name}")`), ['FORMULA_UNKNOWN_NAME']);
      assert.deepEqual(errorsOf(`LOOKUP(t, "1", "${name}")`), ['FORMULA_UNKNOWN_NAME']);
    });

    test(`${name} in definitions and facts changes nothing`, () => {
      const odd = JSON.parse(`{"${name}": "1", "u": "5"}`);
      const book = compilePriceBook(singleVersion(context, [planOf('usage.u * 2')]));
      const bill = rateBill(book, {
        term: { startDate: '01/07/2025', endDate: '31/07/2025' },
        tariffCode: 'P',
        uploadedUsage: odd,
        usageHistory: JSON.parse(`{"${name}": [{"quantity": "1"}]}`),
        connection: {
          connectionInputs: [{ name, value: '1' }],
          variants: [{ name, value: '1' }],
          unmeteredInputs: [{ name, value: '1' }],
        },
      });
      assert.equal(bill.lines[0]?.amount, 1000);
      const definitions = { ...context, values: [{ name, type: 'Number' as const, default: '1' }] };
      const { errors } = checkPlans(definitions, [planOf('1')]);
      const isName = /^[A-Za-z]/.test(name);
      assert.equal(errors.length, isName ? 0 : 1);
    });
  }
});

describe('size', () => {
  test('4,000 opening brackets are too deep', () => {
    assert.deepEqual(errorsOf('('.repeat(4000)), ['FORMULA_TOO_DEEP']);
    assert.deepEqual(errorsOf(`${'('.repeat(1999)}1${')'.repeat(1999)}`), ['FORMULA_TOO_DEEP']);
  });

  test('4,000 signs are too deep, 4,001 characters too long', () => {
    assert.deepEqual(errorsOf(`${'-'.repeat(3999)}1`), ['FORMULA_TOO_DEEP']);
    assert.deepEqual(errorsOf('1'.repeat(4001)), ['FORMULA_TOO_LONG']);
    assert.deepEqual(errorsOf('1'.repeat(4000)), ['FORMULA_SYNTAX']);
    assert.deepEqual(errorsOf('9'.repeat(1_000_000)), ['FORMULA_TOO_LONG']);
  });

  test('64 levels are allowed, 65 are not', () => {
    const nested = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
    assert.deepEqual(errorsOf(nested(64)), []);
    assert.deepEqual(errorsOf(nested(65)), ['FORMULA_TOO_DEEP']);
  });

  test('a chain of 2,000 sums is computed, and explained in one step', () => {
    const formula = `1${'+1'.repeat(1999)}`;
    assert.deepEqual(errorsOf(formula), []);
    assert.equal(billOf(formula).lines[0]?.amount, 200_000);
    assert.equal(billOf(formula, { explain: true }).explanation?.[0]?.steps.length, 1);
  });

  test('formulas that take too many steps put the bill in Error', () => {
    const bill = billOf(Array.from({ length: 250 }, () => 'SLAB(1, t)').join('+'));
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['FORMULA_TOO_COSTLY'],
    );
  });

  test('a chain of 1,999 comparisons is refused', () => {
    assert.deepEqual(errorsOf(`1${'<1'.repeat(1999)}`), ['FORMULA_SYNTAX']);
  });
});

describe('numbers', () => {
  test('repeated multiplication ends in AMOUNT_OUT_OF_RANGE', () => {
    const bill = billOf(Array.from({ length: 1300 }, () => 'a').join('*'));
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['AMOUNT_OUT_OF_RANGE'],
    );
    assert.equal(bill.errors[0]?.component, 'fee');
  });

  test('repeated division ends the same way', () => {
    const bill = billOf(`1${'/a'.repeat(1300)}`);
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['AMOUNT_OUT_OF_RANGE'],
    );
  });

  test('squares of squares end the same way', () => {
    const square = (text: string) => `(${text})*(${text})`;
    const bill = billOf(square(square(square(square(square(square('a')))))));
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['AMOUNT_OUT_OF_RANGE'],
    );
  });

  test('sums of fractions of many kinds stay exact or are refused', () => {
    const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];
    const sum = primes.map((prime) => `1/${prime}`).join('+');
    assert.equal(billOf(`(${sum}) - (${sum}) + 1`).lines[0]?.amount, 100);
  });

  test('an amount above what a bill can hold is refused', () => {
    const bill = billOf('99999999999999999 * 1000');
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['AMOUNT_OUT_OF_RANGE'],
    );
  });

  test('rounding to a million decimals is refused', () => {
    const bill = billOf('ROUND(a, 1000000)');
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['AMOUNT_OUT_OF_RANGE'],
    );
  });
});

describe('tables', () => {
  test('a table of 1,000 rows in 64 nested slabs gives a result or an error', () => {
    for (const reading of ['SLAB', 'SLABVOLUME', 'SLABPREVIOUS']) {
      const nested = `${`${reading}(`.repeat(63)}usage.u${', t)'.repeat(63)}`;
      assert.deepEqual(errorsOf(nested), []);
      const bill = billOf(nested);
      assert.ok(bill.lines.length === 1 || bill.errors[0]?.code === 'AMOUNT_OUT_OF_RANGE');
    }
    assert.equal(billOf(`${'SLABRATE('.repeat(63)}usage.u${', t)'.repeat(63)}`).errors.length, 0);
  });

  test('a table of 1,001 rows is refused', () => {
    const long = [{ upTo: '0.5', rate: '1' }, ...rows];
    const plan = { code: 'P', valueFormulas: [{ name: 't', rows: long }] };
    const { errors } = checkPlans(context, [plan]);
    assert.deepEqual(
      errors.map((error) => error.code),
      ['TOO_MANY_ITEMS'],
    );
  });

  test('501 values are refused', () => {
    const values = Array.from({ length: 501 }, (_, index) => ({
      name: `v${index}`,
      type: 'Number' as const,
      default: '1',
    }));
    const { errors } = checkPlans({ ...context, values }, [planOf('1')]);
    assert.ok(errors.some((error) => error.code === 'TOO_MANY_ITEMS'));
  });
});

describe('shape', () => {
  test('a chain of nine plans is too deep, of eight is not', () => {
    const chain = (length: number) =>
      Array.from({ length }, (_, index) => ({
        code: `P${index}`,
        parentTariffCode: index === 0 ? null : `P${index - 1}`,
      }));
    assert.deepEqual(checkPlans(context, chain(8)).errors, []);
    const { errors } = checkPlans(context, chain(9));
    assert.deepEqual(
      errors.map((error) => [error.code, error.tariffCode]),
      [['PLAN_TOO_DEEP', 'P8']],
    );
  });

  test('a cycle of 500 components is found', () => {
    const components = Array.from({ length: 500 }, (_, index) => ({
      name: `c${index}`,
      type: 'Charge' as const,
    }));
    const componentRules = components.map(({ name }, index) => ({
      component: name,
      scope: 'Term' as const,
      formula: `comp.c${(index + 1) % 500} + 1`,
    }));
    const { errors } = timed(() =>
      checkPlans({ code: 'X', components }, [{ code: 'P', componentRules }]),
    );
    assert.deepEqual(
      errors.map((error) => error.code),
      ['FORMULA_CYCLE'],
    );
  });

  test('a chain of 500 values that need each other is followed', () => {
    const values = Array.from({ length: 500 }, (_, index) => ({
      name: `v${index}`,
      type: 'Number' as const,
      default: index === 499 ? '2' : `v${index + 1}`,
    }));
    const components = [{ name: 'fee', type: 'Charge' as const }];
    const long = { code: 'X', values, components };
    assert.deepEqual(timed(() => checkPlans(long, [planOf('v0')])).errors, []);
    const bill = rateBill(compilePriceBook(singleVersion(long, [planOf('v0')])), {
      term: { startDate: '01/07/2025', endDate: '31/07/2025' },
      tariffCode: 'P',
    });
    assert.equal(bill.lines[0]?.amount, 200);
  });

  test('more than 100 segments put the bill in Error', () => {
    const pad = (value: number) => String(value).padStart(2, '0');
    const quantities = Array.from({ length: 200 }, (_, index) => ({
      name: 'q',
      value: String(index),
      fromDate: `${pad((index % 28) + 1)}/${pad(Math.floor(index / 28) + 1)}/2025`,
    }));
    const book = compilePriceBook(
      singleVersion({ ...context, unmeteredInputs: [{ name: 'q', changeInTerm: 'Split' }] }, [
        { code: 'P', componentRules: [{ component: 'fee', formula: 'qty.q' }] },
      ]),
    );
    const bill = rateBill(book, {
      term: { startDate: '01/01/2025', endDate: '31/12/2025' },
      tariffCode: 'P',
      connection: { unmeteredInputs: quantities },
    });
    assert.deepEqual(
      bill.errors.map((error) => error.code),
      ['TOO_MANY_SEGMENTS'],
    );
  });
});

describe('odd facts', () => {
  const tariffs = tariffCases.flatMap(({ service, tariffs, scenarios }) => {
    const book = compilePriceBook(singleVersion(service, tariffs));
    return scenarios.map((scenario) => ({ book, facts: JSON.stringify(scenario) }));
  });

  /** Paths to every value inside, the top excluded. */
  function paths(value: unknown, at: string[] = []): string[][] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => [
      [...at, key],
      ...paths(inner, [...at, key]),
    ]);
  }

  function replaced(facts: string, path: string[], by: unknown): FrozenInputs {
    const copy = JSON.parse(facts);
    let place = copy;
    for (const key of path.slice(0, -1)) place = place[key];
    const last = path.at(-1) as string;
    if (by === undefined) delete place[last];
    else place[last] = by;
    return copy;
  }

  test('anything left out, null, or another text gives a bill or its errors', () => {
    const words = [undefined, null, '', 'x', '-1', '99999999999999999999', '31/02/2025', '1e9'];
    let errors = 0;
    let bills = 0;
    for (const { book, facts } of tariffs) {
      for (const path of paths(JSON.parse(facts))) {
        // The term and what a list consists of are always there; callers see to that.
        if (path[0] === 'expected' || path.at(-1) === 'term') continue;
        const isEntry = /^\d+$/.test(path.at(-1) as string);
        const value = path.reduce((inner, key) => inner[key], JSON.parse(facts));
        for (const word of words) {
          if (word === undefined ? isEntry : typeof value === 'object' && word !== null) continue;
          if (word === null && isEntry) continue;
          const bill = rateBill(book, replaced(facts, path, word));
          if (bill.status === 'Error') errors += 1;
          else bills += 1;
          assert.equal(bill.status === 'Error', bill.errors.length > 0);
        }
      }
    }
    assert.ok(errors > 300 && bills > 300, `${errors} errors, ${bills} bills`);
  });

  test('inputs may be called as JavaScript objects call their own', () => {
    const own = { ...context, meteredInputs: [{ name: 'constructor' }] };
    const book = compilePriceBook(singleVersion(own, [planOf('usage.constructor')]));
    const bill = rateBill(book, {
      term: { startDate: '01/07/2025', endDate: '31/07/2025' },
      tariffCode: 'P',
      usageHistory: {},
      carriedUnits: {},
      meters: [
        {
          number: 1,
          input: 'constructor',
          digits: 5,
          previous: { date: '30/06/2025', value: '99990' },
          current: { date: '31/07/2025', value: '5' },
        },
      ],
    });
    assert.equal(bill.lines[0]?.amount, 1500);
  });
});
