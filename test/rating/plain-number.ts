// Rational numbers the plain way: two BigInts, reduced after every step. The tests hold the fast
// numbers of src/base/numbers against these.

export type Plain = { readonly n: bigint; readonly d: bigint };

export class PlainError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** The same bound as the language has: 256 bits above and below the line. */
const limit = 2n ** 256n;

export function plainOf(n: bigint, d: bigint): Plain {
  if (d === 0n) throw new PlainError('DIVISION_BY_ZERO');
  let a = n < 0n ? -n : n;
  let b = d < 0n ? -d : d;
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = a === 0n ? 1n : a;
  const sign = d < 0n ? -1n : 1n;
  return { n: (sign * n) / divisor, d: (sign * d) / divisor };
}

export function checked(x: Plain): Plain {
  const size = x.n < 0n ? -x.n : x.n;
  if (size >= limit || x.d >= limit) throw new PlainError('AMOUNT_OUT_OF_RANGE');
  return x;
}

export const nought = plainOf(0n, 1n);
export const unit = plainOf(1n, 1n);

export function plus(a: Plain, b: Plain): Plain {
  return plainOf(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function minus(a: Plain, b: Plain): Plain {
  return plainOf(a.n * b.d - b.n * a.d, a.d * b.d);
}

export function times(a: Plain, b: Plain): Plain {
  return plainOf(a.n * b.n, a.d * b.d);
}

export function over(a: Plain, b: Plain): Plain {
  return plainOf(a.n * b.d, a.d * b.n);
}

export function less(a: Plain, b: Plain): boolean {
  return a.n * b.d < b.n * a.d;
}

export function same(a: Plain, b: Plain): boolean {
  return a.n === b.n && a.d === b.d;
}

export function floorOf(x: Plain): bigint {
  const whole = x.n / x.d;
  return x.n < 0n && whole * x.d !== x.n ? whole - 1n : whole;
}

export function wholeOf(n: bigint): Plain {
  return { n, d: 1n };
}

/** x in whole steps of 10^-scale, rounded. */
export function roundPlain(x: Plain, scale: number, mode: string): Plain {
  const step = scale >= 0 ? plainOf(1n, 10n ** BigInt(scale)) : wholeOf(10n ** BigInt(-scale));
  const steps = over(x, step);
  const low = floorOf(steps);
  const rest = minus(steps, wholeOf(low));
  if (rest.n === 0n) return times(wholeOf(low), step);
  const half = plainOf(1n, 2n);
  const isPositive = x.n > 0n;
  const toNearest = (tie: boolean) => (same(rest, half) ? tie : less(half, rest));
  const goesUp = new Map<string, boolean>([
    ['HalfUp', toNearest(isPositive)],
    ['HalfEven', toNearest(low % 2n !== 0n)],
    ['Up', isPositive],
    ['Down', !isPositive],
    ['Ceiling', true],
    ['Floor', false],
  ]).get(mode);
  return times(wholeOf(goesUp ? low + 1n : low), step);
}

export function parsePlain(text: string): Plain {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new PlainError('INVALID_NUMBER');
  const decimals = match[3] ?? '';
  const n = BigInt(`${match[2]}${decimals}`);
  return plainOf(match[1] === '-' ? -n : n, 10n ** BigInt(decimals.length));
}

export function fractionText(x: Plain): string {
  return `${x.n}/${x.d}`;
}
