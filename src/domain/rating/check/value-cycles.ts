// Values that need each other, through formulas of plans and defaults of the context.
import { walk } from '../../../base/formula/walk.ts';
import type { CompiledValue } from '../compile/compile-values.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { PlanProblem, ProblemField } from './plan-problem.ts';

/** One formula of a circle, and where in it the next value is named. */
type Step = { readonly slot: number; readonly place: ProblemField; readonly position: number };

/**
 * Every cycle of values, each reported once at one of its formulas: that of the plan itself if it
 * has one, otherwise that of the nearest owner.
 */
export function valueCycles(
  values: readonly (CompiledValue | undefined)[],
  context: CompiledContext,
  tariffCode: string | null,
): PlanProblem[] {
  const state = new Map<number, 'open' | 'done'>();
  const path: Step[] = [];
  const problems: PlanProblem[] = [];
  const visit = (slot: number): void => {
    if (state.get(slot) === 'done') return;
    if (state.get(slot) === 'open') {
      const circle = path.slice(path.findIndex((step) => step.slot === slot));
      problems.push(circleProblem(circle, context, tariffCode));
      return;
    }
    state.set(slot, 'open');
    const value = values[slot];
    for (const [index, node] of (value?.nodes ?? []).entries()) {
      const place = value?.places[index] as ProblemField;
      walk(node, (part) => {
        if (part.kind !== 'name' || part.space !== null) return;
        const next = context.slots.values.get(part.id);
        if (next === undefined) return;
        path.push({ slot, place, position: part.from });
        visit(next);
        path.pop();
      });
    }
    state.set(slot, 'done');
  };
  for (const slot of context.slots.values.values()) visit(slot);
  return problems;
}

function circleProblem(
  circle: readonly Step[],
  context: CompiledContext,
  tariffCode: string | null,
): PlanProblem {
  const own = circle.find((step) => step.place.tariffCode === tariffCode);
  const ofPlan = circle.find((step) => step.place.tariffCode !== null);
  const { place, position } = (own ?? ofPlan ?? circle[0]) as Step;
  const names = [...circle, circle[0] as Step].map(({ slot }) => context.values[slot]?.name);
  const message =
    circle.length === 1
      ? `value \`${names[0]}\` needs itself`
      : `values refer to each other: ${names.join(' -> ')}`;
  return { code: 'FORMULA_CYCLE', ...place, position, message };
}
