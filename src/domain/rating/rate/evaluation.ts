// Evaluates the rules of a bill: segments first, then the rules of the term, each line rounded
// once.
import { formatDay } from '../../../base/days.ts';
import { add, divide, type Exact, fraction, multiply, zero } from '../../../base/numbers/exact.ts';
import { roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import type { BillLine } from '../bill.ts';
import { type CompiledRule, ruleAmount } from '../compile/compile-rules.ts';
import type {
  AgreedInput,
  CompiledComponent,
  CompiledContext,
} from '../compile/compiled-context.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { Frame, Shared, Source, Trace, ValueItem } from '../compile/formula-frame.ts';
import type { Track } from '../periods/plan-tracks.ts';
import { type BilledWindow, factorOf, monthsOf, type Segment } from '../periods/segments.ts';
import { RatingError } from '../rating-error.ts';
import type { DayPart, InputUsage } from '../usage/input-usage.ts';
import { type TermUsage, usageOfPart } from '../usage/usage.ts';
import { charge, repeatedStepsMax, type Spent } from './budget.ts';
import { explainLine, type LineExplanation } from './explain.ts';
import { addLine, computedLine, type LineDays, type LineList } from './lines.ts';
import { type CatchUp, isByHand, type ManualAmounts } from './manual-values.ts';
import type { QuantityStep, QuantitySteps } from './prepared-inputs.ts';

/** A term with everything needed to evaluate rules over it. */
export type RatedTerm = {
  readonly window: BilledWindow;
  readonly tracks: readonly Track[];
  /** The billed days, cut wherever a plan or an add-on is. */
  readonly parts: readonly DayPart[];
  readonly usage: TermUsage;
  /** Agreed quantities, as they were on its days. */
  readonly steps: QuantitySteps;
  readonly startText: string;
  readonly endText: string;
  /** Terms of history that are not before this one. */
  readonly historySkip: number;
};

/** What an explanation needs, and what has been explained so far. */
export type Explained = {
  readonly usageSources: ReadonlyMap<string, Source>;
  readonly explanations: Map<BillLine, LineExplanation>;
  readonly shown: Spent;
};

/** What is being made of a bill, passed through all steps. */
export type Evaluation = {
  readonly context: CompiledContext;
  readonly shared: Shared;
  readonly manual: ManualAmounts;
  readonly catchUp: CatchUp | null;
  /** Rounded amounts by component slot, in minor units. */
  readonly totals: number[];
  /** What manual values replaced, by slot. */
  replaced: Map<number, number> | null;
  readonly lines: LineList;
  readonly surcharges: LineList;
  /** null unless an explanation was asked for. */
  readonly explained: Explained | null;
  /** Being evaluated, so that an error can name it. */
  component: CompiledComponent | null;
};

/** All Segment rules of a window over a term, of base plan and add-ons. */
export function rateSegments(
  evaluation: Evaluation,
  term: RatedTerm,
  which: CompiledRule['window'],
): void {
  for (const track of term.tracks) {
    for (let index = 0; index < track.segments.length; index++) {
      const segment = track.segments[index] as Segment;
      const rules = segment.compiledPlan.segmentRules;
      if (rules.length === 0) continue;
      const frame = segmentFrame(evaluation, term, segment);
      if (evaluation.manual !== null && track.isBase) {
        addByHand(evaluation.manual, frame, segment, track.segments[index + 1]);
      }
      const days = lineDays(term, segment.from, segment.to, segment.days);
      for (const rule of rules) {
        if (rule.window !== which || rule.from > segment.from || rule.to < segment.to) continue;
        const { slot } = rule.component;
        const isGiven = isByHand(evaluation.manual, slot, segment.to);
        const amount = evaluateRule(evaluation, rule, frame, segment.compiledPlan, days, isGiven);
        if (amount === 0 || isGiven) continue;
        frame.amounts[slot] = amount;
        addToTotal(evaluation, rule.component, amount);
        if (which === 'Current') addToCatchUp(evaluation.catchUp, segment, slot, amount);
      }
    }
  }
}

/** A manual value is charged in the last segment that it applies to. */
function addByHand(
  manual: NonNullable<ManualAmounts>,
  frame: Frame,
  segment: Segment,
  next: Segment | undefined,
): void {
  for (const [slot, { amount, until }] of manual) {
    const isLast = segment.to <= until && (next === undefined || next.to > until);
    if (isLast) frame.amounts[slot] = amount;
  }
}

function addToCatchUp(catchUp: CatchUp | null, segment: Segment, slot: number, amount: number) {
  if (catchUp === null || segment.to > catchUp.until) return;
  catchUp.charged[slot] = (catchUp.charged[slot] as number) + amount;
}

/** Adds to a component's total, which must stay a safe integer. */
export function addToTotal(
  evaluation: Evaluation,
  component: CompiledComponent,
  amount: number,
): void {
  const total = (evaluation.totals[component.slot] as number) + amount;
  if (!Number.isSafeInteger(total)) {
    throw new RatingError('AMOUNT_OUT_OF_RANGE', 'an amount is too large for a bill');
  }
  evaluation.totals[component.slot] = total;
}

/**
 * One rule in one frame: its rounded amount, with the line it prints. Under a manual value the
 * amount is only remembered as what was replaced.
 */
export function evaluateRule(
  evaluation: Evaluation,
  rule: CompiledRule,
  frame: Frame,
  compiledPlan: CompiledPlan,
  days: LineDays,
  isGiven: boolean,
): number {
  const { component } = rule;
  evaluation.component = component;
  frame.slabs = null;
  charge(evaluation.shared.spent, rule.steps);
  if (frame.trace !== null) {
    frame.trace.steps = [];
    // So that the steps of value formulas are shown for every line that uses them.
    if (frame.trace.shown.steps < repeatedStepsMax) frame.results = null;
  }
  const exact = ruleAmount(rule, frame);
  if (exact === null) return 0;
  const amount = roundToMinorUnits(exact, component.rounding, evaluation.context.currencyScale);
  if (isGiven) {
    evaluation.replaced ??= new Map();
    const before = evaluation.replaced.get(component.slot) ?? 0;
    evaluation.replaced.set(component.slot, before + amount);
    return amount;
  }
  if (amount !== 0 || component.definition.printIfZero === 1) {
    const line = computedLine(rule, frame, compiledPlan, days, { amount, exact });
    addLine(component.isLate ? evaluation.surcharges : evaluation.lines, line, component);
    if (frame.trace !== null) {
      const explanation = explainLine({ rule, frame, compiledPlan, days, exact, amount });
      evaluation.explained?.explanations.set(line, explanation);
    }
  }
  return amount;
}

function segmentFrame(evaluation: Evaluation, term: RatedTerm, segment: Segment): Frame {
  const { window, usage } = term;
  const isWhole = segment.days === window.billedDays;
  return makeFrame(evaluation, term, {
    items: segment.items,
    usage: isWhole ? usage.totals : usageOfSegment(usage, segment, term),
    quantities: quantitiesOn(evaluation.context, term.steps, window, segment.from),
    amounts: evaluation.context.noAmounts.slice(),
    days: segment.days,
    factor: segment.factor,
    months: segment.months,
    quantity: segment.quantity,
    day: segment.to,
  });
}

/** The frame of Term rules of a track; all such frames of a bill share the totals. */
export function termFrame(evaluation: Evaluation, term: RatedTerm, track: Track): Frame {
  const { window } = term;
  return makeFrame(evaluation, term, {
    items: track.items,
    usage: term.usage.totals,
    quantities: quantitiesOn(evaluation.context, term.steps, window, window.lastDay),
    amounts: evaluation.totals,
    days: track.days,
    factor: track.factor,
    months: track.months,
    quantity: track.quantity,
    day: window.lastDay,
  });
}

/**
 * The frame of Term rules for the days after those of skipped bills, with these days; null if the
 * track has no such days.
 */
export function restFrame(
  evaluation: Evaluation,
  term: RatedTerm,
  track: Track,
  { until, charged }: CatchUp,
): { frame: Frame; days: LineDays } | null {
  const segments = track.segments.filter((segment) => segment.from > until);
  const [first] = segments;
  if (first === undefined) return null;
  const days = segments.reduce((sum, segment) => sum + segment.days, 0);
  const factor = factorOf(days, term.window);
  const used = segments.map((segment) => usageOfSegment(term.usage, segment, term));
  const whole = termFrame(evaluation, term, track);
  const frame = {
    ...whole,
    usage: whole.usage.map((_, slot) => sumOf(used.map((usage) => usage[slot]))),
    amounts: evaluation.totals.map((total, slot) => total - (charged[slot] as number)),
    days,
    factor,
    months: monthsOf(factor, term.window),
  };
  return { frame, days: lineDays(term, first.from, term.window.lastDay, days) };
}

function sumOf(quantities: readonly (Exact | undefined)[]): Exact | undefined {
  return quantities.reduce((sum, one) => (one === undefined ? sum : add(sum ?? zero, one)));
}

type FrameParts = {
  readonly items: readonly (ValueItem | undefined)[];
  readonly usage: readonly (Exact | undefined)[];
  readonly quantities: readonly (Exact | undefined)[];
  readonly amounts: number[];
  readonly days: number;
  readonly factor: Exact;
  readonly months: Exact;
  readonly quantity: Exact;
  readonly day: number;
};

function makeFrame(evaluation: Evaluation, term: RatedTerm, parts: FrameParts): Frame {
  const { explained } = evaluation;
  const trace: Trace | null =
    explained === null
      ? null
      : { steps: [], shown: explained.shown, usageSources: explained.usageSources };
  return {
    shared: evaluation.shared,
    items: parts.items,
    results: null,
    usage: parts.usage,
    quantities: parts.quantities,
    amounts: parts.amounts,
    days: parts.days,
    factor: parts.factor,
    months: parts.months,
    quantity: parts.quantity,
    termDays: term.window.termDays,
    termMonths: term.window.months,
    day: parts.day,
    historySkip: term.historySkip,
    slabs: null,
    trace,
  };
}

function usageOfSegment(
  usage: TermUsage,
  segment: Segment,
  term: RatedTerm,
): (Exact | undefined)[] {
  const parts = term.parts.length > 0 ? term.parts : [segment];
  return usage.inputs.map((input: InputUsage | undefined) =>
    input === undefined ? undefined : usageOfPart(input, segment, parts, term.window.billedDays),
  );
}

const noQuantities: readonly (Exact | undefined)[] = [];

/** Agreed quantities by slot; `day` decides those that split the term. */
export function quantitiesOn(
  context: CompiledContext,
  stepsBySlot: QuantitySteps,
  window: BilledWindow,
  day: number,
): readonly (Exact | undefined)[] {
  const agreed = context.agreedInputs;
  if (agreed.length === 0) return noQuantities;
  const quantities: (Exact | undefined)[] = context.noInputs.slice();
  for (const input of agreed) {
    const steps = stepsBySlot[input.slot];
    quantities[input.slot] =
      steps === undefined ? input.fallback : agreedOn(input, steps, window, day);
  }
  return quantities;
}

function agreedOn(
  input: AgreedInput,
  steps: readonly QuantityStep[],
  window: BilledWindow,
  day: number,
): Exact | undefined {
  if (input.changeInTerm === 'Split') return agreedQuantityOn(steps, day) ?? input.fallback;
  if (input.changeInTerm === 'End')
    return agreedQuantityOn(steps, window.lastDay) ?? input.fallback;
  let total = zero;
  let days = 0;
  for (const run of window.runs) {
    for (let from = run.from; from <= run.to; ) {
      const next = steps.find((step) => step.from > from)?.from ?? run.to + 1;
      const to = Math.min(run.to, next - 1);
      const quantity = agreedQuantityOn(steps, from) ?? input.fallback ?? zero;
      total = add(total, multiply(quantity, fraction(to - from + 1, 1)));
      days += to - from + 1;
      from = to + 1;
    }
  }
  return days === 0 ? input.fallback : divide(total, fraction(days, 1));
}

export function agreedQuantityOn(steps: readonly QuantityStep[], day: number): Exact | undefined {
  let found: Exact | undefined;
  for (const step of steps) if (step.from <= day) found = step.quantity;
  return found;
}

export function lineDays(term: RatedTerm, from: number, to: number, days: number): LineDays {
  const { start, end } = term.window;
  return {
    fromDate: from === start ? term.startText : formatDay(from),
    toDate: to === end ? term.endText : formatDay(to),
    days,
  };
}
