// An open item: a bill, or another amount that is owed, such as a surcharge or an opening balance.
import type { ItemKey, ItemKind } from './book.ts';

export type OpenItem = ItemKey & {
  kind: 'Bill' | ItemKind;
  /** The dates of the bill, if the item takes the place of one: a surcharge does. */
  dueDate: string;
  issueDate: string;
  /** Minor units. Below zero the customer has a credit. */
  open: number;
  /** Of an item other than a bill: what it was charged for. */
  component: string | null;
  /** In the order in which the item is settled; only where the method asks for them. */
  components?: readonly ItemComponent[];
};

/** What is open of a component, and what it is sorted by; infinite where nothing was given. */
export type ItemComponent = {
  priority: number;
  /** 0 for a surcharge, 1 for a tax, 2 for anything else. */
  rank: number;
  sequence: number;
  open: number;
};

/** Of a payer whose payment names a subscription, whose items come first, or none. */
export function oldestFirst(items: readonly OpenItem[], subscriptionId: number | null): OpenItem[] {
  if (subscriptionId === null) return items.toSorted(compareAge);
  return items.toSorted(
    (a, b) =>
      Number(b.subscriptionId === subscriptionId) - Number(a.subscriptionId === subscriptionId) ||
      compareAge(a, b),
  );
}

/** By due date, issue date and bill; what belongs to a bill comes before the bill's own amount. */
export function compareAge(a: OpenItem, b: OpenItem): number {
  return (
    compareText(a.dueDate, b.dueDate) ||
    compareText(a.issueDate, b.issueDate) ||
    (a.billId ?? 0) - (b.billId ?? 0) ||
    (a.subscriptionId ?? 0) - (b.subscriptionId ?? 0) ||
    (a.itemId ?? Number.MAX_SAFE_INTEGER) - (b.itemId ?? Number.MAX_SAFE_INTEGER)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
