// What is wrong with a plan or context, in the form an API answer needs.
import type { FormulaProblem } from '../../../base/formula/syntax.ts';

export type PlanProblem = {
  readonly code: string;
  /** Plan whose text has to be changed; null for the context. */
  readonly tariffCode: string | null;
  /** JSON path inside that plan or context. */
  readonly field: string;
  /** Character offset inside a formula; null if the field is not a formula. */
  readonly position: number | null;
  readonly message: string;
};

/** The text that has to be changed: a field of a plan, or of the context if the plan is null. */
export type ProblemField = { readonly tariffCode: string | null; readonly field: string };

export function formulaProblems(
  place: ProblemField,
  problems: readonly FormulaProblem[],
): PlanProblem[] {
  return problems.map((problem) => ({ ...place, ...problem }));
}

/** Formulas of a parent are compiled again for every child; a mistake in them is reported once. */
export function withoutRepeats(problems: readonly PlanProblem[]): PlanProblem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = JSON.stringify(problem);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
