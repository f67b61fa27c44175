// Adjustments for a term that was billed before all its frozen inputs were known: its Segment rules
// are rated again, and what differs from the amounts billed goes onto this bill.
import { minorUnitsText } from '../../../base/numbers/decimal-text.ts';
import { roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import type { CompiledComponent } from '../compile/compiled-context.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { FrozenPreviousTerm } from '../frozen-inputs.ts';
import type { Track } from '../periods/plan-tracks.ts';
import {
  addToTotal,
  type Evaluation,
  lineDays,
  type RatedTerm,
  rateSegments,
} from './evaluation.ts';
import { explainGiven, type LineExplanation } from './explain.ts';
import { addLine, emptyLines, otherLine } from './lines.ts';
import type { EarlierTerm } from './prepare-rating.ts';
import { accountNumbers, amountFrom, customFieldsOf } from './prepared-inputs.ts';

export function adjustPriorTerm(evaluation: Evaluation, earlier: EarlierTerm): void {
  const { frozen } = earlier;
  const term = { ...earlier.term, usage: earlier.billedUsage };
  const billed = frozen.billed;
  if (billed === null || billed === undefined) return;
  const again: Evaluation = {
    ...evaluation,
    shared: sharedThen(evaluation, frozen),
    totals: evaluation.context.noAmounts.slice(),
    lines: emptyLines(),
    surcharges: emptyLines(),
    manual: null,
    catchUp: null,
    replaced: null,
    explained:
      evaluation.explained === null ? null : { ...evaluation.explained, explanations: new Map() },
  };
  try {
    rateSegments(again, term, 'Current');
  } finally {
    evaluation.component = again.component;
  }
  const track = term.tracks[0] as Track;
  const names = new Map(Object.entries(billed));
  for (const component of evaluation.context.components) {
    if (component === undefined || isOfTerm(term, component)) continue;
    if (names.get(component.definition.name) === null) continue;
    const before = billedAmount(evaluation, component, names);
    const difference = (again.totals[component.slot] as number) - before;
    if (difference === 0) continue;
    addToTotal(evaluation, component, difference);
    const label = frozen.term.label ?? null;
    const parts = [...(again.explained?.explanations.values() ?? [])].filter(
      (part) => part.component === component.definition.name,
    );
    const change = { difference, before, label, parts };
    addAdjustment(evaluation, term, component, track.compiledPlan, change);
  }
}

/**
 * What is known of the account and of earlier bills is no fact of the term, but of its bill. So are
 * custom fields, which carry no dates; one that it did not have was read by none of its rules.
 */
function sharedThen(
  { shared, context }: Evaluation,
  past: FrozenPreviousTerm,
): Evaluation['shared'] {
  const { account, isFirstBill, connectionInputs } = past;
  return {
    ...shared,
    inputs: connectionInputs
      ? customFieldsOf({ connectionInputs }, context).map(
          (then, slot) => then ?? shared.inputs[slot],
        )
      : shared.inputs,
    account: account ? accountNumbers({ account }) : shared.account,
    isFirstBill: isFirstBill ?? shared.isFirstBill,
  };
}

/** Components that the term's rules compute, not the segments': never re-rated. */
function isOfTerm(term: RatedTerm, component: CompiledComponent): boolean {
  if (component.isLate) return true;
  return term.tracks.some(({ compiledPlan }) => {
    const looksBack = compiledPlan.segmentRules.filter((rule) => rule.window !== 'Current');
    const rules = [...compiledPlan.termRules, ...looksBack];
    return rules.some((rule) => rule.component.slot === component.slot);
  });
}

function billedAmount(
  evaluation: Evaluation,
  component: CompiledComponent,
  billed: ReadonlyMap<string, string | number | null>,
): number {
  const { context } = evaluation;
  const exact = amountFrom(billed.get(component.definition.name));
  const rounding = { scale: context.currencyScale, mode: 'HalfUp' } as const;
  return roundToMinorUnits(exact, rounding, context.currencyScale);
}

/** What was billed and what differs now, with the explanations of what was rated again. */
type Change = {
  readonly difference: number;
  readonly before: number;
  readonly label: string | null;
  readonly parts: readonly LineExplanation[];
};

function addAdjustment(
  evaluation: Evaluation,
  term: RatedTerm,
  component: CompiledComponent,
  compiledPlan: CompiledPlan,
  change: Change,
): void {
  const { window } = term;
  const days = lineDays(term, window.firstDay, window.lastDay, window.billedDays);
  const of = change.label === null ? '' : ` ${change.label}`;
  const line = otherLine(component, compiledPlan, days, {
    lineType: 'Adjustment',
    source: 'Computed',
    amount: change.difference,
    computedAmount: change.difference,
    description: `Prior period adjustment${of}`,
  });
  const { currencyScale, currencyPower } = evaluation.context;
  const shown = (minor: number) => minorUnitsText(minor, currencyScale);
  const after = change.before + change.difference;
  const text = `${shown(after)} now, ${shown(change.before)} billed = ${shown(change.difference)}`;
  addLine(evaluation.lines, line, component);
  const explanation = explainGiven(line, component.rounding, text, currencyPower);
  evaluation.explained?.explanations.set(line, withParts(explanation, change, shown));
}

/** The rule, the names and a step for each part that was rated again, then what was billed. */
function withParts(
  explanation: LineExplanation,
  change: Change,
  shown: (minor: number) => string,
): LineExplanation {
  const names = new Map(
    change.parts.flatMap((part) => part.names.map((name) => [`${name.name} ${name.value}`, name])),
  );
  const steps = change.parts.map((part) => ({
    expression: `${part.fromDate} to ${part.toDate}: ${part.text}`,
    value: shown(part.amount),
  }));
  return {
    ...explanation,
    formula: change.parts.at(-1)?.formula ?? null,
    when: change.parts.at(-1)?.when ?? null,
    scope: 'Segment',
    names: [...names.values()],
    steps: [...steps, { expression: 'billed before', value: shown(change.before) }],
  };
}
