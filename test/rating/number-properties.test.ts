// Exact numbers against plain BigInt fractions, and the shape of graduated slabs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slabFormulas, slabReached } from '../../src/base/formula/slab.ts';
import { compileTable, type Slabs } from '../../src/base/formula/table.ts';
import { decimalText, exactText, parseDecimal } from '../../src/base/numbers/decimal-text.ts';
import {
  ArithmeticError,
  add,
  compare,
  denominatorOf,
  divide,
  type Exact,
  fraction,
  fromBigInts,
  multiply,
  negate,
  numeratorOf,
  one,
  subtract,
} from '../../src/base/numbers/exact.ts';
import {
  ceiling,
  floor,
  round,
  roundingModes,
  roundToMinorUnits,
} from '../../src/base/numbers/rounding.ts';
import {
  fractionText,
  less,
  minus,
  over,
  type Plain,
  plainOf,
  plus,
  roundPlain,
  times,
} from './plain-number.ts';
import { runs } from './random-runs.ts';

const wholes = fc.oneof(
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
  fc.constantFrom(0n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) + 1n, -(2n ** 53n)),
);
const divisors = fc.oneof(
  fc.constantFrom(1n, 10n, 100n, 10_000n, 10n ** 12n, 3n, 7n, 30n, 31n, 365n),
  fc.bigInt({ min: 1n, max: 2n ** 54n }),
);
/** A number as ours and as a plain one. */
const pairs = fc
  .tuple(wholes, divisors)
  .map(([n, d]) => ({ ours: fromBigInts(n, d), plain: plainOf(n, d) }));

function textOf(x: Exact): string {
  return fractionText(plainOf(numeratorOf(x), denominatorOf(x)));
}

test('sums, differences, products, quotients and comparisons are exact', () => {
  fc.assert(
    fc.property(pairs, pairs, (a, b) => {
      const same = (ours: Exact, plain: Plain) => assert.equal(textOf(ours), fractionText(plain));
      same(add(a.ours, b.ours), plus(a.plain, b.plain));
      same(subtract(a.ours, b.ours), minus(a.plain, b.plain));
      same(multiply(a.ours, b.ours), times(a.plain, b.plain));
      if (b.plain.n !== 0n) same(divide(a.ours, b.ours), over(a.plain, b.plain));
      else assert.throws(() => divide(a.ours, b.ours), ArithmeticError);
      const order = less(a.plain, b.plain) ? -1 : less(b.plain, a.plain) ? 1 : 0;
      assert.equal(Math.sign(compare(a.ours, b.ours)), order);
    }),
    runs,
  );
});

test('long sums and products of unreduced fractions stay exact', () => {
  const small = fc.tuple(
    fc.integer({ min: -9999, max: 9999 }),
    fc.constantFrom(1, 10, 100, 31, 30),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(small, fc.boolean()), { maxLength: 12 }), (steps) => {
      let ours: Exact = one;
      let plain = plainOf(1n, 1n);
      for (const [[n, d], isSum] of steps) {
        const next = plainOf(BigInt(n), BigInt(d));
        ours = isSum ? add(ours, fraction(n, d)) : multiply(ours, fraction(n, d));
        plain = isSum ? plus(plain, next) : times(plain, next);
      }
      assert.equal(textOf(ours), fractionText(plain));
    }),
    runs,
  );
});

test('every rounding mode agrees with its definition at every scale', () => {
  const modes = fc.constantFrom(...roundingModes);
  const near = fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.constantFrom(2, 20, 200, 1000, 3, 7))
    .map(([n, d]) => ({ ours: fraction(n, d), plain: plainOf(BigInt(n), BigInt(d)) }));
  fc.assert(
    fc.property(fc.oneof(near, pairs), fc.integer({ min: -4, max: 8 }), modes, (x, scale, mode) => {
      const wanted = roundPlain(x.plain, scale, mode);
      assert.equal(textOf(round(x.ours, scale, mode)), fractionText(wanted));
      if (scale > 2 || wanted.n > 2n ** 40n || wanted.n < -(2n ** 40n)) return;
      const minor = roundToMinorUnits(x.ours, { scale, mode }, 2);
      assert.equal(BigInt(minor), (wanted.n * 100n) / wanted.d);
      assert.ok(!Object.is(minor, -0));
      assert.equal(textOf(floor(x.ours)), fractionText(roundPlain(x.plain, 0, 'Floor')));
      assert.equal(textOf(ceiling(negate(x.ours))), textOf(negate(floor(x.ours))));
    }),
    runs,
  );
});

test('decimal text is read back as the same number', () => {
  const texts = fc
    .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 12 }))
    .map(([isNegative, n, scale]) => {
      const digits = String(n).padStart(scale + 1, '0');
      const split = digits.length - scale;
      const text = scale === 0 ? digits : `${digits.slice(0, split)}.${digits.slice(split)}`;
      return isNegative ? `-${text}` : text;
    });
  fc.assert(
    fc.property(texts, (text) => {
      const number = parseDecimal(text) as Exact;
      const shown = decimalText(number);
      assert.match(shown, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      assert.equal(textOf(parseDecimal(shown) as Exact), textOf(number));
      assert.equal(exactText(number), shown);
    }),
    runs,
  );
});

test('a fraction prints as its value rounded half up to 12 decimals', () => {
  const any = fc.oneof(
    pairs,
    fc
      .tuple(fc.integer({ min: -10_000_000, max: 10_000_000 }), fc.integer({ min: 1, max: 99_999 }))
      .map(([n, d]) => ({ ours: fraction(n, d), plain: plainOf(BigInt(n), BigInt(d)) })),
    fc
      .constantFrom(fraction(1_999_999_999_999, 2_000_000_000_000), fraction(-1, 3_000_000))
      .map((ours) => ({ ours, plain: plainOf(numeratorOf(ours), denominatorOf(ours)) })),
  );
  fc.assert(
    fc.property(any, ({ ours, plain }) => {
      const shown = parseDecimal(decimalText(ours)) as Exact;
      assert.equal(textOf(shown), fractionText(roundPlain(plain, 12, 'HalfUp')));
    }),
    runs,
  );
});

const tables = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 8 }),
    fc.array(fc.integer({ min: 0, max: 9999 }), { minLength: 9, maxLength: 9 }),
  )
  .map(([limits, rates]) => {
    const sorted = [...limits].sort((a, b) => a - b).map((limit) => String(limit / 100));
    const rows = [...sorted, null].map((upTo, index) => ({
      upTo,
      rate: String((rates[index] ?? 0) / 100),
    }));
    return compileTable(['upTo', 'rate'], rows).table?.slabs as Slabs;
  });

test('graduated slabs are continuous and rising in the quantity', () => {
  const quantities = fc.integer({ min: -50_000, max: 200_000 });
  const factors = fc.tuple(fc.integer({ min: 1, max: 62 }), fc.constantFrom(28, 30, 31));
  fc.assert(
    fc.property(tables, quantities, fc.nat(10_000), factors, (slabs, n, more, [days, of]) => {
      const factor = fraction(days, of);
      const graduated = (quantity: Exact) =>
        slabFormulas.SLAB(slabs, slabReached(slabs, quantity, factor), quantity, factor);
      const low = fraction(n, 100);
      const high = add(low, fraction(more, 100));
      const rise = subtract(graduated(high), graduated(low));
      // Between nothing and the dearest rate for each unit: no step up or down anywhere.
      const dearest = slabs.rates.reduce((a, b) => (compare(a, b) > 0 ? a : b));
      assert.ok(compare(rise, fraction(0, 1)) >= 0);
      assert.ok(compare(rise, multiply(subtract(high, low), dearest)) <= 0);
      for (const limit of slabs.limits) {
        const at = multiply(limit, factor);
        const tiny = fraction(1, 1_000_000_000);
        const step = subtract(graduated(add(at, tiny)), graduated(at));
        assert.ok(compare(step, multiply(tiny, dearest)) <= 0);
      }
    }),
    runs,
  );
});
