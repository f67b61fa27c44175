// Everything a bill is rated from, read and put in order: terms, tracks, usage, account.
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { type Exact, one, zero } from '../../../base/numbers/exact.ts';
import type { BillError } from '../bill.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { Source } from '../compile/formula-frame.ts';
import { contextOn, type PriceBook } from '../compile/price-book.ts';
import type {
  FrozenConnection,
  FrozenInputs,
  FrozenPreviousTerm,
  FrozenTerm,
} from '../frozen-inputs.ts';
import {
  billableRuns,
  optionalDay,
  type Run,
  requiredDay,
  runsBetween,
} from '../periods/billable-days.ts';
import { type PlanHistory, partsOf, planHistory, tracksOf } from '../periods/plan-tracks.ts';
import { type CutFacts, makeWindow } from '../periods/segments.ts';
import { RatingError } from '../rating-error.ts';
import { checkRequiredInputs } from '../usage/required-inputs.ts';
import { plainUsage, type TermUsage, termUsage, withMeasured } from '../usage/usage.ts';
import type { Evaluation, RatedTerm } from './evaluation.ts';
import { emptyLines } from './lines.ts';
import { catchUpOf, manualAmounts } from './manual-values.ts';
import {
  accountNumbers,
  customFieldsOf,
  historyOf,
  joinedSteps,
  type QuantitySteps,
  quantityStepsOf,
  variantsOf,
} from './prepared-inputs.ts';

/** A term before this one, and what is known of it. */
export type EarlierTerm = {
  readonly term: RatedTerm;
  /** What its own bill was made of. */
  readonly billedUsage: TermUsage;
  readonly frozen: FrozenPreviousTerm;
};

export type Rating = {
  readonly evaluation: Evaluation;
  readonly current: RatedTerm;
  readonly previous: EarlierTerm | null;
  /** Its days and those that were left out since, over which use is billed afterwards. */
  readonly lookedBackOn: RatedTerm | null;
};

/** What all terms of a bill are made from. */
type Sources = {
  readonly book: PriceBook;
  readonly frozen: FrozenInputs;
  readonly history: PlanHistory;
  readonly context: CompiledContext;
  readonly cutFacts: CutFacts;
};

/**
 * What is missing or wrong in the frozen inputs goes into `errors`, as much of it as can be found.
 */
export function prepareRating(
  book: PriceBook,
  frozen: FrozenInputs,
  errors: BillError[],
  { isExplained }: { isExplained: boolean },
): Rating {
  const connection = frozen.connection ?? {};
  const start = requiredDay(frozen.term.startDate, 'startDate');
  const end = requiredDay(frozen.term.endDate, 'endDate');
  if (end < start) throw new RatingError('INVALID_DATE', 'the term ends before it starts');
  const window = makeWindow(
    start,
    end,
    monthsOf(frozen.term),
    billableRuns(connection, start, end),
  );
  const context = contextOn(book, window.lastDay);
  const cutFacts: CutFacts = {
    variants: variantsOf(connection, context),
    steps: quantityStepsOf(connection, context),
    transferDays: transferDays(connection),
  };
  const sources = { book, frozen, history: planHistory(book, frozen), context, cutFacts };
  const usage = termUsage(frozen, context, errors, window.runs);
  const tracks = tracksOf(book, sources.history, window, cutFacts);
  const current: RatedTerm = {
    window,
    tracks,
    parts: partsOf(tracks),
    usage,
    steps: cutFacts.steps,
    startText: frozen.term.startDate,
    endText: frozen.term.endDate,
    historySkip: 0,
  };
  const previous = frozen.previousTerm ? termBefore(sources, frozen.previousTerm, usage) : null;
  const lookedBackOn = previous ? lookBack(sources, previous) : null;
  checkRequiredInputs(current, lookedBackOn, errors);
  const manual = manualAmounts(frozen, context, current.tracks, errors);
  const evaluation: Evaluation = {
    context,
    shared: sharedOf(frozen, context),
    manual,
    catchUp: catchUpOf(manual, context),
    totals: context.noAmounts.slice(),
    replaced: null,
    lines: emptyLines(),
    surcharges: emptyLines(),
    explained: isExplained
      ? { usageSources: usageSources(frozen), explanations: new Map(), shown: { steps: 0 } }
      : null,
    component: null,
  };
  return { evaluation, current, previous, lookedBackOn };
}

const noDays: readonly number[] = [];

function transferDays(connection: FrozenConnection): readonly number[] {
  const given = connection.transfers ?? null;
  if (given === null || given.length === 0) return noDays;
  return given.map((entry) => requiredDay(entry.transferDate, 'transferDate'));
}

const nothingBilled = { current: 0, net: 0, tax: 0, arrears: 0, payable: 0 };

function sharedOf(frozen: FrozenInputs, context: CompiledContext): Evaluation['shared'] {
  return {
    inputs: customFieldsOf(frozen.connection ?? {}, context),
    history: historyOf(frozen, context),
    account: accountNumbers(frozen),
    isFirstBill: frozen.connection?.isFirstBill === true,
    currencyPower: context.currencyPower,
    averageAmount: zero,
    spent: { steps: 0 },
    bill: nothingBilled,
  };
}

function monthsOf(term: FrozenTerm): Exact {
  const given = term.months;
  if (given === undefined || given === null || given === 1) return one;
  const months = exactFrom(given);
  if (months === undefined) throw new RatingError('INVALID_NUMBER', `months is ${given}`);
  return months;
}

/**
 * The term before, whose use is known only now: what is measured for this bill was used in it. What
 * its own bill measured was of the one before that.
 */
function termBefore(
  sources: Sources,
  past: FrozenPreviousTerm,
  usage: TermUsage,
): EarlierTerm | null {
  const earlier = earlierTerm(sources, past);
  if (earlier === null) return null;
  const { frozen, context } = sources;
  const { meters = null, carriedUnits = null, estimatesBefore = null } = past;
  const measured = { meters, carriedUnits, estimatesBefore, uploadedUsage: null };
  const then = termUsage({ ...frozen, ...measured }, context, []);
  return {
    ...earlier,
    term: { ...earlier.term, usage: withMeasured(earlier.term.usage, usage) },
    billedUsage: withMeasured(earlier.term.usage, then),
  };
}

function lookBack(sources: Sources, previous: EarlierTerm): RatedTerm | null {
  const isFirst = (previous.frozen.usedFrom ?? null) !== null;
  return isFirst ? beforeFirst(sources, previous) : withCatchUp(sources, previous);
}

/** The term before, and days after it whose bills were left out, as segments of their own. */
function withCatchUp(sources: Sources, { term, frozen: past }: EarlierTerm): RatedTerm {
  const { frozen } = sources;
  const { end, runs } = term.window;
  const last = optionalDay(past.usedThrough, end, 'previousTerm.usedThrough');
  if (last <= end) return term;
  const catchUp = runsBetween(frozen.connection ?? {}, end + 1, last);
  return overRuns(sources, term, [...runs, ...catchUp]);
}

/** The days before the first bill, whose use is billed with it. */
function beforeFirst(sources: Sources, { term, frozen: past }: EarlierTerm): RatedTerm | null {
  const from = requiredDay(past.usedFrom, 'previousTerm.usedFrom');
  const last = requiredDay(past.usedThrough, 'previousTerm.usedThrough');
  const runs = runsBetween(sources.frozen.connection ?? {}, from, last);
  return runs.length === 0 ? null : overRuns(sources, term, runs);
}

function overRuns(sources: Sources, term: RatedTerm, runs: readonly Run[]): RatedTerm {
  const { book, history, cutFacts } = sources;
  const { start, end, months } = term.window;
  const window = makeWindow(start, end, months, runs);
  const tracks = tracksOf(book, history, window, { ...cutFacts, steps: term.steps });
  return { ...term, window, tracks, parts: partsOf(tracks) };
}

/** null where the subscription was not active in it. */
function earlierTerm(sources: Sources, past: FrozenPreviousTerm): EarlierTerm | null {
  const { book, frozen, history, context, cutFacts } = sources;
  const start = requiredDay(past.term.startDate, 'previousTerm.startDate');
  const end = requiredDay(past.term.endDate, 'previousTerm.endDate');
  const first = optionalDay(past.billedFrom, start, 'previousTerm.billedFrom');
  const runs = runsBetween(frozen.connection ?? {}, Math.max(start, first), end);
  if (runs.length === 0) return null;
  const window = makeWindow(start, end, monthsOf(past.term), runs);
  const steps = stepsThen(sources, past, end);
  const tracks = tracksOf(book, history, window, { ...cutFacts, steps });
  const term: RatedTerm = {
    window,
    tracks,
    parts: partsOf(tracks),
    usage: plainUsage(past.usage ?? {}, context),
    steps,
    startText: past.term.startDate,
    endText: past.term.endDate,
    historySkip: termsSince(frozen, past.term.label),
  };
  return { term, billedUsage: term.usage, frozen: past };
}

/**
 * Agreed quantities as a term was billed with them. They do not change on billed days: a difference
 * there is an upload, for that term or for this one.
 */
function stepsThen(
  { frozen, context, cutFacts }: Sources,
  past: FrozenPreviousTerm,
  end: number,
): QuantitySteps {
  const now = cutFacts.steps;
  const { unmeteredInputs = null } = past;
  if (unmeteredInputs === null) return now;
  const then = quantityStepsOf({ unmeteredInputs }, context);
  const next = optionalDay(frozen.connection?.billedThrough, end, 'billedThrough') + 1;
  return context.noInputs.map((_, slot) => joinedSteps(then[slot], now[slot], next));
}

/** How many terms of the history are not before the one of this label. */
function termsSince(frozen: FrozenInputs, label: string | null | undefined): number {
  if (label === null || label === undefined) return 0;
  for (const terms of Object.values(frozen.usageHistory ?? {})) {
    const at = terms.findIndex((term) => term.label === label);
    if (at >= 0) return at + 1;
  }
  return 0;
}

function usageSources(frozen: FrozenInputs): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const name of Object.keys(frozen.previousTerm?.usage ?? {})) {
    sources.set(name, { kind: 'Uploaded', ref: 'previous term' });
  }
  for (const meter of frozen.meters ?? []) {
    const known = sources.get(meter.input);
    const before = known?.kind === 'Reading' ? `${known.ref} ` : '';
    const source: Source = { kind: 'Reading', ref: `${before}${meter.number}` };
    const date = meter.current?.date;
    sources.set(meter.input, date === undefined ? source : { ...source, date });
  }
  // The upload replaces the measured usage.
  for (const name of Object.keys(frozen.uploadedUsage ?? {})) {
    sources.set(name, { kind: 'Uploaded' });
  }
  return sources;
}
