// Security deposit lines of a plan: amounts, or formulas over custom fields and values.
import { checkFormula } from '../../base/formula/check.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import type { CompiledContext } from './compiled-context.ts';
import type { PlanDefinition } from './definitions.ts';
import { makeScope } from './name-scope.ts';
import { formulaProblems, type PlanProblem } from './plan-problem.ts';

export function checkSecurityAttributes(
  plan: PlanDefinition,
  context: CompiledContext,
): PlanProblem[] {
  const scope = makeScope(context.names, 'Security', false);
  return (plan.securityAttributes ?? []).flatMap((item, index) => {
    const place = { tariffCode: plan.code, field: `securityAttributes[${index}].formula` };
    if (typeof item.formula === 'string') {
      return formulaProblems(place, checkFormula(item.formula, scope, 'number').problems);
    }
    if (item.amount === null || item.amount === undefined) return [];
    if (exactFrom(item.amount) !== undefined) return [];
    const field = `securityAttributes[${index}].amount`;
    const message = `the amount of \`${item.name}\` is no number`;
    return [{ code: 'INVALID_NUMBER', ...place, field, position: null, message }];
  });
}
