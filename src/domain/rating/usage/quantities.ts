// From readings to quantities: (end - start) x mf for each register, with rollover and true-up,
// then one figure for each metered input.
import { decimalText, exactFrom } from '../../../base/numbers/decimal-text.ts';
import {
  add,
  compare,
  divide,
  type Exact,
  fraction,
  maximum,
  minimum,
  multiply,
  negate,
  one,
  signOf,
  subtract,
  zero,
} from '../../../base/numbers/exact.ts';
import { powerOfTen, round } from '../../../base/numbers/rounding.ts';
import type { BillReading } from '../bill.ts';
import type { MeteredInputDefinition } from '../definitions/definitions.ts';
import type { EstimateBefore, FrozenMeter, FrozenReading } from '../frozen-inputs.ts';
import { requiredDay } from '../periods/billable-days.ts';
import { RatingError } from '../rating-error.ts';

export type RegisterUse = {
  readonly use: Exact;
  readonly rollover: boolean;
};

/** Most use a day that is plausible, null if unknown; asked for only where a register decreased. */
export type HighestDaily = () => Exact | null;

const digitsDefault = 6;
const digitsMax = 15;

/** Use of one register between two readings, in units of the input. */
export function registerUse(meter: FrozenMeter, highestDaily: HighestDaily): RegisterUse {
  const mf = (meter.mf ?? 1) === 1 ? one : multiplier(meter);
  if ((meter.kind ?? 'Cumulative') !== 'Cumulative') {
    return { use: multiply(ownValue(meter), mf), rollover: false };
  }
  const start = readingValue(meter, meter.previous, 'previous');
  const end = readingValue(meter, meter.current, 'current');
  const difference = subtract(end, start);
  const turns = (meter.readings?.length ?? 0) === 0 ? 0 : turnsOf(meter, start);
  if (turns > 0) {
    const capacity = fraction(powerOfTen(digitsOf(meter)), 1);
    const turned = add(difference, multiply(capacity, fraction(turns, 1)));
    if (signOf(turned) >= 0) return { use: multiply(turned, mf), rollover: true };
  }
  const isEstimated = meter.previous?.type === 'Estimated';
  const isUp = signOf(difference) >= 0;
  if (isUp && !isEstimated) return { use: multiply(difference, mf), rollover: false };
  const capacity = fraction(powerOfTen(digitsOf(meter)), 1);
  if (isUp) {
    // So far up that only the estimate had turned over, and not the register.
    const isBehind = !isWithinHalf(difference, capacity);
    const use = isBehind ? subtract(difference, capacity) : difference;
    return { use: multiply(use, mf), rollover: false };
  }
  const rolled = add(difference, capacity);
  const isHalf = isWithinHalf(rolled, capacity);
  const isUsual = isHalf && passesHighLow(meter, multiply(rolled, mf), highestDaily());
  if (signOf(rolled) >= 0 && (meter.current?.rollover === true || isUsual)) {
    return { use: multiply(rolled, mf), rollover: true };
  }
  // An estimate that was too high corrects itself; the input decides what is billed.
  if (isEstimated) return { use: multiply(difference, mf), rollover: false };
  const readings = `${meter.previous?.value}, then ${meter.current?.value}`;
  const message = `meter ${meter.number} reads less than before: ${readings}`;
  throw new RatingError('READING_DECREASED', message, meter.number);
}

function isWithinHalf(use: Exact, capacity: Exact): boolean {
  return compare(multiply(use, fraction(2, 1)), capacity) <= 0;
}

/**
 * How often the register passed its highest value, as the readings in between and the last one
 * tell: it may have climbed past the value that it began with since.
 */
function turnsOf(meter: FrozenMeter, start: Exact): number {
  const dayOf = (reading: FrozenReading) => requiredDay(reading.date, 'reading date');
  const readings = (meter.readings ?? []).toSorted((a, b) => dayOf(a) - dayOf(b));
  if (meter.current) readings.push(meter.current);
  let before = start;
  let turns = 0;
  for (const reading of readings) {
    const value = readingValue(meter, reading, 'further');
    if (reading.rollover === true && compare(value, before) < 0) turns += 1;
    before = value;
  }
  return turns;
}

function digitsOf(meter: FrozenMeter): number {
  const digits = meter.digits ?? digitsDefault;
  if (Number.isInteger(digits) && digits >= 1 && digits <= digitsMax) return digits;
  const message = `meter ${meter.number} cannot have ${digits} digits`;
  throw new RatingError('INVALID_NUMBER', message, meter.number);
}

function multiplier(meter: FrozenMeter): Exact {
  const mf = exactFrom(meter.mf);
  if (mf === undefined || signOf(mf) <= 0) {
    const message = `the multiplier of meter ${meter.number} is ${meter.mf}`;
    throw new RatingError('INVALID_NUMBER', message, meter.number);
  }
  return mf;
}

function readingValue(
  meter: FrozenMeter,
  reading: FrozenReading | null | undefined,
  which: string,
): Exact {
  if (reading === null || reading === undefined) throw unread(meter, which);
  if (reading.status === 'Review') {
    const message = `the ${which} reading of meter ${meter.number} is under review`;
    throw new RatingError('READING_UNDER_REVIEW', message, meter.number);
  }
  const value = exactFrom(reading.value);
  if (value === undefined) {
    const message = `meter ${meter.number} reads ${reading.value}, which is not a number`;
    throw new RatingError('INVALID_NUMBER', message, meter.number);
  }
  return value;
}

function unread(meter: FrozenMeter, which: string): RatingError {
  const register = meter.register ? `register ${meter.register} of ` : '';
  const what = `${register}meter ${meter.number}`;
  if (meter.unestimated) {
    const message = `${what} was not read and cannot be estimated`;
    return new RatingError('ESTIMATE_NOT_POSSIBLE', message, meter.number);
  }
  return new RatingError('READING_MISSING', `${what} has no ${which} reading`, meter.number);
}

/** Registers whose value is the use itself: demand takes the largest, the others add. */
function ownValue(meter: FrozenMeter): Exact {
  const readings = [...(meter.readings ?? [])];
  if (meter.current !== null && meter.current !== undefined) readings.push(meter.current);
  const values = readings.map((reading) => readingValue(meter, reading, 'current'));
  if (values.length === 0) return readingValue(meter, null, 'current');
  return values.reduce((a, b) => (meter.kind === 'Demand' ? maximum(a, b) : add(a, b)));
}

/** High only: a rollover that would mean too little use is no reason to refuse it. */
function passesHighLow(meter: FrozenMeter, use: Exact, highest: Exact | null): boolean {
  if (highest === null) return true;
  const from = requiredDay(meter.previous?.date, 'previous reading');
  const to = requiredDay(meter.current?.date, 'current reading');
  const daily = divide(use, fraction(Math.max(1, to - from), 1));
  return compare(daily, highest) <= 0;
}

/**
 * Of the units by which readings fell short of the estimates before them, those of estimates that
 * were not billed: there is nothing to credit. The newest estimate was the highest.
 */
export function unpaidShortage(
  estimates: readonly EstimateBefore[],
  uses: readonly Exact[],
): Exact {
  let left = zero;
  for (const use of uses) if (signOf(use) < 0) left = subtract(left, use);
  let unpaid = zero;
  for (const { units, unbilled } of estimates) {
    const own = minimum(left, exactFrom(units) ?? zero);
    left = subtract(left, own);
    if (unbilled) unpaid = add(unpaid, own);
  }
  return unpaid;
}

type InputQuantity = {
  readonly quantity: Exact;
  /** Units left over from too high an estimate, for the terms that follow. */
  readonly carried: Exact;
};

/**
 * The billed quantity of an input out of the use of its registers. Rounded here, once; a total
 * below zero (the true-up of an estimate) bills nothing and is carried.
 */
export function inputQuantity(
  definition: MeteredInputDefinition,
  uses: readonly Exact[],
  carriedBefore: Exact,
): InputQuantity {
  const aggregation = definition.aggregation ?? 'Sum';
  let total = uses[0] ?? zero;
  for (let index = 1; index < uses.length; index++) {
    const use = uses[index] as Exact;
    if (aggregation === 'Sum') total = add(total, use);
    else total = aggregation === 'Max' ? maximum(total, use) : use;
  }
  if (definition.decimals !== null && definition.decimals !== undefined) {
    total = round(total, definition.decimals, 'HalfUp');
  }
  if (carriedBefore !== zero) total = subtract(total, carriedBefore);
  return signOf(total) < 0
    ? { quantity: zero, carried: negate(total) }
    : { quantity: total, carried: zero };
}

/** The reading as the bill shows it. */
export function billReading(meter: FrozenMeter, use: RegisterUse): BillReading {
  const { previous, current } = meter;
  return {
    meterNumber: meter.number,
    register: meter.register ?? null,
    mf: Number(meter.mf ?? 1),
    previousDate: previous?.date ?? null,
    previousReading: previous?.value ?? null,
    currentDate: current?.date ?? null,
    currentReading: current?.value ?? null,
    readingType: current?.type ?? null,
    estimated: current?.type === 'Estimated' ? 1 : 0,
    rollover: use.rollover ? 1 : 0,
    consumption: decimalText(use.use),
  };
}
