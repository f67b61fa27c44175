// Usage of a term by input, and how it is divided among segments.
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
  one,
  subtract,
  zero,
} from '../../../base/numbers/exact.ts';
import type { BillError, BillReading, BillUsage } from '../bill.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type {
  FrozenHistory,
  FrozenInputs,
  FrozenMeter,
  FrozenReading,
  UploadedUsage,
} from '../frozen-inputs.ts';
import { type Run, requiredDay } from '../periods/billable-days.ts';
import { RatingError } from '../rating-error.ts';
import type { DayPart, InputUsage, MeasuredBeside } from './input-usage.ts';
import { billReading, inputQuantity, registerUse, unpaidShortage } from './quantities.ts';
import {
  addUploads,
  entryOf,
  type MeasuredUse,
  noMeters,
  openParts,
  uploadedOfPart,
} from './uploads.ts';

export type TermUsage = {
  /** By input slot. */
  readonly inputs: readonly (InputUsage | undefined)[];
  /** Totals by input slot: what the term frame reads. */
  readonly totals: readonly (Exact | undefined)[];
  readonly readings: readonly BillReading[];
  readonly printed: readonly BillUsage[];
};

/** Reads all meters and uploads; what cannot be read is added to `errors`. `runs` are billed. */
export function termUsage(
  frozen: FrozenInputs,
  context: CompiledContext,
  errors: BillError[],
  runs: readonly Run[] = noRuns,
): TermUsage {
  const inputs: (InputUsage | undefined)[] = context.noInputs.slice();
  const totals: (Exact | undefined)[] = context.noInputs.slice();
  const readings: BillReading[] = [];
  const printed: BillUsage[] = [];
  const uploads = frozen.uploadedUsage ?? null;
  const measured = uploads === null ? null : new Map<string, MeasuredUse>();
  for (const meters of groupMeters(frozen.meters ?? noMeters)) {
    const name = (meters[0] as FrozenMeter).input;
    const slot = context.slots.inputs.get(name);
    const definition = slot === undefined ? undefined : context.metered[slot];
    if (slot === undefined || definition === undefined) continue;
    const uses = meterUses(
      meters,
      frozen.usageHistory,
      definition.highLow?.highFactor,
      readings,
      errors,
    );
    const before = exactFrom(entryOf(frozen.carriedUnits, name)) ?? zero;
    const isDivisible = (definition.aggregation ?? 'Sum') === 'Sum';
    const estimates = entryOf(frozen.estimatesBefore, name);
    if (estimates !== undefined && isDivisible) uses.push(unpaidShortage(estimates, uses));
    const { quantity, carried } = inputQuantity(definition, uses, before);
    measured?.set(name, { meters, uses });
    inputs[slot] = { total: quantity, isDivisible, meters, credit: before, uploaded: null };
    totals[slot] = quantity;
    const entry = { input: name, unit: definition.unit ?? null, quantity: decimalText(quantity) };
    printed.push(carried === zero ? entry : { ...entry, carried: decimalText(carried) });
  }
  if (uploads !== null)
    addUploads(uploads, context, { inputs, totals, printed, frozen, measured, runs });
  return { inputs, totals, readings, printed };
}

/** Usage given as plain totals: of the term before. */
export function plainUsage(
  usage: Readonly<Record<string, UploadedUsage>>,
  context: CompiledContext,
): TermUsage {
  const inputs: (InputUsage | undefined)[] = context.noInputs.slice();
  const totals: (Exact | undefined)[] = context.noInputs.slice();
  const nothing = { frozen: null, measured: null, runs: noRuns };
  addUploads(usage, context, { inputs, totals, printed: [], ...nothing });
  return { inputs, totals, readings: [], printed: [] };
}

/** The usage of a term, with what was measured of inputs of which nothing was uploaded. */
export function withMeasured(usage: TermUsage, measured: TermUsage): TermUsage {
  const isMeasured = (slot: number) =>
    usage.inputs[slot] === undefined && (measured.inputs[slot]?.meters.length ?? 0) > 0;
  const pick = <Item>(own: readonly Item[], other: readonly Item[]) =>
    own.map((item, slot) => (isMeasured(slot) ? (other[slot] as Item) : item));
  return {
    ...usage,
    inputs: pick(usage.inputs, measured.inputs),
    totals: pick(usage.totals, measured.totals),
  };
}

const noRuns: readonly Run[] = [];

/** Meters of each input together, in order of time. */
function groupMeters(meters: readonly FrozenMeter[]): readonly (readonly FrozenMeter[])[] {
  if (meters.length === 0) return noGroups;
  // By far the most frequent case: one input whose meters are already in order.
  if (isOneInput(meters) && isSorted(meters)) return [meters];
  const groups = new Map<string, FrozenMeter[]>();
  for (const meter of meters) {
    const group = groups.get(meter.input);
    if (group === undefined) groups.set(meter.input, [meter]);
    else group.push(meter);
  }
  for (const group of groups.values()) group.sort(byTime);
  return [...groups.keys()].sort().map((input) => groups.get(input) as FrozenMeter[]);
}

const noGroups: readonly (readonly FrozenMeter[])[] = [];

function isOneInput(meters: readonly FrozenMeter[]): boolean {
  for (const meter of meters) if (meter.input !== meters[0]?.input) return false;
  return true;
}

function isSorted(group: readonly FrozenMeter[]): boolean {
  for (let index = 1; index < group.length; index++) {
    if (byTime(group[index - 1] as FrozenMeter, group[index] as FrozenMeter) > 0) return false;
  }
  return true;
}

/** By time of the end reading, then number: the order in which `Last` takes them. */
function byTime(a: FrozenMeter, b: FrozenMeter): number {
  return (
    endDay(a) - endDay(b) ||
    a.number - b.number ||
    ((a.register ?? '') < (b.register ?? '') ? -1 : 1)
  );
}

function endDay(meter: FrozenMeter): number {
  return meter.current ? requiredDay(meter.current.date, 'reading date') : 0;
}

function meterUses(
  meters: readonly FrozenMeter[],
  history: FrozenHistory | null | undefined,
  highFactor: number | undefined,
  readings: BillReading[],
  errors: BillError[],
): Exact[] {
  const uses: Exact[] = [];
  const input = (meters[0] as FrozenMeter).input;
  const highest = () => highestDaily(entryOf(history, input), highFactor);
  for (const meter of meters) {
    try {
      const use = registerUse(meter, highest);
      uses.push(use.use);
      readings.push(billReading(meter, use));
    } catch (error) {
      if (!(error instanceof RatingError)) throw error;
      errors.push({ code: error.code, message: error.message, meterNumber: meter.number });
    }
  }
  return uses;
}

const highFactorDefault = 3;
const actualTermsCompared = 3;
const actualTermsNeeded = 2;

/** Most use a day that passes the high check; null where too few actual terms are known. */
function highestDaily(
  terms: FrozenHistory[string] | undefined,
  highFactor: number | undefined,
): Exact | null {
  const actual = (terms ?? []).filter((term) => term.type !== 'Estimated' && (term.days ?? 0) > 0);
  const compared = actual.slice(0, actualTermsCompared);
  if (compared.length < actualTermsNeeded) return null;
  let units = zero;
  let days = 0;
  for (const term of compared) {
    units = add(units, exactFrom(term.quantity) ?? zero);
    days += term.days ?? 0;
  }
  const daily = divide(units, fraction(days, 1));
  const highest = multiply(daily, exactFrom(highFactor ?? highFactorDefault) ?? one);
  // Where both are under one unit a day the check says nothing.
  return compare(daily, one) < 0 ? maximum(highest, one) : highest;
}

/**
 * Usage of one part of the term: measured between cuts at which a reading exists, otherwise in
 * proportion to days. Parts are not rounded.
 */
export function usageOfPart(
  usage: InputUsage,
  part: DayPart,
  parts: readonly DayPart[],
  billedDays: number,
): Exact {
  if (!usage.isDivisible) return usage.total;
  if (usage.beside) return uploadedAndMeasured(usage, usage.beside, part, parts);
  if (usage.uploaded !== null)
    return uploadedOfPart(usage, part, parts, { own: daysOf(part), all: billedDays });
  // Between two measured days, of which the first and last day of the term always are.
  let low = parts[0]?.from ?? part.from;
  let lowUse = zero;
  let high = parts[parts.length - 1]?.to ?? part.to;
  let highUse = usage.total;
  for (let index = 1; index < parts.length; index++) {
    const other = parts[index] as DayPart;
    const measured = measuredAt(usage, parts[index - 1] as DayPart, other);
    if (measured === null) continue;
    if (other.from <= part.from && other.from > low) {
      low = other.from;
      lowUse = measured;
    }
    if (other.from > part.to && other.from - 1 < high) {
      high = other.from - 1;
      highUse = measured;
    }
  }
  const days = daysInside(parts, low, high);
  const own = daysInside(parts, Math.max(low, part.from), Math.min(high, part.to));
  const between = subtract(highUse, lowUse);
  return own === days ? between : divide(multiply(between, fraction(own, 1)), fraction(days, 1));
}

/** Uploads on the days they are of, and what was measured on the others. */
function uploadedAndMeasured(
  { uploaded }: InputUsage,
  beside: MeasuredBeside,
  part: DayPart,
  parts: readonly DayPart[],
): Exact {
  const lengthOf = (all: readonly DayPart[]) => all.reduce((sum, one) => sum + daysOf(one), 0);
  const open = openParts(parts, beside.days);
  const ownOpen = openParts([part], beside.days);
  const all = lengthOf(parts) - lengthOf(open);
  // Without a day of theirs that is billed, they are of all.
  const share =
    all === 0
      ? { own: daysOf(part), all: lengthOf(parts) }
      : { own: daysOf(part) - lengthOf(ownOpen), all };
  const own = uploadedOfPart({ uploaded, total: beside.uploaded }, part, parts, share);
  return ownOpen.reduce(
    (sum, piece) => add(sum, usageOfPart(beside.measured, piece, open, lengthOf(open))),
    own,
  );
}

function daysOf(part: DayPart): number {
  return part.to - part.from + 1;
}

function daysInside(parts: readonly DayPart[], from: number, to: number): number {
  let days = 0;
  for (const part of parts) {
    days += Math.max(0, Math.min(part.to, to) - Math.max(part.from, from) + 1);
  }
  return days;
}

/** Readings that are taken for a change on its day, and for an end. */
const changeTypes = ['Check', 'Installation'];
const endTypes = [...changeTypes, 'Final'];

/**
 * What of the billed quantity lies before a part: neither less than nothing nor more than all.
 * While the subscription is off nothing is used, so that the reading with which that began will do.
 */
function measuredAt(usage: InputUsage, before: DayPart, part: DayPart): Exact | null {
  const { meters, total } = usage;
  const off = before.to + 1;
  const billedAt = (cut: number, types: readonly string[]) => {
    const measured = measuredBefore(meters, cut, types);
    if (measured === null) return null;
    return minimum(total, maximum(zero, subtract(measured, creditAt(usage, cut))));
  };
  return billedAt(part.from, changeTypes) ?? (off < part.from ? billedAt(off, endTypes) : null);
}

/** What was billed before the term, or by uploads before a cut. */
function creditAt({ credit, paid }: InputUsage, cut: number): Exact {
  if (paid === undefined) return credit;
  return paid.reduce((sum, { day, units }) => (day < cut ? add(sum, units) : sum), credit);
}

/** Use of all meters before a cut; null unless it is known of every register. */
function measuredBefore(
  meters: readonly FrozenMeter[],
  cut: number,
  types: readonly string[],
): Exact | null {
  let use = zero;
  for (const meter of meters) {
    const reading = readingAt(meter, cut, types);
    if (reading === null) return null;
    if (reading === meter.previous) continue;
    use = add(use, registerUse(untilReading(meter, reading), () => null).use);
  }
  return use;
}

/**
 * As if the reading were the last. Earlier readings count too if the register shows usage or rolled
 * over. Readings of one day are in the order in which they were taken.
 */
function untilReading(meter: FrozenMeter, reading: FrozenReading): FrozenMeter {
  const day = requiredDay(reading.date, 'reading date');
  const place = (meter.readings ?? []).indexOf(reading);
  const readings = (meter.readings ?? []).filter((one, index) => {
    const own = requiredDay(one.date, 'reading date');
    return own < day || (own === day && (place === -1 || index < place));
  });
  return { ...meter, current: reading, readings };
}

/**
 * What a register showed at a cut: the last reading of the day before, or one taken for the change
 * on its day; its first reading if it came later, its last if it was gone.
 */
function readingAt(
  meter: FrozenMeter,
  cut: number,
  types: readonly string[],
): FrozenReading | null {
  const { previous, current, readings } = meter;
  if (!previous || !current) return null;
  const all = [previous, ...(readings ?? []), current];
  const dayOf = (reading: FrozenReading) => requiredDay(reading.date, 'reading date');
  const atCut =
    all.findLast((reading) => dayOf(reading) === cut - 1) ??
    all.findLast((reading) => dayOf(reading) === cut && types.includes(reading.type ?? ''));
  if (atCut) return atCut;
  const isLater = requiredDay(previous.date, 'reading date') >= cut;
  if (isLater && previous.type === 'Installation') return previous;
  const isOver = requiredDay(current.date, 'reading date') < cut;
  const isGone = current.type === 'Removal' || current.type === 'Final';
  return isOver && isGone ? current : null;
}
