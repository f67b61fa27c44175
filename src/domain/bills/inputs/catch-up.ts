// Catch-up: bills what other terms read or took in and did not bill. It applies only to
// subscriptions with unbilled days before the term, or with another term of the same days, and to
// registers that another term may have read after this one.

import type { Tx } from '../../../base/db/pool.ts';
import type { Term } from '../../terms/store.ts';
import type { UploadedQuantity } from './agreed-quantities.ts';
import {
  type CatchingUp,
  listBeside,
  listQuantitiesWithCatchUp,
  listSkippedReadings,
  listUsageWithCatchUp,
  listValuesWithCatchUp,
  type SkippedReading,
} from './catch-up-store.ts';
import { isNeeded } from './freeze-meters.ts';
import type { FreezeScope } from './inputs.ts';
import type { BilledRow, ManualRow, MeterRow, UsageRow } from './inputs-store.ts';
import { isUploadedThroughout } from './uploaded-days.ts';

/** What was read for the subscriptions of a slice. */
export type TakenIn = {
  readonly meters: readonly MeterRow[];
  readonly manual: readonly ManualRow[];
  readonly usage: readonly UsageRow[];
};

export type CaughtUp = TakenIn & { readonly quantities: readonly UploadedQuantity[] };

export async function withCatchUp(
  tx: Tx,
  tenantId: number,
  scope: Pick<FreezeScope, 'term' | 'isRequired'>,
  billed: readonly BilledRow[],
  taken: TakenIn & { agreed: ReadonlySet<string> },
): Promise<CaughtUp> {
  const { term } = scope;
  const { start_date, end_date } = term;
  const own = taken.usage.flatMap((row) =>
    taken.agreed.has(row.input) ? [{ ...row, start_date, end_date }] : [],
  );
  const start = dayBefore(term.start_date);
  const beside = await listBeside(tx, tenantId, term, billed);
  const late: CatchingUp[] = billed.flatMap((row) => {
    const { subscription_id } = row;
    const billed_through = row.billed_through ?? start;
    const isWanted = billed_through < start || beside.has(subscription_id);
    const last_date = row.handed_over === null ? term.end_date : dayBefore(row.handed_over);
    return isWanted ? [{ subscription_id, billed_through, last_date }] : [];
  });
  const isOvertaken = overtakenSince(term, billed);
  if (late.length === 0 && !taken.meters.some(isOvertaken)) return { ...taken, quantities: own };
  const lateIds = new Set(late.map((row) => row.subscription_id));
  const rowOf = new Map(billed.map((row) => [row.subscription_id, row]));
  const registers = taken.meters.flatMap((meter) => {
    if (!isOvertaken(meter) && !lateIds.has(meter.subscription_id)) return [];
    const row = rowOf.get(meter.subscription_id);
    const billed_through = row?.billed_through ?? start;
    return [{ ...meter, billed_through, handed_over: row?.handed_over ?? null }];
  });
  const [manual, usage, quantities, readings] = await Promise.all([
    late.length === 0 ? [] : listValuesWithCatchUp(tx, tenantId, term, late),
    late.length === 0 ? [] : listUsageWithCatchUp(tx, tenantId, term, late),
    late.length === 0 ? [] : listQuantitiesWithCatchUp(tx, tenantId, term, late, taken.agreed),
    registers.length === 0 ? [] : listSkippedReadings(tx, tenantId, term, registers),
  ]);
  const readingOf = new Map(readings.map((reading) => [keyOf(reading), reading]));
  const bySubscription = Map.groupBy(usage, (row) => row.subscription_id);
  const usageOf = ({ subscription_id: id }: MeterRow) => bySubscription.get(id) ?? [];
  const isInTime = (row: { subscription_id: number }) => !lateIds.has(row.subscription_id);
  // If no other term and no reading says otherwise, the term's own reading keeps its beginning.
  const isTold = (meter: MeterRow, reading: SkippedReading) =>
    reading.previous_date !== null || !isInTime(meter);
  return {
    meters: taken.meters.map((meter) => {
      const row = rowOf.get(meter.subscription_id);
      const reading = readingOf.get(keyOf(meter));
      const isOther = row && reading && isTold(meter, reading);
      return isOther ? caughtUp(scope, row, meter, { reading, usage: usageOf(meter) }) : meter;
    }),
    manual: [...taken.manual.filter(isInTime), ...manual],
    usage: [...taken.usage.filter(isInTime), ...usage],
    quantities: [...own.filter(isInTime), ...quantities],
  };
}

/**
 * Whether another term may have billed what this one has read: one of its batch, or, of what was
 * changed since the term is there, one of a batch that it was in meanwhile.
 */
function overtakenSince(term: Term, billed: readonly BilledRow[]): (meter: MeterRow) => boolean {
  const since = term.created_at.epochMilliseconds;
  const changed = new Set<number>();
  for (const { ts, subscription_id: id } of billed) if (ts > since) changed.add(id);
  return ({ is_overtaken, reading_date, subscription_id: id }) =>
    is_overtaken || (reading_date !== null && changed.has(id));
}

function dayBefore(date: string): string {
  return Temporal.PlainDate.from(date).subtract({ days: 1 }).toString();
}

function keyOf(register: { assignment_id: number; position: number }): string {
  return `${register.assignment_id}/${register.position}`;
}

/** A skipped reading that another term has billed beyond: nothing of it is left to bill. */
function readOut(meter: MeterRow): MeterRow {
  const { kind, previous_date: reading_date, previous_value, previous_type } = meter;
  const value = kind === 'Cumulative' ? previous_value : '0';
  return { ...meter, reading_date, value, reading_type: previous_type, rollover: false };
}

/**
 * A register from the reading up to which it was billed. If the term has no reading of it, it ends
 * with the reading of a skipped bill's term. The reading is missing instead if the plan needs one,
 * the meter is still installed, and no usage was uploaded in its place.
 */
function caughtUp(
  scope: Pick<FreezeScope, 'term' | 'isRequired'>,
  row: BilledRow,
  meter: MeterRow,
  { reading, usage }: { reading: SkippedReading; usage: readonly UsageRow[] },
): MeterRow {
  const { previous_date, previous_value, previous_type, has_rolled } = reading;
  const begun = { ...meter, previous_date, previous_value, previous_type };
  if (reading.is_past && meter.kind !== 'Demand') return readOut(begun);
  if (meter.reading_date !== null) return { ...begun, rollover: meter.rollover || has_rolled };
  const lastDate = row.handed_over ?? scope.term.end_date;
  const isGone = meter.remove_date !== null && meter.remove_date <= lastDate;
  const { taken_date, taken_value, taken_type } = reading;
  const isMissing = () =>
    isNeeded(scope, row, meter.input) && !isUploadedThroughout(scope.term, row, meter.input, usage);
  if (taken_date === null || (!isGone && isMissing())) return meter;
  return {
    ...begun,
    reading_date: taken_date,
    value: taken_value,
    reading_type: taken_type,
    rollover: has_rolled,
  };
}
