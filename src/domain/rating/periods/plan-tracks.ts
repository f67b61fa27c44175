// Tracks: the base plan and each add-on, every one priced as a plan of its own on the same bill.
import { firstDay, lastDay } from '../../../base/days.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { add, compare, type Exact, one, zero } from '../../../base/numbers/exact.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { ValueItem } from '../compile/formula-frame.ts';
import { type PriceBook, pricingPlanOn } from '../compile/price-book.ts';
import type { FrozenConnection, FrozenInputs } from '../frozen-inputs.ts';
import { RatingError } from '../rating-error.ts';
import type { DayPart } from '../usage/input-usage.ts';
import { optionalDay, type Run, requiredDay } from './billable-days.ts';
import {
  type BilledWindow,
  type CutFacts,
  checkSegments,
  cutSegments,
  factorOf,
  monthsOf,
  type PlanEntry,
  readDaysOf,
  type Segment,
  termItems,
} from './segments.ts';

export type Track = {
  readonly isBase: boolean;
  readonly segments: readonly Segment[];
  /** In force on the last billed day: its Term rules apply. */
  readonly compiledPlan: CompiledPlan;
  readonly items: readonly (ValueItem | undefined)[];
  /** Over all segments, as Term rules see them. */
  readonly days: number;
  readonly factor: Exact;
  readonly months: Exact;
  readonly quantity: Exact;
};

export type PlanHistory = {
  readonly base: readonly PlanEntry[];
  readonly addOns: readonly AddOn[];
};

type AddOn = {
  readonly code: string;
  readonly quantity: Exact;
  readonly from: number;
  readonly to: number;
};

export function planHistory(book: PriceBook, frozen: FrozenInputs): PlanHistory {
  const connection = frozen.connection ?? {};
  return { base: baseHistory(frozen), addOns: addOnsOf(book, connection) };
}

function baseHistory(frozen: FrozenInputs): PlanEntry[] {
  const given = frozen.connection?.tariffHistory ?? null;
  if (given === null || given.length === 0) {
    const code = frozen.tariffCode ?? null;
    if (code === null) throw new RatingError('NO_PLAN', 'no plan is given');
    return [{ code, from: firstDay }];
  }
  const entries = given.map((entry) => ({
    code: entry.tariffCode,
    from: requiredDay(entry.fromDate, 'tariffHistory.fromDate'),
  }));
  if (entries.length > 1) entries.sort((a, b) => a.from - b.from);
  return entries;
}

function addOnsOf(book: PriceBook, connection: FrozenConnection): AddOn[] {
  const given = connection.addOns ?? null;
  if (given === null || given.length === 0) return [];
  const addOns = given.map((addOn): AddOn => {
    const label = addOn.tariffLabel ?? '';
    const code = addOn.tariffCode ?? book.codeByLabel.get(label);
    if (code === undefined) throw new RatingError('NO_PLAN', `there is no add-on ${label}`);
    const quantity = exactFrom(addOn.quantity ?? 1);
    if (quantity === undefined) {
      throw new RatingError('INVALID_NUMBER', `the quantity of ${code} is ${addOn.quantity}`);
    }
    return {
      code,
      quantity,
      from: optionalDay(addOn.fromDate, firstDay, 'addOns.fromDate'),
      to: optionalDay(addOn.toDate, lastDay, 'addOns.toDate'),
    };
  });
  return addOns.sort(byCodeAndDays);
}

function byCodeAndDays(a: AddOn, b: AddOn): number {
  if (a.code !== b.code) return a.code < b.code ? -1 : 1;
  return a.from - b.from || a.to - b.to || compare(a.quantity, b.quantity);
}

/** The base plan's track first, then one for each add-on plan, by code. */
export function tracksOf(
  book: PriceBook,
  history: PlanHistory,
  window: BilledWindow,
  frozen: CutFacts,
): Track[] {
  const base = cutSegments(book, history.base, window.runs, window, one, frozen);
  const tracks = [baseTrack(book, history.base, base, window, frozen)];
  for (let index = 0; index < history.addOns.length; ) {
    const code = (history.addOns[index] as AddOn).code;
    const entries = [{ code, from: firstDay }];
    const segments: Segment[] = [];
    let quantity = zero;
    for (; history.addOns[index]?.code === code; index++) {
      const addOn = history.addOns[index] as AddOn;
      const runs = insideRuns(window.runs, addOn);
      const own = cutSegments(book, entries, runs, window, addOn.quantity, frozen);
      if (own.length > 0) quantity = add(quantity, addOn.quantity);
      segments.push(...own);
    }
    if (segments.length === 0) continue;
    tracks.push(addOnTrack(segments, window, frozen, quantity));
  }
  if (tracks.length > 1)
    checkSegments(tracks.reduce((sum, track) => sum + track.segments.length, 0));
  return tracks;
}

/** The billed days, cut where any of the plans is. */
export function partsOf(tracks: readonly Track[]): readonly DayPart[] {
  const [base, ...addOns] = tracks;
  const parts: readonly DayPart[] = base?.segments ?? [];
  if (addOns.length === 0) return parts;
  const cuts = addOns.flatMap(({ segments }) => segments.flatMap(({ from, to }) => [from, to + 1]));
  return parts.flatMap(({ from, to }) => {
    const inside = cuts.filter((day) => day > from && day <= to);
    const starts = [...new Set([from, ...inside])].sort((a, b) => a - b);
    return starts.map((start, index) => ({ from: start, to: (starts[index + 1] ?? to + 1) - 1 }));
  });
}

function insideRuns(runs: readonly Run[], addOn: AddOn): Run[] {
  const inside: Run[] = [];
  for (const run of runs) {
    const from = Math.max(run.from, addOn.from);
    const to = Math.min(run.to, addOn.to);
    if (from <= to) inside.push({ from, to });
  }
  return inside;
}

function baseTrack(
  book: PriceBook,
  history: readonly PlanEntry[],
  segments: readonly Segment[],
  window: BilledWindow,
  frozen: CutFacts,
): Track {
  const last = segments[segments.length - 1];
  const compiledPlan =
    last?.compiledPlan ?? pricingPlanOn(book, codeOn(history, window.lastDay), window.lastDay);
  const items = termItems(segments, compiledPlan, window, frozen.variants);
  return makeTrack(true, segments, compiledPlan, items, window, one);
}

/** Its Term rules read prices on the days of its entries alone. */
function addOnTrack(
  segments: readonly Segment[],
  window: BilledWindow,
  frozen: CutFacts,
  quantity: Exact,
): Track {
  // Entries may overlap, so the last one is not always in force the longest.
  const last = segments.reduce((latest, part) => (part.to >= latest.to ? part : latest));
  const items = termItems(segments, last.compiledPlan, readDaysOf(segments), frozen.variants);
  return makeTrack(false, segments, last.compiledPlan, items, window, quantity);
}

function makeTrack(
  isBase: boolean,
  segments: readonly Segment[],
  compiledPlan: CompiledPlan,
  items: Track['items'],
  window: BilledWindow,
  quantity: Exact,
): Track {
  let days = 0;
  for (const segment of segments) days += segment.days;
  const factor = segments.length === 1 ? (segments[0] as Segment).factor : factorOf(days, window);
  const months = monthsOf(factor, window);
  return { isBase, segments, compiledPlan, items, days, factor, months, quantity };
}

function codeOn(history: readonly PlanEntry[], day: number): string {
  let code: string | null = null;
  for (const entry of history) if (entry.from <= day) code = entry.code;
  if (code === null) throw new RatingError('NO_PLAN', 'the subscription has no plan in this term');
  return code;
}
