// Inputs that a plan requires.
import type { BillError } from '../bill.ts';
import type { RequiredInput } from '../compile/compiled-plan.ts';
import { agreedQuantityOn, type RatedTerm } from '../rate/evaluation.ts';

/**
 * Adds USAGE_MISSING for every required input without a quantity. An input of rules that look back
 * needs its quantity in the previous term, any other in the current term.
 */
export function checkRequiredInputs(
  current: RatedTerm,
  previous: RatedTerm | null,
  errors: BillError[],
): void {
  for (const { compiledPlan } of current.tracks) {
    for (const input of compiledPlan.requiredInputs) {
      if (isKnown(input, current, previous)) continue;
      const fallbacks = compiledPlan.context.agreedInputs;
      if (fallbacks.some(({ slot, fallback }) => slot === input.slot && fallback)) continue;
      // If a meter has an error, that is probably the cause, and it is already reported.
      if (errors.some((error) => error.meterNumber !== undefined)) continue;
      const message = `the quantity of \`${input.name}\` is missing`;
      if (errors.some((error) => error.message === message)) continue;
      errors.push({ code: 'USAGE_MISSING', message });
    }
  }
}

function isKnown(input: RequiredInput, current: RatedTerm, previous: RatedTerm | null): boolean {
  if (input.isAgreed)
    return agreedQuantityOn(current.steps[input.slot] ?? [], current.window.lastDay) !== undefined;
  if (!input.isPrevious) return current.usage.totals[input.slot] !== undefined;
  return previous === null || previous.usage.totals[input.slot] !== undefined;
}
