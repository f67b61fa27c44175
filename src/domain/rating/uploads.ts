// Use that was uploaded: alone, or in place of what meters measured.
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import {
  add,
  divide,
  type Exact,
  fraction,
  multiply,
  signOf,
  zero,
} from '../../base/numbers/exact.ts';
import { round } from '../../base/numbers/rounding.ts';
import type { BillUsage } from './bill.ts';
import { requiredDay } from './billable-days.ts';
import type { CompiledContext } from './compiled-context.ts';
import type { Facts, MeterFacts, UploadedUsage } from './facts.ts';
import type { DayPart, InputUsage } from './input-usage.ts';
import { RatingError } from './rating-error.ts';

export const noMeters: readonly MeterFacts[] = [];

/** What is known of a term so far. */
type Known = {
  inputs: (InputUsage | undefined)[];
  totals: (Exact | undefined)[];
  printed: BillUsage[];
  /** Units from before, by input. */
  carried: Facts['carriedUnits'];
};

export function addUploads(
  uploads: Readonly<Record<string, UploadedUsage>>,
  context: CompiledContext,
  { inputs, totals, printed, carried: carriedUnits }: Known,
): void {
  const names = Object.keys(uploads);
  if (names.length > 1) names.sort();
  for (const name of names) {
    const uploaded = uploads[name] as UploadedUsage;
    const slot = context.slots.inputs.get(name);
    if (slot === undefined) continue;
    const definition = context.unmetered[slot] ?? context.metered[slot];
    let total = uploadedTotal(name, uploaded);
    if (typeof definition?.decimals === 'number') {
      total = round(total, definition.decimals, 'HalfUp');
    }
    const aggregation = context.metered[slot]?.aggregation ?? 'Sum';
    const isDivisible = aggregation === 'Sum';
    inputs[slot] = { total, isDivisible, meters: noMeters, credit: zero, uploaded };
    totals[slot] = total;
    const plain = { input: name, unit: definition?.unit ?? null, quantity: decimalText(total) };
    // It is billed as it was given: what a meter was billed too much is left for its next term.
    const carried = entryOf(carriedUnits, name);
    const entry = carried === undefined ? plain : { ...plain, carried };
    const measured = printed.findIndex((one) => one.input === name);
    // It stands in for what was measured.
    if (measured < 0) printed.push(entry);
    else printed[measured] = entry;
  }
}

function uploadedTotal(name: string, uploaded: UploadedUsage): Exact {
  if (!Array.isArray(uploaded)) return quantityFrom(name, uploaded);
  return uploaded.reduce((sum, row) => add(sum, quantityFrom(name, row.quantity)), zero);
}

function quantityFrom(name: string, given: unknown): Exact {
  const quantity = exactFrom(given);
  if (quantity === undefined) {
    throw new RatingError('INVALID_NUMBER', `the usage of \`${name}\` is no number: ${given}`);
  }
  return quantity;
}

export function uploadedOfPart(
  usage: InputUsage,
  part: DayPart,
  parts: readonly DayPart[],
  billedDays: number,
): Exact {
  const share = (quantity: Exact) =>
    divide(multiply(quantity, fraction(part.to - part.from + 1, 1)), fraction(billedDays, 1));
  if (!Array.isArray(usage.uploaded)) return share(usage.total);
  let own = zero;
  let all = zero;
  for (const row of usage.uploaded) {
    const quantity = exactFrom(row.quantity) ?? zero;
    all = add(all, quantity);
    const day = typeof row.date === 'string' ? requiredDay(row.date, 'usage date') : null;
    const isDated = day !== null && parts.some((other) => other.from <= day && day <= other.to);
    if (!isDated) own = add(own, share(quantity));
    else if (part.from <= day && day <= part.to) own = add(own, quantity);
  }
  // The total was rounded, and the parts have to add up to it.
  return signOf(all) === 0 ? own : divide(multiply(own, usage.total), all);
}

/** An entry by name; a name such as `constructor` finds nothing that was not given. */
export function entryOf<Entry>(
  entries: Readonly<Record<string, Entry>> | null | undefined,
  name: string,
): Entry | undefined {
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}
