// Cuts the billable days into segments: parts of one compiled plan in which nothing changes that
// splits a term, each with the value items its rules read.
import { type Exact, fraction, multiply, one } from '../../../base/numbers/exact.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { ValueItem } from '../compile/formula-frame.ts';
import { type PriceBook, pricingPlanOn } from '../compile/price-book.ts';
import type { ChangeInTerm } from '../definitions/definitions.ts';
import { type QuantitySteps, type Variants, variantOf } from '../rate/prepared-inputs.ts';
import { RatingError } from '../rating-error.ts';
import { appended, type Run } from './billable-days.ts';
import {
  changesInside,
  itemOn,
  overlay,
  type Piece,
  partsInside,
  weightedItem,
} from './value-history.ts';

const segmentsMax = 100;
/**
 * Remembered sets of value items for each compiled plan; a run has a few, a year of runs some
 * dozens.
 */
const rememberedMax = 1000;
/** Above the day numbers of this and the next two centuries, to join three of them into a key. */
const keyBase = 100_000;

/** Days over which values are read. */
export type ReadDays = {
  readonly runs: readonly Run[];
  readonly firstDay: number;
  readonly lastDay: number;
};

/** A term and the days of it that are billed. */
export type BilledWindow = ReadDays & {
  readonly start: number;
  readonly end: number;
  readonly termDays: number;
  readonly months: Exact;
  readonly billedDays: number;
};

export type PlanEntry = { readonly code: string; readonly from: number };

export type Segment = {
  readonly from: number;
  readonly to: number;
  readonly days: number;
  readonly factor: Exact;
  readonly months: Exact;
  readonly quantity: Exact;
  readonly compiledPlan: CompiledPlan;
  readonly items: readonly (ValueItem | undefined)[];
};

export type CutFacts = {
  readonly variants: Variants;
  readonly steps: QuantitySteps;
  /** Days on which the owner changed. */
  readonly transferDays: readonly number[];
};

export function makeWindow(
  start: number,
  end: number,
  months: Exact,
  runs: readonly Run[],
): BilledWindow {
  let billedDays = 0;
  for (const run of runs) billedDays += run.to - run.from + 1;
  return {
    start,
    end,
    termDays: end - start + 1,
    months,
    runs,
    billedDays,
    firstDay: runs[0]?.from ?? end,
    lastDay: runs[runs.length - 1]?.to ?? end,
  };
}

/** Segments of one plan history over the runs; `quantity` is that of an add-on, else 1. */
export function cutSegments(
  book: PriceBook,
  history: readonly PlanEntry[],
  runs: readonly Run[],
  window: BilledWindow,
  quantity: Exact,
  frozen: CutFacts,
): Segment[] {
  let segments: Segment[] | null = null;
  let inForce: ReadonlyMap<CompiledPlan, ReadDays> | null = null;
  for (const run of runs) {
    let day = run.from;
    while (day <= run.to) {
      const { compiledPlan, to } = pieceFrom(book, history, day, run.to);
      // A compiled plan's prices do not apply on days when it is not in force.
      let read: ReadDays = window;
      if (to - day + 1 !== window.billedDays) {
        inForce ??= daysInForce(book, history, runs);
        read = inForce.get(compiledPlan) as ReadDays;
      }
      const starts = startsInside(compiledPlan, day, to, frozen);
      for (let index = 0; index < starts.length; index++) {
        const from = starts[index] as number;
        const end = (starts[index + 1] ?? to + 1) - 1;
        const items = itemsFor(compiledPlan, read, from, frozen.variants);
        const segment = makeSegment(from, end, compiledPlan, window, quantity, items);
        segments = appended(segments, segment);
        checkSegments(segments.length);
      }
      day = to + 1;
    }
  }
  return segments ?? [];
}

export function checkSegments(count: number): void {
  if (count <= segmentsMax) return;
  const message = `the term falls into more than ${segmentsMax} parts`;
  throw new RatingError('TOO_MANY_SEGMENTS', message);
}

/**
 * The compiled plan in force on a day and the last day of the run on which nothing of it changes.
 */
function pieceFrom(
  book: PriceBook,
  history: readonly PlanEntry[],
  day: number,
  runEnd: number,
): { compiledPlan: CompiledPlan; to: number } {
  let code: string | null = null;
  let next = runEnd + 1;
  for (const entry of history) {
    if (entry.from <= day) code = entry.code;
    else if (entry.code !== code) {
      next = entry.from;
      break;
    }
  }
  if (code === null) throw new RatingError('NO_PLAN', 'the subscription has no plan on some days');
  const compiledPlan = pricingPlanOn(book, code, day);
  return { compiledPlan, to: Math.min(runEnd, next - 1, compiledPlan.to) };
}

/** The days of each compiled plan that is in force in the runs. */
function daysInForce(
  book: PriceBook,
  history: readonly PlanEntry[],
  runs: readonly Run[],
): ReadonlyMap<CompiledPlan, ReadDays> {
  const runsOf = new Map<CompiledPlan, Run[]>();
  for (const run of runs) {
    for (let day = run.from; day <= run.to; ) {
      const { compiledPlan, to } = pieceFrom(book, history, day, run.to);
      runsOf.set(compiledPlan, appended(runsOf.get(compiledPlan) ?? null, { from: day, to }));
      day = to + 1;
    }
  }
  return new Map([...runsOf].map(([compiledPlan, own]) => [compiledPlan, readDaysOf(own)]));
}

/** Some days in rising order, which may follow each other without a gap. */
export function readDaysOf(parts: readonly Run[]): ReadDays {
  const runs: Run[] = [];
  for (const { from, to } of parts) {
    const last = runs[runs.length - 1];
    if (last?.to === from - 1) runs[runs.length - 1] = { from: last.from, to };
    else runs.push({ from, to });
  }
  const firstDay = Math.min(...runs.map((run) => run.from));
  return { runs, firstDay, lastDay: Math.max(...runs.map((run) => run.to)) };
}

/** First days of the segments of one piece, the piece's own first day included. */
function startsInside(
  compiledPlan: CompiledPlan,
  from: number,
  to: number,
  frozen: CutFacts,
): readonly number[] {
  const fixed = fixedCuts(compiledPlan, from, to, frozen.variants);
  let own: number[] | null = null;
  const consider = (day: number) => {
    if (day <= from || day > to) return;
    if (own === null) own = [day];
    else own.push(day);
  };
  for (const slot of compiledPlan.splitInputs) {
    const steps = frozen.steps[slot];
    if (steps !== undefined) for (const step of steps) consider(step.from);
  }
  for (const day of frozen.transferDays) consider(day);
  if (own === null) return fixed;
  return [...new Set([...fixed, ...(own as number[])])].sort((a, b) => a - b);
}

/** Whether prices, rules or versions of a plan change inside some days. */
export function isCutByPrices(book: PriceBook, code: string, from: number, to: number): boolean {
  const compiledPlan = pricingPlanOn(book, code, from);
  return compiledPlan.to < to || fixedCuts(compiledPlan, from, to, null).length > 1;
}

/** Cuts by prices and rules; the same for all bills without variants of what splits. */
function fixedCuts(
  compiledPlan: CompiledPlan,
  from: number,
  to: number,
  variants: Variants,
): readonly number[] {
  const isOwn = variants?.some(({ slot }) => compiledPlan.splitValues.includes(slot)) ?? false;
  if (isOwn || from < 0 || to >= keyBase) return findCuts(compiledPlan, from, to, variants);
  const { lastCuts } = compiledPlan;
  if (lastCuts.from === from && lastCuts.to === to) return lastCuts.cuts;
  const cuts = rememberedCuts(compiledPlan, from, to);
  compiledPlan.lastCuts = { from, to, cuts };
  return cuts;
}

function rememberedCuts(compiledPlan: CompiledPlan, from: number, to: number): readonly number[] {
  const key = from * keyBase + to;
  const known = compiledPlan.cutsByDays.get(key);
  if (known !== undefined) return known;
  const cuts = findCuts(compiledPlan, from, to, null);
  if (compiledPlan.cutsByDays.size >= rememberedMax) compiledPlan.cutsByDays.clear();
  compiledPlan.cutsByDays.set(key, cuts);
  return cuts;
}

function findCuts(
  compiledPlan: CompiledPlan,
  from: number,
  to: number,
  variants: Variants,
): number[] {
  const cuts = new Set([from]);
  for (const slot of compiledPlan.splitValues) {
    const plan = compiledPlan.values[slot]?.pieces ?? [];
    const variant = variantOf(variants, slot);
    const pieces = variant === undefined ? plan : overlay([variant.pieces, plan]);
    for (const day of changesInside(pieces, from, to)) cuts.add(day);
  }
  for (const day of compiledPlan.ruleDays) if (day > from && day <= to) cuts.add(day);
  return [...cuts].sort((a, b) => a - b);
}

function makeSegment(
  from: number,
  to: number,
  compiledPlan: CompiledPlan,
  window: BilledWindow,
  quantity: Exact,
  items: Segment['items'],
): Segment {
  const days = to - from + 1;
  const factor = factorOf(days, window);
  const months = monthsOf(factor, window);
  return { from, to, days, factor, months, quantity, compiledPlan, items };
}

export function factorOf(days: number, window: BilledWindow): Exact {
  return days === window.termDays ? one : fraction(days, window.termDays);
}

export function monthsOf(factor: Exact, window: BilledWindow): Exact {
  return factor === one ? window.months : multiply(factor, window.months);
}

/**
 * Value items as rules of a compiled plan read them over days; `splitDay` decides those that split.
 */
export function itemsFor(
  compiledPlan: CompiledPlan,
  read: ReadDays,
  splitDay: number,
  variants: Variants,
): readonly (ValueItem | undefined)[] {
  const base = rememberedItems(compiledPlan, read, splitDay);
  if (variants === null) return base;
  const items = base.slice();
  for (const { slot, pieces: variant } of variants) {
    const change = compiledPlan.context.values[slot]?.changeInTerm;
    if (change === 'Weighted') {
      const pieces = overlay([variant, compiledPlan.values[slot]?.pieces ?? []]);
      items[slot] = itemOver(change, pieces, read, splitDay);
    } else items[slot] = itemOver(change, variant, read, splitDay) ?? items[slot];
  }
  return items;
}

function rememberedItems(
  compiledPlan: CompiledPlan,
  read: ReadDays,
  splitDay: number,
): readonly (ValueItem | undefined)[] {
  const { firstDay, lastDay } = read;
  // With several runs the weights depend on more than the days, and with none there are no weights.
  if (read.runs.length !== 1 || firstDay < 0 || lastDay >= keyBase) {
    return findItems(compiledPlan, read, splitDay);
  }
  const last = compiledPlan.lastItems;
  if (last.firstDay === firstDay && last.lastDay === lastDay && last.splitDay === splitDay) {
    return last.items;
  }
  const key = (firstDay * keyBase + lastDay) * keyBase + splitDay;
  let items = compiledPlan.itemsByDays.get(key);
  if (items === undefined) {
    items = findItems(compiledPlan, read, splitDay);
    if (compiledPlan.itemsByDays.size >= rememberedMax) compiledPlan.itemsByDays.clear();
    compiledPlan.itemsByDays.set(key, items);
  }
  compiledPlan.lastItems = { firstDay, lastDay, splitDay, items };
  return items;
}

function findItems(
  compiledPlan: CompiledPlan,
  read: ReadDays,
  splitDay: number,
): (ValueItem | undefined)[] {
  return compiledPlan.values.map((value, slot) =>
    value === undefined
      ? undefined
      : itemOver(compiledPlan.context.values[slot]?.changeInTerm, value.pieces, read, splitDay),
  );
}

function itemOver(
  change: ChangeInTerm | undefined,
  pieces: readonly Piece[],
  read: ReadDays,
  splitDay: number,
): ValueItem | undefined {
  switch (change) {
    case 'Split':
      return itemOn(pieces, splitDay);
    case 'Start':
      return itemOn(pieces, read.firstDay);
    case 'Weighted':
      return weightedItem(read.runs.flatMap((run) => partsInside(pieces, run.from, run.to)));
    default:
      return itemOn(pieces, read.lastDay);
  }
}

/** Value items as Term rules read them: over all compiled plans in force on the days of a track. */
export function termItems(
  segments: readonly Segment[],
  compiledPlan: CompiledPlan,
  read: ReadDays,
  variants: Variants,
): readonly (ValueItem | undefined)[] {
  // Nothing that splits changes inside a single segment, so what it reads holds for the term.
  const only = segments.length === 1 ? segments[0] : undefined;
  if (only !== undefined) return only.items;
  if (segments.every((segment) => segment.compiledPlan === compiledPlan)) {
    return itemsFor(compiledPlan, read, read.lastDay, variants);
  }
  const first = (segments[0] as Segment).compiledPlan;
  const piecesOf = (from: CompiledPlan, slot: number) => {
    const own = from.values[slot]?.pieces ?? [];
    const variant = variantOf(variants, slot);
    return variant === undefined ? own : overlay([variant.pieces, own]);
  };
  return compiledPlan.values.map((value, slot) => {
    if (value === undefined) return undefined;
    const change = compiledPlan.context.values[slot]?.changeInTerm;
    if (change === 'Start') return itemOn(piecesOf(first, slot), read.firstDay);
    if (change !== 'Weighted') return itemOn(piecesOf(compiledPlan, slot), read.lastDay);
    return weightedItem(
      segments.flatMap((part) =>
        partsInside(piecesOf(part.compiledPlan, slot), part.from, part.to),
      ),
    );
  });
}
