// What one bill may cost. Costs are counted in steps that depend on definitions and inputs alone,
// never in time: the same bill is refused on every machine, or on none.
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import { RatingError } from '../rating-error.ts';

/** Bills of real tariffs take a few thousand steps; this many take a fraction of a second. */
const stepsMax = 200_000;
/** Steps that one explanation shows. */
const explainedStepsMax = 20_000;
/**
 * Up to this many shown steps, every line repeats the steps of the values it uses. After that, the
 * first line that uses a value shows its steps, and later lines name it with its result.
 */
export const repeatedStepsMax = 4_000;

/** What all evaluations of one bill have cost so far. */
export type Spent = { steps: number };

/** A step for each part of the formulas, and for each row of a table that they look into. */
export function charge(spent: Spent, steps: number): void {
  spent.steps += steps;
  if (spent.steps > stepsMax) {
    throw new RatingError('FORMULA_TOO_COSTLY', `the bill takes more than ${stepsMax} steps`);
  }
}

export function chargeExplained(shown: Spent): void {
  shown.steps += 1;
  if (shown.steps > explainedStepsMax) {
    const message = `the explanation has more than ${explainedStepsMax} steps`;
    throw new RatingError('FORMULA_TOO_COSTLY', message);
  }
}

export function stepsOf(node: FormulaNode): number {
  let count = 0;
  walk(node, () => {
    count += 1;
  });
  return count;
}
