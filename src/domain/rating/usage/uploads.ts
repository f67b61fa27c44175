// Use that was uploaded: alone, or in place of what meters measured.
import { decimalText, exactFrom } from '../../../base/numbers/decimal-text.ts';
import {
  add,
  divide,
  type Exact,
  fraction,
  maximum,
  minimum,
  multiply,
  signOf,
  subtract,
  zero,
} from '../../../base/numbers/exact.ts';
import { round } from '../../../base/numbers/rounding.ts';
import type { BillUsage } from '../bill.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { MeteredInputDefinition } from '../definitions/definitions.ts';
import type {
  FrozenDays,
  FrozenInputs,
  FrozenMeter,
  FrozenReading,
  UploadedUsage,
} from '../frozen-inputs.ts';
import { type Run, requiredDay } from '../periods/billable-days.ts';
import { RatingError } from '../rating-error.ts';
import type { DayPart, InputUsage, PaidUnits } from './input-usage.ts';
import { inputQuantity, registerUse } from './quantities.ts';

export const noMeters: readonly FrozenMeter[] = [];

/** What registers of an input have measured. */
export type MeasuredUse = {
  readonly meters: readonly FrozenMeter[];
  readonly uses: readonly Exact[];
};

/** The usage of a term, as far as it is calculated. */
type UsageSoFar = {
  inputs: (InputUsage | undefined)[];
  totals: (Exact | undefined)[];
  printed: BillUsage[];
  /** Null of a term before. */
  frozen: FrozenInputs | null;
  measured: ReadonlyMap<string, MeasuredUse> | null;
  runs: readonly Run[];
};

export function addUploads(
  uploads: Readonly<Record<string, UploadedUsage>>,
  context: CompiledContext,
  known: UsageSoFar,
): void {
  const { inputs, totals, printed } = known;
  const names = Object.keys(uploads);
  if (names.length > 1) names.sort();
  for (const name of names) {
    const uploaded = uploads[name] as UploadedUsage;
    const slot = context.slots.inputs.get(name);
    if (slot === undefined) continue;
    const metered = context.metered[slot];
    const definition = context.unmetered[slot] ?? metered;
    let total = uploadedTotal(name, uploaded);
    if (typeof definition?.decimals === 'number') {
      total = round(total, definition.decimals, 'HalfUp');
    }
    const isDivisible = (metered?.aggregation ?? 'Sum') === 'Sum';
    const upload = { name, uploaded, total };
    const { usage, carried } =
      (metered && isDivisible ? besideMeters(upload, metered, known) : null) ??
      alone(upload, isDivisible, known);
    inputs[slot] = usage;
    totals[slot] = usage.total;
    const quantity = decimalText(usage.total);
    const plain = { input: name, unit: definition?.unit ?? null, quantity };
    const entry = carried === undefined ? plain : { ...plain, carried };
    const place = printed.findIndex((one) => one.input === name);
    // The upload replaces the measured usage.
    if (place < 0) printed.push(entry);
    else printed[place] = entry;
  }
}

type Upload = { readonly name: string; readonly uploaded: UploadedUsage; readonly total: Exact };
type Billed = { readonly usage: InputUsage; readonly carried: string | undefined };

/** It is billed as it was given: what a meter was billed too much is left for its next term. */
function alone(
  { name, uploaded, total }: Upload,
  isDivisible: boolean,
  { frozen }: UsageSoFar,
): Billed {
  const usage = { total, isDivisible, meters: noMeters, credit: zero, uploaded };
  return { usage, carried: entryOf(frozen?.carriedUnits, name) };
}

/** Of an input that is measured too, and of which a total counts; null where no meter matters. */
function besideMeters(
  upload: Upload,
  definition: MeteredInputDefinition,
  known: UsageSoFar,
): Billed | null {
  const { frozen, measured, runs } = known;
  const { name, total } = upload;
  const days = entryOf(frozen?.uploadedDays, name)?.map(dayPart) ?? null;
  const found = measured?.get(name) ?? nothingMeasured;
  const before = exactFrom(entryOf(frozen?.carriedUnits, name)) ?? zero;
  const isUnread = frozen?.unread?.includes(name) ?? false;
  if (days !== null && openParts(runs, days).length > 0) {
    return besideMeasured(upload, definition, { days, found, before, isUnread });
  }
  const { quantity, carried } = inputQuantity(definition, found.uses, zero);
  const more = subtract(subtract(quantity, carried), total);
  if (isUnread) {
    return { ...alone(upload, true, known), carried: unitsText(subtract(before, more)) };
  }
  if (signOf(more) <= 0 || signOf(before) <= 0) return null;
  // What was measured beyond the upload is what had been billed before.
  const left = unitsText(maximum(zero, subtract(before, more)));
  return { ...alone(upload, true, known), carried: left };
}

const nothingMeasured: MeasuredUse = { meters: noMeters, uses: [] };

function unitsText(units: Exact): string | undefined {
  return signOf(units) === 0 ? undefined : decimalText(units);
}

type Beside = {
  readonly days: readonly DayPart[];
  readonly found: MeasuredUse;
  /** Units from before. */
  readonly before: Exact;
  readonly isUnread: boolean;
};

/**
 * An upload of a part of the days: what was measured besides is of the others. What is uploaded for
 * days after the last reading is not in it, but in the next one.
 */
function besideMeasured(
  { name, uploaded, total }: Upload,
  definition: MeteredInputDefinition,
  { days, found, before, isUnread }: Beside,
): Billed {
  const meters = found.meters.map((meter) => openMeter(meter, days));
  const uses = found.uses.map((use, index) => openUse(use, meters[index]));
  const paid = paidUnits(name, uploaded, (days.at(-1) as DayPart).to);
  const isCounted = meters.some(isCounter);
  const counted = isCounted ? paidUntil(paid, days, lastRead(meters)) : noUnits;
  const measured = counted.length === paid.length ? total : minimum(total, sumOf(counted));
  const rest = inputQuantity(definition, uses, add(before, measured));
  const beside: InputUsage = {
    total: rest.quantity,
    isDivisible: true,
    meters,
    credit: before,
    uploaded: null,
    paid: counted,
  };
  const usage: InputUsage = {
    total: add(total, rest.quantity),
    isDivisible: true,
    meters: noMeters,
    credit: zero,
    uploaded,
    beside: { days, uploaded: total, measured: beside },
  };
  const ahead = isCounted || isUnread ? subtract(total, measured) : zero;
  return { usage, carried: unitsText(add(rest.carried, ahead)) };
}

const noUnits: readonly PaidUnits[] = [];

function isCounter({ kind }: FrozenMeter): boolean {
  return (kind ?? 'Cumulative') === 'Cumulative';
}

/** A register whose readings are use themselves, without those of days of uploads. */
function openMeter(meter: FrozenMeter, days: readonly DayPart[]): FrozenMeter {
  if (isCounter(meter)) return meter;
  const isOpen = ({ date }: FrozenReading) => {
    const day = requiredDay(date, 'reading date');
    return !days.some(({ from, to }) => from <= day && day <= to);
  };
  const { current, readings } = meter;
  return {
    ...meter,
    current: current && isOpen(current) ? current : null,
    readings: (readings ?? []).filter(isOpen),
  };
}

function openUse(use: Exact, meter: FrozenMeter | undefined): Exact {
  if (meter === undefined || isCounter(meter)) return use;
  if (!meter.current && meter.readings?.length === 0) return zero;
  return registerUse(meter, () => null).use;
}

/** Those of days that began before the last reading. */
function paidUntil(
  paid: readonly PaidUnits[],
  days: readonly DayPart[],
  read: number,
): readonly PaidUnits[] {
  const isAhead = (day: number) =>
    days.some(({ from, to }) => from > read && from <= day && day <= to);
  return paid.filter((one) => !isAhead(one.day));
}

function sumOf(units: readonly PaidUnits[]): Exact {
  return units.reduce((sum, one) => add(sum, one.units), zero);
}

function lastRead(meters: readonly FrozenMeter[]): number {
  return meters.reduce((last, { current }) => {
    const day = current ? requiredDay(current.date, 'reading date') : last;
    return Math.max(last, day);
  }, Number.NEGATIVE_INFINITY);
}

/** Of rows their days; what is of a whole term is of its last day. */
function paidUnits(name: string, uploaded: UploadedUsage, lastDay: number): PaidUnits[] {
  if (!Array.isArray(uploaded)) return [{ day: lastDay, units: quantityFrom(name, uploaded) }];
  return uploaded.map(({ quantity, date }) => {
    const day = typeof date === 'string' ? requiredDay(date, 'usage date') : lastDay;
    return { day, units: quantityFrom(name, quantity) };
  });
}

function dayPart({ fromDate, toDate }: FrozenDays): DayPart {
  return { from: requiredDay(fromDate, 'fromDate'), to: requiredDay(toDate, 'toDate') };
}

/** Parts of days without others, which are rising. */
export function openParts(parts: readonly DayPart[], taken: readonly DayPart[]): DayPart[] {
  return parts.flatMap(({ from: first, to }) => {
    const open: DayPart[] = [];
    let from = first;
    for (const other of taken) {
      if (other.to < from || other.from > to) continue;
      if (other.from > from) open.push({ from, to: other.from - 1 });
      from = other.to + 1;
    }
    return from <= to ? [...open, { from, to }] : open;
  });
}

function uploadedTotal(name: string, uploaded: UploadedUsage): Exact {
  if (!Array.isArray(uploaded)) return quantityFrom(name, uploaded);
  return uploaded.reduce((sum, row) => add(sum, quantityFrom(name, row.quantity)), zero);
}

function quantityFrom(name: string, given: unknown): Exact {
  const quantity = exactFrom(given);
  if (quantity === undefined) {
    throw new RatingError('INVALID_NUMBER', `the usage of \`${name}\` is not a number: ${given}`);
  }
  return quantity;
}

/** How many days of how many a part has: its share of what carries no date. */
export type Share = { readonly own: number; readonly all: number };

export function uploadedOfPart(
  { uploaded, total }: Pick<InputUsage, 'uploaded' | 'total'>,
  part: DayPart,
  parts: readonly DayPart[],
  days: Share,
): Exact {
  const share = (quantity: Exact) =>
    divide(multiply(quantity, fraction(days.own, 1)), fraction(days.all, 1));
  if (!Array.isArray(uploaded)) return share(total);
  let own = zero;
  let all = zero;
  for (const row of uploaded) {
    const quantity = exactFrom(row.quantity) ?? zero;
    all = add(all, quantity);
    const day = typeof row.date === 'string' ? requiredDay(row.date, 'usage date') : null;
    const isDated = day !== null && parts.some((other) => other.from <= day && day <= other.to);
    if (!isDated) own = add(own, share(quantity));
    else if (part.from <= day && day <= part.to) own = add(own, quantity);
  }
  // The total was rounded, and the parts have to add up to it.
  return signOf(all) === 0 ? own : divide(multiply(own, total), all);
}

/** An entry by name; a name such as `constructor` finds nothing that was not given. */
export function entryOf<Entry>(
  entries: Readonly<Record<string, Entry>> | null | undefined,
  name: string,
): Entry | undefined {
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}
