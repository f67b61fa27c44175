// How much text the formulas of a context and a plan may have together. Checked before they are
// parsed, so that no request can ask for minutes of parsing.
import { formulaLengthMax } from '../../../base/formula/syntax.ts';
import type { ContextDefinition, PlanDefinition } from '../definitions/definitions.ts';
import type { PlanProblem } from './plan-problem.ts';

/** Real plans have some thousand characters; this many are compiled in a tenth of a second. */
const formulaCharactersMax = 100_000;

/** The context with the plan and its parents, or the context alone. */
export function checkSize(
  context: ContextDefinition,
  chain: readonly PlanDefinition[],
): PlanProblem[] {
  const own = chain.reduce((sum, plan) => sum + planCharacters(plan), 0);
  if (contextCharacters(context) + own <= formulaCharactersMax) return [];
  const message = `the formulas have more than ${formulaCharactersMax} characters together`;
  const [plan] = chain;
  const tariffCode = plan?.code ?? null;
  const field = plan ? 'componentRules' : 'values';
  return [{ code: 'FORMULA_TOO_COSTLY', tariffCode, field, position: null, message }];
}

function contextCharacters({ values }: ContextDefinition): number {
  return (values ?? []).reduce((sum, value) => sum + characters(value.default), 0);
}

function planCharacters({ valueFormulas, componentRules }: PlanDefinition): number {
  let sum = 0;
  for (const value of valueFormulas ?? []) sum += characters(value.formula);
  for (const { formula, when, quantity, rate } of componentRules ?? []) {
    sum += characters(formula) + characters(when) + characters(quantity) + characters(rate);
  }
  return sum;
}

/** A formula that is too long is refused without being read. */
function characters(formula: unknown): number {
  return typeof formula === 'string' && formula.length <= formulaLengthMax ? formula.length : 0;
}
