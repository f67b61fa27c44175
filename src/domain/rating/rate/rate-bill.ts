// Rates one bill. Pure: the same book and frozen inputs give the same bill, whenever and wherever.
import { minorUnitsText } from '../../../base/numbers/decimal-text.ts';
import { type Exact, zero } from '../../../base/numbers/exact.ts';
import { roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import type { Bill, BillError } from '../bill.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import { type CompiledPlan, componentsRead } from '../compile/compiled-plan.ts';
import type { Frame } from '../compile/formula-frame.ts';
import { explainedBook, type PriceBook } from '../compile/price-book.ts';
import { type ScheduledPlan, scheduleOf } from '../compile/schedule.ts';
import type { FrozenInputs } from '../frozen-inputs.ts';
import type { Track } from '../periods/plan-tracks.ts';
import { isRefusal, RatingError } from '../rating-error.ts';
import { assembledBill, errorBill } from './assemble-bill.ts';
import {
  addToTotal,
  type Evaluation,
  type Explained,
  evaluateRule,
  lineDays,
  type RatedTerm,
  rateSegments,
  restFrame,
  termFrame,
} from './evaluation.ts';
import { explainGiven, type LineExplanation } from './explain.ts';
import { addLine, type LineDays, numberedLines, otherLine } from './lines.ts';
import type { ManualAmount, ManualAmounts } from './manual-values.ts';
import { prepareRating, type Rating } from './prepare-rating.ts';
import { amountFrom } from './prepared-inputs.ts';
import { adjustPriorTerm } from './prior-period.ts';
import { type Totals, totalsOf } from './totals.ts';

export type RateOptions = {
  readonly explain?: boolean;
  /** Late surcharges are rated on this part of the bill, instead of the whole. */
  readonly latePart?: LatePart;
};

/** The open part of the amount of a bill, in minor units. */
export type LatePart = {
  readonly open: number;
  readonly of: number;
  /** Whether formulas see the arrears: they are older bills, with surcharges of their own. */
  readonly withArrears: boolean;
};

/** Anything that prevents a bill becomes one of its errors; nothing is thrown for it. */
export function rateBill(book: PriceBook, frozen: FrozenInputs, options: RateOptions = {}): Bill {
  const isExplained = options.explain === true;
  const errors: BillError[] = [];
  let evaluation: Evaluation | null = null;
  try {
    const priced = isExplained ? explainedBook(book) : book;
    const rating = prepareRating(priced, frozen, errors, { isExplained });
    if (errors.length > 0) return errorBill(book, frozen, errors);
    evaluation = rating.evaluation;
    return evaluate(rating, frozen, options.latePart ?? null);
  } catch (error) {
    errors.push(billError(error, evaluation));
    return errorBill(book, frozen, errors);
  }
}

function billError(error: unknown, evaluation: Evaluation | null): BillError {
  if (!isRefusal(error)) throw error;
  const component = evaluation?.component?.definition.name;
  const meterNumber = error instanceof RatingError ? error.meterNumber : undefined;
  return {
    code: error.code,
    message: error.message,
    ...(component === undefined ? {} : { component }),
    ...(meterNumber === undefined ? {} : { meterNumber }),
  };
}

function evaluate(rating: Rating, frozen: FrozenInputs, latePart: LatePart | null): Bill {
  const { evaluation, current } = rating;
  const previous = rating.lookedBackOn;
  if (evaluation.manual !== null) {
    for (const [slot, { amount }] of evaluation.manual) evaluation.totals[slot] = amount;
  }
  rateSegments(evaluation, current, 'Current');
  if (previous !== null) rateSegments(evaluation, previous, 'Previous');
  if (rating.previous !== null) adjustPriorTerm(evaluation, rating.previous);
  const isRated = current.window.billedDays > 0 || previous !== null;
  const base = isRated ? rateTerm(evaluation, current, previous) : null;
  if (evaluation.manual !== null) addManualLines(evaluation, current, evaluation.manual);
  const lines = numberedLines(evaluation.lines, 1);
  const { context } = evaluation;
  const totals = totalsOf({
    lines,
    arrears: minorUnits(evaluation.shared.account.arrears, context),
    walletApplied: minorUnits(amountFrom(frozen.account?.walletApplied), context),
    billRounding: context.definition.billRounding ?? null,
    currencyScale: context.currencyScale,
    currencyPower: context.currencyPower,
  });
  evaluation.shared.bill = latePart === null ? wholeBill(totals) : partOfBill(totals, latePart);
  if (latePart !== null) {
    const { open, of } = latePart;
    for (const [slot, total] of evaluation.totals.entries()) {
      evaluation.totals[slot] = partOf(total, open, of);
    }
  }
  const late = base === null ? 0 : rateLateSurcharges(evaluation, base);
  const surcharges = numberedLines(evaluation.surcharges, lines.length + 1);
  const bill = assembledBill({ frozen, context, term: current, lines, surcharges, totals, late });
  const { explained } = evaluation;
  return explained === null ? bill : { ...bill, explanation: explanations(bill, explained) };
}

type BillNames = Evaluation['shared']['bill'];

function wholeBill(totals: Totals): BillNames {
  return {
    current: totals.currentCharges,
    net: totals.currentCharges - totals.taxAmount,
    tax: totals.taxAmount,
    arrears: totals.arrears,
    payable: totals.payableWithinDueDate,
  };
}

function partOfBill(totals: Totals, { open, of, withArrears }: LatePart): BillNames {
  const current = partOf(totals.currentCharges, open, of);
  const tax = partOf(totals.taxAmount, open, of);
  const arrears = withArrears ? totals.arrears : 0;
  return { current, net: current - tax, tax, arrears, payable: Math.max(0, open + arrears) };
}

/** Half up, as amounts are rounded. */
function partOf(amount: number, open: number, of: number): number {
  const [twice, whole] = [2n * BigInt(amount) * BigInt(open), BigInt(of)];
  return Number((twice + whole) / (2n * whole));
}

function minorUnits(amount: Exact, context: CompiledContext): number {
  if (amount === zero) return 0;
  const rounding = { scale: context.currencyScale, mode: 'HalfUp' } as const;
  return roundToMinorUnits(amount, rounding, context.currencyScale);
}

/** Term rules of this term, and those of the term before that look back. Gives the base's side. */
function rateTerm(
  evaluation: Evaluation,
  current: RatedTerm,
  previous: RatedTerm | null,
): TermSide {
  const sides = current.tracks.map((track) => termSide(evaluation, current, track, 'Current'));
  if (previous !== null) {
    for (const track of previous.tracks) {
      sides.push(termSide(evaluation, previous, track, 'Previous'));
    }
  }
  const isOver = current.window.billedDays === 0;
  for (const { rule, of } of scheduleOf(sides)) {
    const side = sides[of] as TermSide;
    if (isOver && side.window === 'Current' && !readsComponents(rule, side.compiledPlan)) continue;
    if (rule.from > side.frame.day || rule.to < side.frame.day) continue;
    const given = evaluation.manual?.get(rule.component.slot);
    const rest = given === undefined ? null : restOf(evaluation, current, side, given);
    const { frame, days } = rest ?? side;
    const isGiven = given !== undefined && rest === null;
    const amount = evaluateRule(evaluation, rule, frame, side.compiledPlan, days, isGiven);
    if (amount !== 0 && !isGiven) {
      addToTotal(evaluation, rule.component, amount);
    }
  }
  evaluation.component = null;
  return sides[0] as TermSide;
}

/** True for taxes and percentages of other components; fees need a term that has days. */
function readsComponents({ nodes }: CompiledRule, { context }: CompiledPlan): boolean {
  return nodes.some((node) => componentsRead(node, context).length > 0);
}

type TermSide = ScheduledPlan & {
  readonly track: Track;
  readonly frame: Frame;
  readonly days: LineDays;
};

/** The days still to be priced if a manual value covers only the term of a skipped bill. */
function restOf(
  evaluation: Evaluation,
  current: RatedTerm,
  { window, track }: TermSide,
  { until }: ManualAmount,
): { frame: Frame; days: LineDays } | null {
  const { catchUp } = evaluation;
  if (catchUp === null || until !== catchUp.until || window !== 'Current') return null;
  return restFrame(evaluation, current, track, catchUp);
}

function termSide(
  evaluation: Evaluation,
  term: RatedTerm,
  track: Track,
  window: ScheduledPlan['window'],
): TermSide {
  const { firstDay, lastDay } = term.window;
  return {
    compiledPlan: track.compiledPlan,
    window,
    track,
    frame: termFrame(evaluation, term, track),
    days: lineDays(term, firstDay, lastDay, track.days),
  };
}

function rateLateSurcharges(evaluation: Evaluation, base: TermSide): number {
  const { compiledPlan, frame, days } = base;
  frame.results = null;
  let sum = 0;
  for (const rule of compiledPlan.lateRules) {
    if (rule.from > frame.day || rule.to < frame.day) continue;
    const amount = evaluateRule(evaluation, rule, frame, compiledPlan, days, false);
    addToTotal(evaluation, rule.component, amount);
    sum += amount;
  }
  evaluation.component = null;
  return sum;
}

function addManualLines(
  evaluation: Evaluation,
  current: RatedTerm,
  manual: NonNullable<ManualAmounts>,
): void {
  const { window } = current;
  const track = current.tracks[0] as Track;
  const { currencyScale, currencyPower } = evaluation.context;
  for (const [slot, { amount, until }] of manual) {
    const component = evaluation.context.components[slot];
    if (component === undefined) continue;
    if (amount === 0 && component.definition.printIfZero !== 1) continue;
    const given = track.segments.filter((segment) => segment.to <= until);
    const to = given.at(-1)?.to ?? window.lastDay;
    const count = given.reduce((sum, segment) => sum + segment.days, 0);
    const days = lineDays(current, window.firstDay, to, count);
    const line = otherLine(component, track.compiledPlan, days, {
      lineType: 'Manual',
      source: 'Manual',
      amount,
      computedAmount: evaluation.replaced?.get(slot) ?? 0,
      description: null,
    });
    const text = `uploaded: ${minorUnitsText(amount, currencyScale)}`;
    addLine(evaluation.lines, line, component);
    const explanation = explainGiven(line, component.rounding, text, currencyPower);
    evaluation.explained?.explanations.set(line, explanation);
  }
}

/** In the order of the lines, surcharges last. */
function explanations(bill: Bill, explained: Explained): LineExplanation[] {
  return [...bill.lines, ...bill.surcharges].flatMap((line) => {
    const explanation = explained.explanations.get(line);
    return explanation === undefined ? [] : [{ ...explanation, lineNo: line.lineNo }];
  });
}
