/**
 * An amount in minor units as the JSON number of the wire, in major units. The digits are placed as
 * text, so that no binary arithmetic touches the amount; the number is the nearest to that decimal.
 */
export function majorUnits(minor: bigint, decimals: number): number {
  return Number(amountText(minor, decimals));
}

/** An amount in minor units as decimal text in major units, exact however large it is. */
export function amountText(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return minor < 0n ? `-${text}` : text;
}

const amountForm = /^([+-]?)(\d+)(?:\.(\d+))?$/;

/** Digits before and after the point that a number always holds exactly. */
function wholeDigitsMax(decimals: number): number {
  return Math.min(12, 15 - decimals);
}

/** What `minorUnitsFrom` takes, in words. */
export function amountWords(decimals: number): string {
  const digits = wholeDigitsMax(decimals);
  return `an amount of at most ${digits} digits before the point and ${decimals} after it`;
}

/** Decimal text in major units -> minor units; undefined if it is not an amount of the currency. */
export function minorUnitsFrom(text: string, decimals: number): number | undefined {
  const [match, sign, whole = '', fraction = ''] = amountForm.exec(text) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if (match === undefined || digits.length > decimals) return undefined;
  if (whole.length > wholeDigitsMax(decimals)) return undefined;
  const minor = Number(whole + digits.padEnd(decimals, '0'));
  return sign === '-' ? -minor : minor;
}
