// Usage uploaded in place of a meter: on which days it replaces the measured usage, and whether the
// measured usage reaches as far.

import { storedDay, wireDay } from '../../../base/days.ts';
import type { FrozenDays, FrozenInputs } from '../../rating/frozen-inputs.ts';
import type { Term } from '../../terms/store.ts';
import type { Inputs, Mutable } from './inputs.ts';
import type { BilledRow, MeterRow, UsageRow } from './inputs-store.ts';

/**
 * Whether use of an input was uploaded for all days that a bill has, so that it needs no reading.
 * Where bills are made in advance, what is uploaded is of other days. The last bill of an owner
 * needs one in any case: the next owner begins from it.
 */
export function isUploadedThroughout(
  term: Term,
  row: BilledRow,
  input: string,
  usage: readonly UsageRow[],
): boolean {
  if (!term.bills_after_period || row.handed_over !== null) return false;
  const own = usage.filter((one) => one.input === input);
  return own.length > 0 && coversAll(term, row, own);
}

function coversAll(term: Term, row: BilledRow, uploads: readonly UsageRow[]): boolean {
  // Of the term alone, which has all days that are billed.
  if (uploads.some((one) => one.from_date === undefined)) return true;
  let through = storedDay(row.billed_through ?? term.start_date) - (row.billed_through ? 0 : 1);
  for (const { from, to } of rangesOf(uploads)) {
    if (from > through + 1) return false;
    through = Math.max(through, to);
  }
  return through >= lastDay(term, row);
}

function lastDay(term: Term, { handed_over: end }: BilledRow): number {
  return end === null ? storedDay(term.end_date) : storedDay(end) - 1;
}

type Range = { from: number; to: number; days: FrozenDays };

function rangesOf(uploads: readonly UsageRow[]): Range[] {
  const ranges = uploads.flatMap(({ from_date: first, to_date: last }) => {
    if (first === undefined || last === undefined) return [];
    const days = { fromDate: wireDay(first), toDate: wireDay(last) };
    return [{ from: storedDay(first), to: storedDay(last), days }];
  });
  return ranges.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** For inputs that are also measured, adds the days whose usage the upload does not replace. */
export function addUploadedDays(frozen: Mutable<FrozenInputs>, term: Term, inputs: Inputs): void {
  if (!term.bills_after_period) return;
  const { row, meters, usage } = inputs;
  const names = [...new Set(usage.map((one) => one.input))].sort();
  for (const name of names) {
    const registers = meters.filter((meter) => meter.input === name);
    if (registers.length === 0) continue;
    if (registers.some((meter) => isUnread(term, row, meter))) {
      frozen.unread = [...(frozen.unread ?? []), name];
    }
    const own = usage.filter((one) => one.input === name);
    if (coversAll(term, row, own)) continue;
    const ranges = rangesOf(own).filter(
      ({ from, to }, index, all) => from !== all[index - 1]?.from || to !== all[index - 1]?.to,
    );
    frozen.uploadedDays = { ...frozen.uploadedDays, [name]: ranges.map(({ days }) => days) };
  }
}

/** True if the register was installed on a billed day. */
export function wasInstalled(row: BilledRow, meter: MeterRow): boolean {
  const { billed_through, handed_over } = row;
  if (handed_over !== null && meter.install_date >= handed_over) return false;
  const billedThrough = billed_through ?? '';
  return meter.remove_date === null || meter.remove_date > billedThrough;
}

/** True for a counter without a reading in the term; its usage is billed with the next reading. */
function isUnread(term: Term, row: BilledRow, meter: MeterRow): boolean {
  if (meter.kind !== 'Cumulative') return false;
  const { reading_date: date, reading_type: type } = meter;
  if (date === null) return wasInstalled(row, meter);
  if (type === 'Estimated') return true;
  if (type === 'Removal' || type === 'Final') return false;
  // The reading before, taken once more.
  const isRepeated = date === meter.previous_date && storedDay(date) < lastDay(term, row);
  return isRepeated || date < term.start_date;
}
