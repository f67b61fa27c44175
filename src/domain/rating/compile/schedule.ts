// The order in which Term rules of all plans on a bill are evaluated.
import { topologicalOrder } from '../../../base/formula/graph.ts';
import { RatingError } from '../rating-error.ts';
import type { CompiledRule } from './compile-rules.ts';
import { type CompiledPlan, componentsRead, type Schedule } from './compiled-plan.ts';

/** Rules of a compiled plan that take part, by the window they are evaluated over. */
export type ScheduledPlan = {
  readonly compiledPlan: CompiledPlan;
  readonly window: 'Current' | 'Previous';
};

/** Combinations of add-ons remembered for each base plan. */
const schedulesMax = 1000;

/**
 * Base plan first. A component has one Term rule a window: that of the first compiled plan that has
 * one, so an add-on never charges a second time what the base plan charges.
 */
export function scheduleOf(compiledPlans: readonly ScheduledPlan[]): Schedule {
  const first = compiledPlans[0] as ScheduledPlan;
  const key =
    compiledPlans.length === 1
      ? first.window
      : compiledPlans.map(({ compiledPlan, window }) => `${compiledPlan.id}${window}`).join();
  const known = first.compiledPlan.schedules.get(key);
  if (known !== undefined) return known;
  const schedule = makeSchedule(compiledPlans);
  if (first.compiledPlan.schedules.size >= schedulesMax) first.compiledPlan.schedules.clear();
  first.compiledPlan.schedules.set(key, schedule);
  return schedule;
}

/** The components that need each other among these compiled plans' Term rules; null if none do. */
export function cycleOf(compiledPlans: readonly ScheduledPlan[]): readonly number[] | null {
  return orderedEntries(compiledPlans).cycle;
}

export function componentNames(
  cycle: readonly number[],
  compiledPlans: readonly ScheduledPlan[],
): string {
  const { context } = (compiledPlans[0] as ScheduledPlan).compiledPlan;
  return cycle.map((slot) => context.components[slot]?.definition.name).join(' -> ');
}

function makeSchedule(compiledPlans: readonly ScheduledPlan[]): Schedule {
  const { entries, order, cycle } = orderedEntries(compiledPlans);
  if (cycle !== null) {
    const names = componentNames(cycle, compiledPlans);
    throw new RatingError('DEFINITION_INVALID', `plan and add-ons refer to each other: ${names}`);
  }
  const rank = new Map(order.map((slot, index) => [slot, index]));
  const rankOf = (rule: CompiledRule) => rank.get(rule.component.slot) ?? 0;
  return entries.sort((a, b) => rankOf(a.rule) - rankOf(b.rule));
}

function orderedEntries(compiledPlans: readonly ScheduledPlan[]): {
  entries: { rule: CompiledRule; of: number }[];
  order: number[];
  cycle: number[] | null;
} {
  const entries: { rule: CompiledRule; of: number }[] = [];
  const owner = new Map<string, number>();
  for (const [of, { compiledPlan, window }] of compiledPlans.entries()) {
    for (const rule of compiledPlan.termRules) {
      if (rule.window !== window) continue;
      const key = `${rule.component.slot} ${window}`;
      if ((owner.get(key) ?? of) !== of) continue;
      owner.set(key, of);
      entries.push({ rule, of });
    }
  }
  const context = (compiledPlans[0] as ScheduledPlan).compiledPlan.context;
  const needs: number[][] = context.components.map(() => []);
  for (const { rule } of entries) {
    const own = rule.nodes.flatMap((node) => componentsRead(node, context));
    needs[rule.component.slot]?.push(...own);
  }
  const sorted = needs.map((slots) => [...new Set(slots)].sort((a, b) => a - b));
  return { entries, ...topologicalOrder(sorted) };
}
