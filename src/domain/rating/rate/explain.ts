// Why a line has its amount, from the very evaluation that made it.
import type { Scalar } from '../../../base/formula/function-kinds.ts';
import type { CallNode, FormulaNode, NameNode } from '../../../base/formula/syntax.ts';
import { decimalText, exactText } from '../../../base/numbers/decimal-text.ts';
import { Exact, fraction } from '../../../base/numbers/exact.ts';
import type { Rounding } from '../../../base/numbers/rounding.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { Frame, Source, TraceStep } from '../compile/formula-frame.ts';
import { lineText } from './explain-text.ts';

export type ExplainedName = {
  readonly name: string;
  readonly value: string;
  readonly unit: string | null;
  readonly source: Source;
};

export type LineExplanation = {
  readonly lineNo: number;
  readonly component: string;
  readonly formula: string | null;
  readonly when: string | null;
  readonly scope: 'Segment' | 'Term';
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
  readonly factor: string;
  readonly names: readonly ExplainedName[];
  readonly steps: readonly { readonly expression: string; readonly value: string }[];
  readonly exact: string;
  readonly rounding: Rounding;
  /** Minor units here, major units on the wire. */
  readonly amount: number;
  readonly text: string;
};

type ExplainRequest = {
  readonly rule: CompiledRule;
  readonly frame: Frame;
  readonly compiledPlan: CompiledPlan;
  readonly days: { readonly fromDate: string; readonly toDate: string; readonly days: number };
  readonly exact: Exact;
  readonly amount: number;
};

export function explainLine(request: ExplainRequest): LineExplanation {
  const { rule, frame, compiledPlan, days, exact, amount } = request;
  const recorded = frame.trace?.steps ?? [];
  const steps = recorded.filter((step) => isStep(step.node)).map(shownStep);
  if (rule.isProrated) {
    const share = `${frame.days}/${frame.termDays}`;
    steps.push({ expression: `(${rule.text}) * ${share} days`, value: exactText(exact) });
  }
  return {
    lineNo: 0,
    component: rule.component.definition.name,
    formula: rule.text,
    when: rule.whenText,
    scope: rule.scope === 'Segment' ? 'Segment' : 'Term',
    fromDate: days.fromDate,
    toDate: days.toDate,
    days: days.days,
    factor: exactText(frame.factor),
    names: namesOf(recorded, frame, compiledPlan),
    steps,
    exact: exactText(exact),
    rounding: rule.component.rounding,
    amount,
    text: lineText({
      rule,
      frame,
      steps: recorded,
      exact,
      amount,
      currencyScale: compiledPlan.context.currencyScale,
    }),
  };
}

/** A line whose amount no formula gave: a manual value or the difference to an earlier bill. */
export function explainGiven(
  line: { component: string; fromDate: string; toDate: string; days: number; amount: number },
  rounding: Rounding,
  text: string,
  currencyPower: number,
): LineExplanation {
  return {
    lineNo: 0,
    component: line.component,
    formula: null,
    when: null,
    scope: 'Term',
    fromDate: line.fromDate,
    toDate: line.toDate,
    days: line.days,
    factor: '1',
    names: [],
    steps: [],
    exact: exactText(fraction(line.amount, currencyPower)),
    rounding,
    amount: line.amount,
    text,
  };
}

function isStep(node: FormulaNode): boolean {
  return node.kind === 'binary' || node.kind === 'negate' || node.kind === 'call';
}

function shownStep(step: TraceStep): { expression: string; value: string } {
  return { expression: step.text, value: scalarText(step.value) };
}

function scalarText(value: Scalar): string {
  if (value instanceof Exact) return exactText(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (value.slabs === null) return `table of ${value.keys.length} rows`;
  const rates = value.slabs.rates.map((rate, slab) => {
    const limit = value.slabs?.limits[slab];
    return `${limit === undefined ? 'above' : `to ${decimalText(limit)}`}: ${decimalText(rate)}`;
  });
  return rates.join('; ');
}

/** Each name and each look at history, once, in the order in which they were read. */
function namesOf(
  steps: readonly TraceStep[],
  frame: Frame,
  compiledPlan: CompiledPlan,
): ExplainedName[] {
  const names = new Map<string, ExplainedName>();
  for (const { node, text, value } of steps) {
    if (names.has(text)) continue;
    if (node.kind === 'name') {
      const source = nameSource(node, frame, compiledPlan);
      names.set(text, {
        name: text,
        value: scalarText(value),
        unit: node.type.unit ?? null,
        source,
      });
    } else if (node.kind === 'call') {
      const source = callSource(node);
      if (source !== null)
        names.set(text, { name: text, value: scalarText(value), unit: null, source });
    }
  }
  return [...names.values()];
}

function nameSource(node: NameNode, frame: Frame, compiledPlan: CompiledPlan): Source {
  const { space, id } = node;
  if (space === null) {
    const slot = compiledPlan.context.slots.values.get(id) ?? -1;
    return frame.items[slot]?.source ?? { kind: 'Default' };
  }
  if (space === 'usage') {
    return frame.trace?.usageSources.get(id) ?? { kind: 'Uploaded', ref: 'none' };
  }
  if (space === 'account') return { kind: 'Account' };
  if (space === 'comp' || space === 'bill') return { kind: 'Component', ref: id };
  return { kind: 'Input', ref: space === 'input' || space === 'qty' ? id : space };
}

function callSource(call: CallNode): Source | null {
  const literal = call.args[0]?.kind === 'text' ? call.args[0].value : '';
  if (call.name.startsWith('HIST')) return { kind: 'History', ref: literal };
  if (call.name === 'SUMCAT') return { kind: 'Component', ref: literal };
  return call.name === 'SUPER' ? { kind: 'Parent' } : null;
}
