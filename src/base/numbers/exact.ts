// Exact rational numbers. Nothing is ever rounded here; rounding.ts does that where a tariff says
// so.
//
// Two representations behind one shape. Almost every number of a bill is a fraction of two safe
// integers (16.48 is 1648/100), and those are kept as JavaScript numbers: sums, products and
// comparisons of safe integers are exact as long as the result is safe, which is checked each time.
// What does not fit goes to reduced BigInt fractions and comes back as soon as it fits again.

export type ArithmeticCode = 'DIVISION_BY_ZERO' | 'AMOUNT_OUT_OF_RANGE';

/** Thrown where a number has no value; carries the code a bill shows. */
export class ArithmeticError extends Error {
  readonly code: ArithmeticCode;

  constructor(code: ArithmeticCode, message: string) {
    super(message);
    this.code = code;
  }
}

type Ratio = { readonly n: bigint; readonly d: bigint };

/**
 * A rational number n/d with d > 0, not necessarily reduced; `big` holds it when it does not fit.
 */
export class Exact {
  readonly n: number;
  readonly d: number;
  readonly big: Ratio | null;

  constructor(n: number, d: number, big: Ratio | null) {
    this.n = n;
    this.d = d;
    this.big = big;
  }
}

const safeMax = Number.MAX_SAFE_INTEGER;
const safeMaxBig = BigInt(safeMax);

/**
 * Numerator and denominator of a reduced fraction stay below this. Sums of money never come near
 * it; repeated multiplication in a hostile formula reaches it quickly and stops there.
 */
const magnitudeLimit = 1n << 256n;

// The engine keeps the fields of a class the way it first saw them filled. Were they always numbers,
// it would put each into a box of its own; this one object tells it that they can be anything, and
// the small whole numbers that nearly all of them are then need no box.
new Exact(null as unknown as number, null as unknown as number, null);

export const zero = new Exact(0, 1, null);
export const one = new Exact(1, 1, null);

/** A fraction of two safe integers; the caller guarantees both are and that d > 0. */
export function fraction(n: number, d: number): Exact {
  return new Exact(n, d, null);
}

export function fromBigInts(n: bigint, d: bigint): Exact {
  if (d === 0n) throw divisionByZero();
  return d < 0n ? reduced(-n, -d) : reduced(n, d);
}

export function numeratorOf(a: Exact): bigint {
  return a.big === null ? BigInt(a.n) : a.big.n;
}

export function denominatorOf(a: Exact): bigint {
  return a.big === null ? BigInt(a.d) : a.big.d;
}

export function add(a: Exact, b: Exact): Exact {
  if (a.big === null && b.big === null) {
    if (a.d === b.d) {
      const n = a.n + b.n;
      if (isSafe(n)) return new Exact(n, a.d, null);
    } else {
      const sum = b.d > a.d ? addWithDivisor(b, a) : addWithDivisor(a, b);
      if (sum !== null) return sum;
    }
  }
  const ad = denominatorOf(a);
  const bd = denominatorOf(b);
  return reduced(numeratorOf(a) * bd + numeratorOf(b) * ad, ad * bd);
}

/** a + b where a has the larger denominator; null when it does not fit. */
function addWithDivisor(a: Exact, b: Exact): Exact | null {
  // The quotient of safe integers is a whole number in floating point only if it is one exactly.
  const times = a.d / b.d;
  if (times === Math.floor(times)) {
    const scaled = b.n * times;
    const n = a.n + scaled;
    return isSafe(scaled) && isSafe(n) ? new Exact(n, a.d, null) : null;
  }
  const left = a.n * b.d;
  const right = b.n * a.d;
  const d = a.d * b.d;
  const n = left + right;
  const fits = isSafe(left) && isSafe(right) && isSafe(n) && d <= safeMax;
  return fits ? new Exact(n, d, null) : null;
}

export function negate(a: Exact): Exact {
  if (a.big === null) return new Exact(0 - a.n, a.d, null);
  return new Exact(0, 1, { n: -a.big.n, d: a.big.d });
}

export function subtract(a: Exact, b: Exact): Exact {
  if (a.big === null && b.big === null && a.d === b.d) {
    const n = a.n - b.n;
    if (isSafe(n)) return new Exact(n, a.d, null);
  }
  return add(a, negate(b));
}

export function multiply(a: Exact, b: Exact): Exact {
  if (a.big === null && b.big === null) {
    const n = a.n * b.n;
    const d = a.d * b.d;
    if (isSafe(n) && d <= safeMax) return new Exact(n, d, null);
  }
  return reduced(numeratorOf(a) * numeratorOf(b), denominatorOf(a) * denominatorOf(b));
}

export function divide(a: Exact, b: Exact): Exact {
  if (isZero(b)) throw divisionByZero();
  if (a.big === null && b.big === null) {
    const sign = b.n < 0 ? -1 : 1;
    const n = a.n * b.d * sign;
    const d = a.d * b.n * sign;
    if (isSafe(n) && d <= safeMax) return simplified(n, d);
  }
  return fromBigInts(numeratorOf(a) * denominatorOf(b), denominatorOf(a) * numeratorOf(b));
}

/** Keeps whole quotients whole, so that `x / 1000 * 1000` does not drag a denominator along. */
function simplified(n: number, d: number): Exact {
  const quotient = n / d;
  return quotient === Math.floor(quotient)
    ? new Exact(quotient + 0, 1, null)
    : new Exact(n, d, null);
}

export function absolute(a: Exact): Exact {
  return signOf(a) < 0 ? negate(a) : a;
}

export function isZero(a: Exact): boolean {
  return a.big === null && a.n === 0;
}

/** -1, 0 or 1. */
export function signOf(a: Exact): number {
  if (a.big !== null) return a.big.n < 0n ? -1 : 1;
  return a.n < 0 ? -1 : a.n > 0 ? 1 : 0;
}

/** Negative, zero or positive as a is less than, equal to or greater than b. */
export function compare(a: Exact, b: Exact): number {
  if (a.big === null && b.big === null) {
    if (a.d === b.d) return a.n - b.n;
    const left = a.n * b.d;
    const right = b.n * a.d;
    if (isSafe(left) && isSafe(right)) return left - right;
  }
  const left = numeratorOf(a) * denominatorOf(b);
  const right = numeratorOf(b) * denominatorOf(a);
  return left < right ? -1 : left > right ? 1 : 0;
}

export function equals(a: Exact, b: Exact): boolean {
  return compare(a, b) === 0;
}

export function minimum(a: Exact, b: Exact): Exact {
  return compare(b, a) < 0 ? b : a;
}

export function maximum(a: Exact, b: Exact): Exact {
  return compare(b, a) > 0 ? b : a;
}

function isSafe(n: number): boolean {
  return n <= safeMax && n >= -safeMax;
}

function reduced(n: bigint, d: bigint): Exact {
  if (n === 0n) return zero;
  const divisor = greatestCommonDivisor(n < 0n ? -n : n, d);
  const top = n / divisor;
  const bottom = d / divisor;
  if (top <= safeMaxBig && top >= -safeMaxBig && bottom <= safeMaxBig) {
    return new Exact(Number(top), Number(bottom), null);
  }
  if (top >= magnitudeLimit || top <= -magnitudeLimit || bottom >= magnitudeLimit) {
    throw new ArithmeticError('AMOUNT_OUT_OF_RANGE', 'a number became too large or too fine');
  }
  return new Exact(0, 1, { n: top, d: bottom });
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let x = a;
  let y = b;
  // Ends: the second number falls with every turn.
  while (y !== 0n) {
    const rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

function divisionByZero(): ArithmeticError {
  return new ArithmeticError('DIVISION_BY_ZERO', 'division by zero');
}
