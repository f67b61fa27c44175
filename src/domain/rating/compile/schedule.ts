// The order in which Term rules of all plans on a bill are evaluated.
import { topologicalOrder } from '../../../base/formula/graph.ts';
import { RatingError } from '../rating-error.ts';
import type { CompiledRule } from './compile-rules.ts';
import { componentsRead, type Edition, type Schedule } from './compiled-plan.ts';

/** Rules of an edition that take part, by the window they are evaluated over. */
export type ScheduledEdition = {
  readonly edition: Edition;
  readonly window: 'Current' | 'Previous';
};

/** Combinations of add-ons remembered for each base plan. */
const schedulesMax = 1000;

/**
 * Base plan first. A component has one Term rule a window: that of the first edition that has one,
 * so an add-on never charges a second time what the base plan charges.
 */
export function scheduleOf(editions: readonly ScheduledEdition[]): Schedule {
  const first = editions[0] as ScheduledEdition;
  const key =
    editions.length === 1
      ? first.window
      : editions.map(({ edition, window }) => `${edition.id}${window}`).join();
  const known = first.edition.schedules.get(key);
  if (known !== undefined) return known;
  const schedule = makeSchedule(editions);
  if (first.edition.schedules.size >= schedulesMax) first.edition.schedules.clear();
  first.edition.schedules.set(key, schedule);
  return schedule;
}

/** The components that need each other among these editions' Term rules; null if none do. */
export function cycleOf(editions: readonly ScheduledEdition[]): readonly number[] | null {
  return orderedEntries(editions).cycle;
}

export function componentNames(
  cycle: readonly number[],
  editions: readonly ScheduledEdition[],
): string {
  const { context } = (editions[0] as ScheduledEdition).edition;
  return cycle.map((slot) => context.components[slot]?.definition.name).join(' -> ');
}

function makeSchedule(editions: readonly ScheduledEdition[]): Schedule {
  const { entries, order, cycle } = orderedEntries(editions);
  if (cycle !== null) {
    const names = componentNames(cycle, editions);
    throw new RatingError('DEFINITION_INVALID', `plan and add-ons need each other: ${names}`);
  }
  const rank = new Map(order.map((slot, index) => [slot, index]));
  const rankOf = (rule: CompiledRule) => rank.get(rule.component.slot) ?? 0;
  return entries.sort((a, b) => rankOf(a.rule) - rankOf(b.rule));
}

function orderedEntries(editions: readonly ScheduledEdition[]): {
  entries: { rule: CompiledRule; of: number }[];
  order: number[];
  cycle: number[] | null;
} {
  const entries: { rule: CompiledRule; of: number }[] = [];
  const owner = new Map<string, number>();
  for (const [of, { edition, window }] of editions.entries()) {
    for (const rule of edition.termRules) {
      if (rule.window !== window) continue;
      const key = `${rule.component.slot} ${window}`;
      if ((owner.get(key) ?? of) !== of) continue;
      owner.set(key, of);
      entries.push({ rule, of });
    }
  }
  const context = (editions[0] as ScheduledEdition).edition.context;
  const needs: number[][] = context.components.map(() => []);
  for (const { rule } of entries) {
    const own = rule.nodes.flatMap((node) => componentsRead(node, context));
    needs[rule.component.slot]?.push(...own);
  }
  const sorted = needs.map((slots) => [...new Set(slots)].sort((a, b) => a - b));
  return { entries, ...topologicalOrder(sorted) };
}
