// Decimal text in and out. In: digits, an optional point with digits, an optional sign; no
// exponents, separators or other scripts' digits, since a typo there is a wrong price.
import { denominatorOf, type Exact, fraction, fromBigInts, numeratorOf } from './exact.ts';
import { round } from './rounding.ts';

/** A price or quantity has fewer characters. */
const digitsMax = 60;
const smallDigitsMax = 15;
const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** undefined when the text is no plain decimal number. */
export function parseDecimal(text: string): Exact | undefined {
  const length = text.length;
  let at = 0;
  let isNegative = false;
  const first = text.charCodeAt(0);
  if (first === 45 || first === 43) {
    isNegative = first === 45;
    at = 1;
  }
  const start = at;
  let n = 0;
  let point = -1;
  for (; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) n = n * 10 + (code - 48);
    else if (code === 46 && point < 0 && at > start) point = at;
    else return undefined;
  }
  if (at === start || point === length - 1) return undefined;
  const decimals = point < 0 ? 0 : length - point - 1;
  const digits = length - start - (point < 0 ? 0 : 1);
  if (digits > smallDigitsMax) return parseLong(text, start, isNegative, digits);
  return fraction(isNegative ? 0 - n : n, powers[decimals] as number);
}

function parseLong(
  text: string,
  start: number,
  isNegative: boolean,
  digits: number,
): Exact | undefined {
  if (digits > digitsMax) return undefined;
  const [whole = '', decimals = ''] = text.slice(start).split('.');
  const n = BigInt(whole + decimals);
  return fromBigInts(isNegative ? -n : n, 10n ** BigInt(decimals.length));
}

/** Decimals kept of a number without an end. */
const decimalsMax = 12;

/** Decimal text, exact where it ends within 12 decimals, else rounded half up to 12. */
export function decimalText(x: Exact): string {
  if (x.big === null) {
    if (x.d === 1) return String(x.n);
    for (let scale = 1; scale <= decimalsMax; scale++) {
      if (x.d === powers[scale]) return smallText(x.n, scale);
    }
    if (x.d <= dividedMax) return dividedText(x.n, x.d);
  }
  const rounded = round(x, decimalsMax, 'HalfUp');
  const units = (numeratorOf(rounded) * 10n ** BigInt(decimalsMax)) / denominatorOf(rounded);
  return bigText(units, decimalsMax);
}

/** Decimal text that shows by an ellipsis when digits were left out. */
export function exactText(x: Exact): string {
  const scaled = numeratorOf(x) * 10n ** BigInt(decimalsMax);
  const ends = scaled % denominatorOf(x) === 0n;
  return ends ? decimalText(x) : `${bigTextFull(x)}…`;
}

function bigTextFull(x: Exact): string {
  const rounded = round(x, decimalsMax, 'HalfUp');
  const units = (numeratorOf(rounded) * 10n ** BigInt(decimalsMax)) / denominatorOf(rounded);
  const text = units < 0n ? String(-units) : String(units);
  const padded = text.padStart(decimalsMax + 1, '0');
  const split = padded.length - decimalsMax;
  return `${units < 0n ? '-' : ''}${padded.slice(0, split)}.${padded.slice(split)}`;
}

/** Denominators up to this leave room for six digits at a time in a safe integer. */
const dividedMax = 9_000_000_000;
const sixDigits = 1_000_000;

/** Long division, twelve decimals in two strides, the last rounded half up. */
function dividedText(n: number, d: number): string {
  const negative = n < 0;
  const size = negative ? -n : n;
  let whole = Math.floor(size / d);
  const rest = (size - whole * d) * sixDigits;
  let first = Math.floor(rest / d);
  const secondRest = (rest - first * d) * sixDigits;
  let second = Math.floor(secondRest / d);
  if ((secondRest - second * d) * 2 >= d) second += 1;
  if (second === sixDigits) {
    second = 0;
    first += 1;
  }
  if (first === sixDigits) {
    first = 0;
    whole += 1;
  }
  const sign = negative && (whole > 0 || first > 0 || second > 0) ? '-' : '';
  if (first === 0 && second === 0) return `${sign}${whole}`;
  const decimals = String(first).padStart(6, '0') + String(second).padStart(6, '0');
  let end = decimals.length;
  while (decimals.charCodeAt(end - 1) === 48) end--;
  return `${sign}${whole}.${decimals.slice(0, end)}`;
}

function smallText(n: number, scale: number): string {
  const negative = n < 0;
  // Zeros at the end are dropped first: what is left is shorter to turn into text.
  const power = powers[scale] as number;
  const size = negative ? -n : n;
  const whole = Math.floor(size / power);
  if (whole * power === size) return String(negative ? -whole : whole);
  const digits = String(size).padStart(scale + 1, '0');
  const split = digits.length - scale;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  const text =
    end === split
      ? digits.slice(0, split)
      : `${digits.slice(0, split)}.${digits.slice(split, end)}`;
  return negative ? `-${text}` : text;
}

function bigText(n: bigint, scale: number): string {
  const negative = n < 0n;
  const digits = String(negative ? -n : n).padStart(scale + 1, '0');
  const split = digits.length - scale;
  const decimals = digits.slice(split).replace(/0+$/, '');
  const text = decimals === '' ? digits.slice(0, split) : `${digits.slice(0, split)}.${decimals}`;
  return negative ? `-${text}` : text;
}

/** Minor units with all decimals of the currency: 1359200 -> "13592.00". */
export function minorUnitsText(minor: number, currencyScale: number): string {
  if (currencyScale === 0) return String(minor);
  const negative = minor < 0;
  const digits = String(negative ? -minor : minor).padStart(currencyScale + 1, '0');
  const split = digits.length - currencyScale;
  return `${negative ? '-' : ''}${digits.slice(0, split)}.${digits.slice(split)}`;
}

/** A JSON number or decimal text as an exact number. */
export function exactFrom(value: unknown): Exact | undefined {
  if (typeof value === 'string') return parseDecimal(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value)) return fraction(value + 0, 1);
  // The shortest text that reads back as the same number is what the sender wrote.
  return parseDecimal(String(value));
}
