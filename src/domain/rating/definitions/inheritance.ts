// Inheritance by name: the chain of a plan, and what each plan of the chain contributes.
import { firstDay, lastDay, parseDay } from '../../../base/days.ts';
import {
  type ComponentRule,
  type PlanDefinition,
  planDepthMax,
  type SecurityAttribute,
  type UsageItem,
  type ValueFormula,
  type Version,
} from './definitions.ts';

export type PlanVersion = Version<PlanDefinition>;

/** From a plan to its root. */
export type Chain = readonly PlanVersion[];
export type ChainProblem = {
  readonly code: 'PARENT_NOT_FOUND' | 'PLAN_CYCLE' | 'PLAN_TOO_DEEP';
  readonly message: string;
};

/** `find` gives the version of a plan that applies. */
export function chainOf(
  code: string,
  find: (code: string) => PlanVersion | undefined,
): { chain: Chain; problem: ChainProblem | null } {
  const chain: PlanVersion[] = [];
  const seen = new Set<string>();
  let next: string | null = code;
  while (next !== null) {
    const plan = find(next);
    if (plan === undefined) {
      const missing = `plan ${code} inherits from ${next}, which does not exist`;
      return { chain, problem: { code: 'PARENT_NOT_FOUND', message: missing } };
    }
    if (seen.has(next)) {
      const loop = `plan ${code} inherits from itself: ${[...seen, next].join(' -> ')}`;
      return { chain, problem: { code: 'PLAN_CYCLE', message: loop } };
    }
    seen.add(next);
    chain.push(plan);
    next = plan.definition.parentTariffCode ?? null;
  }
  if (chain.length > planDepthMax) {
    const deep = `plan ${code} has ${chain.length} levels; at most ${planDepthMax} are allowed`;
    return { chain, problem: { code: 'PLAN_TOO_DEEP', message: deep } };
  }
  return { chain, problem: null };
}

/** An item of a plan with its validity as inclusive day numbers. */
export type Owned<Item> = {
  readonly plan: PlanVersion;
  readonly index: number;
  readonly item: Item;
  readonly from: number;
  readonly to: number;
};

export type OwnedRule = Owned<ComponentRule>;
export type OwnedValue = Owned<ValueFormula>;

/** By component, nearest plan first: the rules of each plan that has any. */
export function rulesOf(chain: Chain): Map<string, OwnedRule[][]> {
  const levels = new Map<string, OwnedRule[][]>();
  for (const plan of chain) {
    const own = groupBy(plan, plan.definition.componentRules ?? [], (rule) => rule.component);
    for (const [component, rules] of own) append(levels, component, rules);
  }
  return levels;
}

/** By value, nearest plan first: the items of each plan that has any. */
export function valuesOf(chain: Chain): Map<string, OwnedValue[][]> {
  const levels = new Map<string, OwnedValue[][]>();
  for (const plan of chain) {
    const own = groupBy(plan, plan.definition.valueFormulas ?? [], (item) => item.name);
    for (const [name, items] of own) append(levels, name, items);
  }
  return levels;
}

/** Inputs the plan consumes: the nearest plan wins, `exclude` drops. */
export function usageItemsOf(chain: Chain): UsageItem[] {
  const items = new Map<string, UsageItem>();
  for (const plan of chain) {
    for (const item of plan.definition.usageData ?? []) {
      if (typeof item.input === 'string' && !items.has(item.input)) items.set(item.input, item);
    }
  }
  return [...items.values()].filter((item) => item.exclude !== 1);
}

export function securityAttributesOf(chain: Chain): SecurityAttribute[] {
  const items = new Map<string, SecurityAttribute & { exclude?: number }>();
  for (const plan of chain) {
    for (const item of plan.definition.securityAttributes ?? []) {
      if (!items.has(item.name)) items.set(item.name, item);
    }
  }
  return [...items.values()].filter((item) => item.exclude !== 1);
}

/**
 * Inclusive validity; a date that cannot be read counts as absent and is reported by the checks.
 */
export function validity(item: { fromDate?: string | null; toDate?: string | null }): {
  from: number;
  to: number;
} {
  return { from: dayOr(item.fromDate, firstDay), to: dayOr(item.toDate, lastDay) };
}

function dayOr(text: string | null | undefined, otherwise: number): number {
  return typeof text === 'string' ? (parseDay(text) ?? otherwise) : otherwise;
}

function groupBy<Item extends { fromDate?: string | null; toDate?: string | null }>(
  plan: PlanVersion,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Owned<Item>[]> {
  const groups = new Map<string, Owned<Item>[]>();
  for (const [index, item] of items.entries()) {
    const owned = { plan, index, item, ...validity(item) };
    append(groups, keyOf(item), owned);
  }
  for (const group of groups.values()) group.sort((a, b) => a.from - b.from);
  return groups;
}

function append<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}
