// Uploaded use in place of meters: on which days it stands for what was measured.
import { storedDay, wireDay } from '../../base/days.ts';
import type { DaysFacts, Facts } from '../rating/facts.ts';
import type { BilledTerm } from './billed-terms-store.ts';
import type { Inputs, Mutable } from './inputs.ts';
import type { BilledRow, UsageRow } from './inputs-store.ts';

/** Whether use was uploaded for all days that a bill has. */
function coversAll(term: BilledTerm, row: BilledRow, uploads: readonly UsageRow[]): boolean {
  // Of the term alone, which has all days that are billed.
  if (uploads.some((one) => one.from_date === undefined)) return true;
  let through = storedDay(row.billed_through ?? term.start_date) - (row.billed_through ? 0 : 1);
  for (const { from, to } of rangesOf(uploads)) {
    if (from > through + 1) return false;
    through = Math.max(through, to);
  }
  return through >= lastDay(term, row);
}

function lastDay(term: BilledTerm, { handed_over: end }: BilledRow): number {
  return end === null ? storedDay(term.end_date) : storedDay(end) - 1;
}

type Range = { from: number; to: number; days: DaysFacts };

function rangesOf(uploads: readonly UsageRow[]): Range[] {
  const ranges = uploads.flatMap(({ from_date: first, to_date: last }) => {
    if (first === undefined || last === undefined) return [];
    const days = { fromDate: wireDay(first), toDate: wireDay(last) };
    return [{ from: storedDay(first), to: storedDay(last), days }];
  });
  return ranges.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Adds, of inputs that are measured too, what an upload does not stand for. */
export function addUploadedDays(facts: Mutable<Facts>, term: BilledTerm, inputs: Inputs): void {
  if (!term.bills_after_period) return;
  const { row, meters, usage } = inputs;
  const names = [...new Set(usage.map((one) => one.input))].sort();
  for (const name of names) {
    if (!meters.some((meter) => meter.input === name)) continue;
    const own = usage.filter((one) => one.input === name);
    if (coversAll(term, row, own)) continue;
    const ranges = rangesOf(own).filter(
      ({ from, to }, index, all) => from !== all[index - 1]?.from || to !== all[index - 1]?.to,
    );
    facts.uploadedDays = { ...facts.uploadedDays, [name]: ranges.map(({ days }) => days) };
  }
}
