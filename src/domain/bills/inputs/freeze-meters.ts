// The meters of a frozen bill: where each register began and ended, and what was read in between.
import { wireDay } from '../../../base/days.ts';
import type { FrozenMeter, FrozenReading } from '../../rating/frozen-inputs.ts';
import type { FreezeScope, Inputs, Mutable } from './inputs.ts';
import type { BilledRow, MeterRow, ReadingRow } from './inputs-store.ts';
import { isUploadedThroughout, wasInstalled } from './uploaded-days.ts';

/**
 * Registers of a subscription with their readings, as a bill is rated by them. Nothing is missing
 * of those in whose place use was uploaded.
 */
export function metersOf(scope: FreezeScope, inputs: Inputs, looksBack: boolean): FrozenMeter[] {
  const isMissing = (meter: MeterRow) =>
    isMissed(scope, inputs.row, meter, looksBack) &&
    !isUploadedThroughout(scope.term, inputs.row, meter.input, inputs.usage);
  const frozen: FrozenMeter[] = [];
  for (const meter of inputs.meters) {
    const isLocked = meter.reading_date !== null;
    if (!isLocked && !isMissing(meter)) continue;
    const further = furtherOf(inputs, meter);
    const fact: Mutable<FrozenMeter> = {
      number: meter.number,
      digits: meter.digits,
      input: meter.input,
      register: meter.register,
    };
    if (meter.mf !== 1) fact.mf = meter.mf;
    if (meter.kind !== 'Cumulative') fact.kind = meter.kind;
    const previous = previousOf(meter, further);
    if (previous !== null) fact.previous = previous;
    const current = currentOf(meter, further);
    if (current !== null) fact.current = current;
    else if (scope.term.is_estimated && meter.kind === 'Cumulative') fact.unestimated = true;
    if (isLocked && further.length > 0) {
      const between = betweenOf(meter, further);
      if (between.length > 0) fact.readings = between.map(readingFact);
    }
    frozen.push(fact);
  }
  return frozen;
}

const noReadings: readonly ReadingRow[] = [];

function furtherOf({ readings }: Inputs, meter: MeterRow): readonly ReadingRow[] {
  if (readings === null) return noReadings;
  return readings.get(`${meter.assignment_id}/${meter.position}`) ?? noReadings;
}

/** True for a register that was installed on a billed day and whose input the plan needs. */
function isMissed(
  scope: FreezeScope,
  row: BilledRow,
  meter: MeterRow,
  looksBack: boolean,
): boolean {
  return isNeeded(scope, row, meter.input, looksBack) && wasInstalled(row, meter);
}

/**
 * Whether a plan that is in force on a day to be billed cannot be billed without an input; one that
 * is only of the term before is not needed by a bill that looks back at none.
 */
export function isNeeded(
  { term, isRequired }: Pick<FreezeScope, 'term' | 'isRequired'>,
  row: BilledRow,
  input: string,
  looksBack = true,
): boolean {
  const { plan_history: plans, billed_through: billed } = row;
  if (plans.length === 1) return isRequired(row.plan_id, input, looksBack);
  const first =
    billed === null ? term.start_date : String(Temporal.PlainDate.from(billed).add({ days: 1 }));
  return plans.some(({ planId, fromDate }, index) => {
    const next = plans[index + 1]?.fromDate;
    const isInForce = fromDate <= term.end_date && (next === undefined || next > first);
    return isInForce && isRequired(planId, input, looksBack);
  });
}

/** Without a locked reading, the last one that was accepted: it only shows what is missing. */
function previousOf(meter: MeterRow, further: readonly ReadingRow[]): FrozenReading | null {
  const { previous_date: date, previous_value: value, previous_type: type } = meter;
  if (date !== null && value !== null) return readingOf(date, value, type, false);
  if (meter.reading_date !== null) return null;
  const accepted = further.findLast((reading) => reading.status === 'Accepted');
  return accepted ? readingFact(accepted) : null;
}

function currentOf(meter: MeterRow, further: readonly ReadingRow[]): FrozenReading | null {
  if (meter.reading_date !== null && meter.value !== null) {
    const { reading_date: date, value, reading_type: type } = meter;
    return readingOf(date, value, type, hasTurnedLast(meter, further));
  }
  const waiting = further.findLast((reading) => reading.status === 'Review');
  return waiting ? { ...readingFact(waiting), status: 'Review' } : null;
}

/**
 * A term knows that the register rolled over before its reading. If a reading in between has that
 * rollover, the term's reading counts as rolled over only if it is marked itself.
 */
function hasTurnedLast(meter: MeterRow, further: readonly ReadingRow[]): boolean {
  if (!meter.rollover) return false;
  const turned = further.filter((one) => one.status === 'Accepted' && one.rollover);
  const isToldOf = betweenOf(meter, further).some((one) => one.rollover);
  return !isToldOf || turned.some((one) => isEnd(one, meter));
}

function readingFact(reading: ReadingRow): FrozenReading {
  const { reading_date: date, value, reading_type: type, rollover } = reading;
  return readingOf(date, value, type, rollover);
}

function readingOf(
  date: string,
  value: string,
  type: string | null,
  isRollover: boolean,
): FrozenReading {
  const reading: Mutable<FrozenReading> = { date: wireDay(date), value };
  if (type !== null) reading.type = type;
  if (isRollover) reading.rollover = true;
  return reading;
}

/** Accepted, and taken after the one the term begins from and before the one it ends with. */
function betweenOf(meter: MeterRow, further: readonly ReadingRow[]): ReadingRow[] {
  const start = further.findLastIndex((one) => isStart(one, meter));
  const end = further.findLastIndex((one) => isEnd(one, meter));
  return further
    .slice(start + 1, end === -1 ? undefined : end)
    .filter((one) => one.status === 'Accepted' && !one.is_stand_in);
}

function isStart(reading: ReadingRow, meter: MeterRow): boolean {
  return reading.reading_date === meter.previous_date && reading.value === meter.previous_value;
}

function isEnd(reading: ReadingRow, meter: MeterRow): boolean {
  return reading.reading_date === meter.reading_date && reading.value === meter.value;
}
