// How payments settle open items: the methods of settlement. Credits are used before money.
import { compareAge, type ItemComponent, type OpenItem, oldestFirst } from './open-item.ts';

export const settlementMethods = [
  'Chronology',
  'Component Priority',
  'Latest First',
  'Proportional',
  'Manual',
] as const;
export type SettlementMethod = (typeof settlementMethods)[number];

/** The amount of an item that is settled; below zero for a credit that is used. */
export type Allocation = { item: OpenItem; amount: number };

/**
 * Uses credits for the oldest debts of their own subscription, before any money. The allocations to
 * debts and the used parts of credits add up to zero.
 */
export function useCredits(items: readonly OpenItem[]): Allocation[] {
  const credits = items.filter((item) => item.open < 0).toSorted(compareAge);
  return credits.flatMap((credit) => {
    const debts = items.filter(
      (item) => item.open > 0 && item.subscriptionId === credit.subscriptionId,
    );
    const used = inOrder(debts.toSorted(compareAge), -credit.open);
    const total = used.reduce((sum, one) => sum + one.amount, 0);
    credit.open += total;
    return total === 0 ? [] : [...used, { item: credit, amount: -total }];
  });
}

/**
 * Settles debts with an amount, by the method of the payer; the caller puts the rest into the
 * wallet. The open amounts of the items are reduced.
 */
export function settle(
  items: readonly OpenItem[],
  amount: number,
  { method, subscriptionId }: { method: SettlementMethod; subscriptionId: number | null },
): Allocation[] {
  const debts = items.filter((item) => item.open > 0);
  switch (method) {
    case 'Manual':
      return [];
    case 'Latest First':
      return inOrder(latestFirst(debts), amount);
    case 'Proportional':
      return inProportion(debts.toSorted(compareAge), amount);
    case 'Component Priority':
      return byPriority(debts, amount);
    default:
      return inOrder(oldestFirst(debts, subscriptionId), amount);
  }
}

/** The newest due date first; a surcharge stays before its bill. */
function latestFirst(debts: readonly OpenItem[]): OpenItem[] {
  const byDay = Map.groupBy(debts.toSorted(compareAge), (item) => item.dueDate);
  const days = [...byDay.keys()].sort().reverse();
  return days.flatMap((day) => byDay.get(day) ?? []);
}

/** One after the other, as far as the amount goes. */
function inOrder(debts: readonly OpenItem[], amount: number): Allocation[] {
  let left = amount;
  return debts.flatMap((item) => {
    const share = Math.min(left, item.open);
    if (share <= 0) return [];
    left -= share;
    item.open -= share;
    return [{ item, amount: share }];
  });
}

type Slice = { item: OpenItem; component: ItemComponent; open: number };

/**
 * Components of all items by their priority, those without one last; of equal priority surcharges,
 * taxes, then by sequence; of the same component the oldest first.
 */
function byPriority(debts: readonly OpenItem[], amount: number): Allocation[] {
  const slices = debts.flatMap(slicesOf).toSorted(compareSlices);
  const shares = new Map<OpenItem, number>();
  let left = amount;
  for (const { item, open } of slices) {
    const share = Math.min(left, open);
    if (share <= 0) continue;
    left -= share;
    item.open -= share;
    shares.set(item, (shares.get(item) ?? 0) + share);
  }
  return [...shares].map(([item, share]) => ({ item, amount: share }));
}

/** What was settled of an item since its components were read reduces the first of them. */
function slicesOf(item: OpenItem): Slice[] {
  const last = Number.POSITIVE_INFINITY;
  const whole = { priority: last, rank: 2, sequence: last, open: item.open };
  const components = item.components ?? [whole];
  let used = components.reduce((sum, one) => sum + one.open, 0) - item.open;
  return components.map((component) => {
    const cut = Math.min(used, component.open);
    used -= cut;
    return { item, component, open: component.open - cut };
  });
}

function compareSlices({ item: a, component: x }: Slice, { item: b, component: y }: Slice): number {
  return (
    compareRank(x.priority, y.priority) ||
    compareRank(x.rank, y.rank) ||
    compareRank(x.sequence, y.sequence) ||
    compareAge(a, b)
  );
}

/** Two infinite ranks are equal. Subtracting them would not give zero. */
function compareRank(a: number, b: number): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * The floor of each share; the units that are left over go one by one, the largest share first and
 * of equal ones the oldest, and never above what is open.
 */
function inProportion(debts: readonly OpenItem[], amount: number): Allocation[] {
  const total = debts.reduce((sum, item) => sum + BigInt(item.open), 0n);
  if (total === 0n) return [];
  if (BigInt(amount) >= total) return inOrder(debts, amount);
  const shares = debts.map((item) => ({
    item,
    amount: Number((BigInt(item.open) * BigInt(amount)) / total),
  }));
  let left = amount - shares.reduce((sum, share) => sum + share.amount, 0);
  const largestFirst = shares.toSorted((a, b) => b.item.open - a.item.open);
  for (const share of largestFirst) {
    if (left === 0) break;
    if (share.amount === share.item.open) continue;
    share.amount += 1;
    left -= 1;
  }
  for (const share of shares) share.item.open -= share.amount;
  return shares.filter((share) => share.amount > 0);
}
