// What the figures of a line come to, and of how many days its amount is. Rates and steps are those
// of a whole term; where only some of its days are charged, they come to more than the amount.
import { parseDay } from '../../base/days.ts';
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import {
  absolute,
  add,
  compare,
  type Exact,
  fraction,
  fromBigInts,
  isZero,
  multiply,
  one,
  subtract,
  zero,
} from '../../base/numbers/exact.ts';
import type { PresentedLine } from '../bills/bill-forms.ts';
import type { BillDocument } from './bill-document.ts';

export type DaysPart = {
  readonly days: number;
  readonly termDays: number;
  /** Of the whole term, decimal text as the other. */
  readonly whole: string;
  readonly part: string;
};

/** null unless the amount is what its days make of quantity and rate, or of the steps. */
export function daysPart(line: PresentedLine, bill: BillDocument): DaysPart | null {
  const { days } = line;
  const termDays = termDaysOf(line, bill);
  if (termDays === undefined || days <= 0 || days >= termDays) return null;
  const whole = sumOf(line);
  const amount = exactFrom(line.amount);
  if (whole === undefined || amount === undefined || isZero(whole)) return null;
  const part = multiply(whole, fraction(days, termDays));
  const missing = absolute(subtract(part, amount));
  const isRounded = compare(missing, lastPlaceOf(line.amount)) < 0;
  const isNearer = compare(missing, absolute(subtract(whole, amount))) < 0;
  if (!isRounded || !isNearer) return null;
  return { days, termDays, whole: decimalText(whole), part: decimalText(part) };
}

/** Days of the term that a line is of: the bill's own, or the one before. */
function termDaysOf({ fromDate }: PresentedLine, bill: BillDocument): number | undefined {
  const day = parseDay(fromDate);
  if (day === undefined) return undefined;
  for (const term of [bill, bill.previousTerm]) {
    const first = parseDay(term?.startDate ?? '');
    const last = parseDay(term?.endDate ?? '');
    if (first === undefined || last === undefined) continue;
    if (first <= day && day <= last) return last - first + 1;
  }
  return undefined;
}

function sumOf({ details, quantity, rate, unit }: PresentedLine): Exact | undefined {
  if (details.length > 0) return total(details.map((step) => step.amount));
  if (rate === null || unit === '%') return undefined;
  const price = exactOf(rate);
  const units = quantity === null ? one : exactOf(quantity);
  return price === undefined || units === undefined ? undefined : multiply(units, price);
}

/** The place an amount may have been rounded to: 0.01 of 54.55, a whole unit of 60. */
function lastPlaceOf(amount: number): Exact {
  const decimals = String(amount).split('.')[1]?.length ?? 0;
  return fromBigInts(1n, 10n ** BigInt(decimals));
}

/** Whether the steps are of the quantity of the line: they may count thousands of it. */
export function areStepsOfQuantity({ details, quantity }: PresentedLine): boolean {
  const units = quantity === null ? undefined : exactOf(quantity);
  const sum = total(details.map((step) => step.quantity));
  if (units === undefined || sum === undefined) return false;
  // All of these texts end after twelve decimals, and each may have been rounded there.
  const roundedOff = fromBigInts(BigInt(details.length + 1), 2n * 10n ** 12n);
  return compare(absolute(subtract(sum, units)), roundedOff) <= 0;
}

function total(texts: readonly string[]): Exact | undefined {
  let sum = zero;
  for (const text of texts) {
    const value = exactOf(text);
    if (value === undefined) return undefined;
    sum = add(sum, value);
  }
  return sum;
}

export function sumOfAmounts(amounts: readonly number[]): number {
  return Number(decimalText(total(amounts.map(String)) ?? zero));
}

/** Longer figures do not occur on bills, and their sums could exceed an exact number. */
const charactersMax = 30;

function exactOf(text: string): Exact | undefined {
  return text.length > charactersMax ? undefined : exactFrom(text);
}
