// Adjustments for a term that was billed before all its facts were known: its Segment rules are
// rated again, and what differs from the amounts billed goes onto this bill.
import { minorUnitsText } from '../../base/numbers/decimal-text.ts';
import { roundToMinorUnits } from '../../base/numbers/rounding.ts';
import type { CompiledComponent } from './compiled-context.ts';
import type { Edition } from './edition.ts';
import {
  addToTotal,
  type Evaluation,
  lineDays,
  type RatedTerm,
  rateSegments,
} from './evaluation.ts';
import { explainGiven } from './explain.ts';
import { addLine, emptyLines, otherLine } from './lines.ts';
import type { EarlierTerm } from './prepare-rating.ts';
import { amountFrom } from './prepared-facts.ts';
import type { Track } from './tracks.ts';

export function adjustPriorTerm(evaluation: Evaluation, earlier: EarlierTerm): void {
  const { term, facts } = earlier;
  const billed = facts.billed;
  if (billed === null || billed === undefined) return;
  const again: Evaluation = {
    ...evaluation,
    totals: evaluation.context.noAmounts.slice(),
    lines: emptyLines(),
    surcharges: emptyLines(),
    manual: null,
    replaced: null,
    explained: null,
  };
  rateSegments(again, term, 'Current');
  const track = term.tracks[0] as Track;
  const names = new Map(Object.entries(billed));
  for (const component of evaluation.context.components) {
    if (component === undefined || isOfTerm(track.edition, component)) continue;
    const before = billedAmount(evaluation, component, names);
    const difference = (again.totals[component.slot] as number) - before;
    if (difference === 0) continue;
    addToTotal(evaluation, component, difference);
    addAdjustment(evaluation, term, component, track.edition, {
      difference,
      before,
      label: facts.term.label ?? null,
    });
  }
}

/** Components that the term's rules compute, not the segments': never re-rated. */
function isOfTerm(edition: Edition, component: CompiledComponent): boolean {
  if (component.isLate) return true;
  const rules = [
    ...edition.termRules,
    ...edition.segmentRules.filter((r) => r.window !== 'Current'),
  ];
  return rules.some((rule) => rule.component.slot === component.slot);
}

function billedAmount(
  evaluation: Evaluation,
  component: CompiledComponent,
  billed: ReadonlyMap<string, string | number>,
): number {
  const { context } = evaluation;
  const exact = amountFrom(billed.get(component.definition.name));
  const rounding = { scale: context.currencyScale, mode: 'HalfUp' } as const;
  return roundToMinorUnits(exact, rounding, context.currencyScale);
}

function addAdjustment(
  evaluation: Evaluation,
  term: RatedTerm,
  component: CompiledComponent,
  edition: Edition,
  change: { difference: number; before: number; label: string | null },
): void {
  const { window } = term;
  const days = lineDays(term, window.firstDay, window.lastDay, window.billedDays);
  const of = change.label === null ? '' : ` ${change.label}`;
  const line = otherLine(component, edition, days, {
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
  evaluation.explained?.explanations.set(line, explanation);
}
