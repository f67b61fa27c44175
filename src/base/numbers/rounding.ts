// The only place where a number loses digits: the six rounding modes, exact on ties.
import {
  ArithmeticError,
  denominatorOf,
  type Exact,
  fraction,
  fromBigInts,
  numeratorOf,
} from './exact.ts';

export const roundingModes = ['HalfUp', 'HalfEven', 'Up', 'Down', 'Ceiling', 'Floor'] as const;
export type RoundingMode = (typeof roundingModes)[number];
export type Rounding = { readonly scale: number; readonly mode: RoundingMode };

/** Scales beyond this have no use in a tariff and would only make numbers long. */
export const scaleLimit = 30;

const safeMax = Number.MAX_SAFE_INTEGER;
const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

export function powerOfTen(exponent: number): number {
  const power = powers[exponent];
  if (power === undefined) throw new RangeError(`10^${exponent} is not a safe integer`);
  return power;
}

/** x rounded to `scale` digits after the point (before it, when negative). */
export function round(x: Exact, scale: number, mode: RoundingMode): Exact {
  if (x.big === null && scale >= 0 && scale < powers.length) {
    const units = roundSmall(x, powers[scale] as number, mode);
    if (units !== null) return fraction(units, powers[scale] as number);
  }
  const units = roundBig(x, scale, mode);
  return scale >= 0
    ? fromBigInts(units, 10n ** BigInt(scale))
    : fromBigInts(units * 10n ** BigInt(-scale), 1n);
}

/**
 * x rounded by `rounding`, as a whole number of minor units of a currency with `currencyScale`
 * decimals. The rounding is never finer than the currency, so the result is whole.
 */
export function roundToMinorUnits(x: Exact, rounding: Rounding, currencyScale: number): number {
  const coarser = currencyScale - rounding.scale;
  if (x.big === null && rounding.scale >= 0 && coarser >= 0) {
    const units = roundSmall(x, powers[rounding.scale] as number, rounding.mode);
    if (units !== null) {
      const minor = coarser === 0 ? units : units * (powers[coarser] as number);
      if (minor <= safeMax && minor >= -safeMax) return minor + 0;
    }
  }
  const units = roundBig(x, rounding.scale, rounding.mode);
  const minor = units * 10n ** BigInt(coarser);
  if (minor > BigInt(safeMax) || minor < -BigInt(safeMax)) {
    throw new ArithmeticError('AMOUNT_OUT_OF_RANGE', 'an amount is too large for a bill');
  }
  return Number(minor);
}

/** Largest whole number not above x. */
export function floor(x: Exact): Exact {
  return round(x, 0, 'Floor');
}

export function ceiling(x: Exact): Exact {
  return round(x, 0, 'Ceiling');
}

/** x in units of 1/power, rounded; null when it does not fit safe integers. */
function roundSmall(x: Exact, power: number, mode: RoundingMode): number | null {
  if (x.d === power) return x.n;
  const finer = x.d / power;
  if (finer === Math.floor(finer)) return divideSmall(x.n, finer, mode);
  const n = x.n * power;
  return n <= safeMax && n >= -safeMax ? divideSmall(n, x.d, mode) : null;
}

function divideSmall(n: number, d: number, mode: RoundingMode): number {
  // Exact for safe integers: the true quotient is at least 1/d away from the next whole number,
  // which is more than the error of one floating-point division. By size, not by floor, because the
  // product below must not exceed n.
  const size = n < 0 ? -n : n;
  const whole = Math.floor(size / d);
  const rest = size - whole * d;
  if (rest === 0) return n < 0 ? 0 - whole : whole;
  const below = n < 0 ? -whole - 1 : whole;
  const aboveHalf = n < 0 ? d - rest * 2 : rest * 2 - d;
  return (roundsUp(aboveHalf, n > 0, below % 2 === 0, mode) ? below + 1 : below) + 0;
}

function roundBig(x: Exact, scale: number, mode: RoundingMode): bigint {
  let n = numeratorOf(x);
  let d = denominatorOf(x);
  if (scale >= 0) n *= 10n ** BigInt(scale);
  else d *= 10n ** BigInt(-scale);
  let below = n / d;
  if (n % d !== 0n && n < 0n) below -= 1n;
  const rest = n - below * d;
  if (rest === 0n) return below;
  const twice = rest * 2n;
  const aboveHalf = twice === d ? 0 : twice > d ? 1 : -1;
  return roundsUp(aboveHalf, n > 0n, below % 2n === 0n, mode) ? below + 1n : below;
}

/** Whether a number strictly between two steps goes to the upper one. */
function roundsUp(
  aboveHalf: number,
  isPositive: boolean,
  lowerIsEven: boolean,
  mode: RoundingMode,
): boolean {
  switch (mode) {
    case 'HalfUp':
      return aboveHalf === 0 ? isPositive : aboveHalf > 0;
    case 'HalfEven':
      return aboveHalf === 0 ? !lowerIsEven : aboveHalf > 0;
    case 'Up':
      return isPositive;
    case 'Down':
      return !isPositive;
    case 'Ceiling':
      return true;
    case 'Floor':
      return false;
  }
}
