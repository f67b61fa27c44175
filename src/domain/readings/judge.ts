// Judges readings when they are entered. Each is placed among those that the register already has,
// and is accepted or put under review; the usage of the reading that follows is computed again.

import { formatDay } from '../../base/days.ts';
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import {
  add,
  compare,
  divide,
  type Exact,
  fraction,
  multiply,
  one,
  zero,
} from '../../base/numbers/exact.ts';
import type { Steps } from '../../base/slices.ts';
import { RatingError } from '../rating/rating-error.ts';
import { registerUse } from '../rating/usage/quantities.ts';
import type { ReadingFlag, ReadingType } from './reading.ts';

/** A register of an installed meter. Days are counted from 01/01/1970. */
export type RegisterInPlace = {
  assignmentId: number;
  position: number;
  meterNumber: number;
  register: string;
  kind: 'Cumulative' | 'Interval' | 'Consumptive' | 'Demand';
  digits: number;
  decimals: number;
  mf: number;
  highFactor: number | null;
  lowFactor: number | null;
};

/** A reading that the register has, and that was accepted. */
export type PastReading = {
  readingId: number;
  day: number;
  /** HH:MM:SS */
  time: string | null;
  value: string;
  type: ReadingType;
  rollover: boolean;
  consumption: string | null;
  days: number | null;
};

export type EnteredReading = {
  day: number;
  time: string | null;
  value: string;
  type: ReadingType;
  rollover: boolean;
};

/** The use between two readings; `day` is the day of the later one. */
export type Interval = { consumption: Exact; days: number; day: number };

export type RegisterPast = {
  /** The last accepted reading before the first that is entered. */
  previous: PastReading | null;
  /** Actual intervals up to that reading, the newest first. */
  intervals: readonly Interval[];
  /** Accepted readings from the first entered one on, as far as one after the last. */
  following: readonly PastReading[];
};

export type Verdict = {
  status: 'Accepted' | 'Review';
  rollover: boolean;
  consumption: string | null;
  days: number | null;
  flags: ReadingFlag[];
};

/** A reading whose interval is another one now. */
export type Remeasured = {
  readingId: number;
  rollover: boolean;
  consumption: string | null;
  days: number | null;
};

export type Judgement = {
  /** In the order in which the readings were given. */
  verdicts: Verdict[];
  remeasured: Remeasured[];
};

export const highFactorDefault = 3;
export const lowFactorDefault = 0.3;
export const intervalsCompared = 3;
const intervalsNeeded = 2;

type Step = { at: number; entered: EnteredReading } | { past: PastReading };
type Point = Pick<PastReading, 'day' | 'time' | 'value' | 'type'>;

/** Readings that are judged before others are served. */
const judgedAtOnce = 200;

/** A register may have as many readings as a request holds. */
export function* judgeReadings(
  register: RegisterInPlace,
  past: RegisterPast,
  entered: readonly EnteredReading[],
): Steps<Judgement> {
  const verdicts: Verdict[] = [];
  const remeasured: Remeasured[] = [];
  let previous: Point | null = past.previous;
  let hasChanged = false;
  const intervals = [...past.intervals];
  const steps = inOrder(past.following, entered);
  const nexts = nextPasts(steps);
  for (const [index, step] of steps.entries()) {
    if (index % judgedAtOnce === judgedAtOnce - 1) yield;
    if ('past' in step) {
      const measure = hasChanged ? remeasure(register, previous, step.past) : null;
      if (measure) remeasured.push(measure);
      hasChanged = false;
      remember(intervals, step.past, measure ?? step.past);
      previous = step.past;
      continue;
    }
    const verdict = judge(register, previous, step.entered, intervals, nexts[index]);
    verdicts[step.at] = verdict;
    if (verdict.status === 'Review') continue;
    remember(intervals, step.entered, verdict);
    previous = step.entered;
    hasChanged = true;
  }
  return { verdicts, remeasured };
}

/** On one day: what the register began with, then by the time of day, then what it ended with. */
function inOrder(past: readonly PastReading[], entered: readonly EnteredReading[]): Step[] {
  const steps: Step[] = [
    ...past.map((one) => ({ past: one })),
    ...entered.map((one, at) => ({ at, entered: one })),
  ];
  return steps.length === 1 ? steps : steps.sort((a, b) => byTime(pointOf(a), pointOf(b)));
}

/** For each step the next one that was accepted before. */
function nextPasts(steps: readonly Step[]): (PastReading | undefined)[] {
  const nexts: (PastReading | undefined)[] = [];
  let next: PastReading | undefined;
  for (let at = steps.length - 1; at >= 0; at -= 1) {
    nexts[at] = next;
    const step = steps[at] as Step;
    if ('past' in step) next = step.past;
  }
  return nexts;
}

/** The accepted readings before and after a reading of the register. */
export function neighboursOf(
  past: RegisterPast,
  reading: Point & { readingId: number },
): { before: PastReading | null; after: PastReading | null } {
  const others = past.following.filter((one) => one.readingId !== reading.readingId);
  others.sort(byTime);
  const before = others.findLast((one) => byTime(one, reading) <= 0) ?? past.previous;
  return { before, after: others.find((one) => byTime(one, reading) > 0) ?? null };
}

function pointOf(step: Step): Point {
  return 'past' in step ? step.past : step.entered;
}

export function byTime(a: Point, b: Point): number {
  const [earlier, later] = [timeOf(a), timeOf(b)];
  const inDay = earlier === later ? 0 : earlier < later ? -1 : 1;
  return a.day - b.day || placeOf(a) - placeOf(b) || inDay;
}

function placeOf(point: Point): number {
  if (point.type === 'Installation') return 0;
  return point.type === 'Removal' || point.type === 'Final' ? 2 : 1;
}

function timeOf(point: Point): string {
  return point.time ?? '24';
}

function remember(
  intervals: Interval[],
  { type, day }: Pick<Point, 'type' | 'day'>,
  measure: { consumption: string | null; days: number | null },
): void {
  const { consumption, days } = measure;
  if (consumption === null || days === null || !isActualInterval({ type, ...measure })) return;
  intervals.unshift({ consumption: exactFrom(consumption) ?? zero, days, day });
  intervals.length = Math.min(intervals.length, intervalsCompared);
}

/**
 * Only an interval between actual readings of different days shows usage per day: not one that ends
 * with an estimate, or with a reading below one.
 */
export function isActualInterval(
  reading: Pick<PastReading, 'type' | 'consumption' | 'days'>,
): boolean {
  const { type, consumption, days } = reading;
  if (type === 'Estimated' || consumption === null || (days ?? 0) <= 0) return false;
  return !consumption.startsWith('-');
}

function judge(
  register: RegisterInPlace,
  previous: Point | null,
  entered: EnteredReading,
  intervals: readonly Interval[],
  next: PastReading | undefined,
): Verdict {
  const daily = averageOf(intervals);
  const measured = measure(register, previous, entered, highestOf(register, daily));
  if (!measured || (next && !measure(register, entered, next, null))) {
    const flags: ReadingFlag[] = ['Decreased'];
    return { status: 'Review', rollover: false, consumption: null, days: null, flags };
  }
  const flags = highOrLow(register, measured, daily);
  return {
    status: flags.length === 0 ? 'Accepted' : 'Review',
    rollover: measured.rollover,
    consumption: measured.use && decimalText(measured.use),
    days: measured.days,
    flags,
  };
}

export type Measured = { use: Exact | null; rollover: boolean; days: number | null };

/** The use between two readings; undefined where the register went down for no good reason. */
export function measure(
  register: RegisterInPlace,
  previous: Point | null,
  current: Point & { rollover?: boolean },
  highest: Exact | null,
): Measured | undefined {
  const days = previous === null ? null : current.day - previous.day;
  if (register.kind === 'Cumulative' && previous === null) {
    return { use: null, rollover: false, days };
  }
  const { kind, mf, digits, meterNumber: number } = register;
  const facts = { number, input: '', kind, mf, digits };
  try {
    const { use, rollover } = registerUse(
      {
        ...facts,
        previous: previous && {
          date: formatDay(previous.day),
          value: previous.value,
          type: previous.type,
        },
        current: {
          date: formatDay(current.day),
          value: current.value,
          type: current.type,
          ...(current.rollover ? { rollover: true } : {}),
        },
      },
      () => highest,
    );
    return { use, rollover, days };
  } catch (error) {
    if (error instanceof RatingError && error.code === 'READING_DECREASED') return undefined;
    throw error;
  }
}

export function remeasure(
  register: RegisterInPlace,
  previous: Point | null,
  past: PastReading,
): Remeasured {
  const measured = measure(register, previous, past, null);
  const use = measured?.use ?? null;
  return {
    readingId: past.readingId,
    rollover: measured?.rollover ?? false,
    consumption: use && decimalText(use),
    days: measured?.days ?? null,
  };
}

/** Use a day over the compared intervals; null where too few are known. */
export function averageOf(
  intervals: readonly Interval[],
  needed: number = intervalsNeeded,
): Exact | null {
  if (intervals.length < needed) return null;
  let use = zero;
  let days = 0;
  for (const interval of intervals) {
    use = add(use, interval.consumption);
    days += interval.days;
  }
  return divide(use, fraction(days, 1));
}

function highestOf(register: RegisterInPlace, daily: Exact | null): Exact | null {
  if (daily === null || compare(daily, one) < 0) return null;
  return multiply(daily, factorOf(register.highFactor, highFactorDefault));
}

function factorOf(factor: number | null, standard: number): Exact {
  return exactFrom(factor ?? standard) ?? zero;
}

function highOrLow(
  register: RegisterInPlace,
  measured: Measured,
  average: Exact | null,
): ReadingFlag[] {
  const { use, days } = measured;
  if (average === null || use === null || !days || register.kind === 'Demand') return [];
  const daily = divide(use, fraction(days, 1));
  // Below one unit a day the check would find too many false alarms.
  if (compare(daily, one) < 0 && compare(average, one) < 0) return [];
  const [high, low] = boundsOf(register, average);
  if (compare(daily, high) > 0) return ['High'];
  return compare(daily, low) < 0 ? ['Low'] : [];
}

function boundsOf(register: RegisterInPlace, average: Exact): [Exact, Exact] {
  return [
    multiply(average, factorOf(register.highFactor, highFactorDefault)),
    multiply(average, factorOf(register.lowFactor, lowFactorDefault)),
  ];
}

/** What the register is expected to show on a day; null where too little is known of it. */
export function expectedRange(
  register: RegisterInPlace,
  past: RegisterPast,
  day: number,
): { low: Exact; high: Exact } | null {
  const average = averageOf(past.intervals);
  const { previous } = past;
  if (average === null || previous === null || register.kind !== 'Cumulative') return null;
  const start = exactFrom(previous.value) ?? zero;
  const days = fraction(Math.max(0, day - previous.day), 1);
  const [high, low] = boundsOf(register, average).map((bound) =>
    add(start, divide(multiply(bound, days), fraction(register.mf, 1))),
  ) as [Exact, Exact];
  return { low, high };
}
