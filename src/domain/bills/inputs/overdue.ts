// What is overdue of those who are billed, item by item.

import { storedDay } from '../../../base/days.ts';
import type { Tx } from '../../../base/db/pool.ts';
import type { Term } from '../../terms/store.ts';
import { type AccountStatusRow, listUnpaid } from './account-status-store.ts';
import type { BilledRow } from './inputs-store.ts';

type Item = { open: number; dueDate: string };

export type Overdue = Map<number, Item[]>;

type Wanted = {
  billed: readonly BilledRow[];
  accountStatuses: readonly AccountStatusRow[];
  /** Figures of the account that formulas name. */
  names: ReadonlySet<string>;
};

/**
 * By subscription: unpaid bills and other items that are due. Only of the billed owner, not of a
 * former owner who kept the balance.
 */
export async function overdueOf(
  tx: Tx,
  tenantId: number,
  term: Term,
  { billed, accountStatuses, names }: Wanted,
): Promise<Overdue> {
  if (!names.has('overdue') && !names.has('overdueAmountDays')) return new Map();
  const ids = accountStatuses.filter((row) => row.receivable > 0).map((row) => row.subscription_id);
  const ownerOf = new Map(billed.map((row) => [row.subscription_id, row.party_id]));
  const items: Overdue = new Map();
  for (const row of await listUnpaid(tx, tenantId, ids)) {
    const { subscription_id: id, open, due_date: dueDate } = row;
    if (row.party_id !== ownerOf.get(id)) continue;
    items.set(id, [...(items.get(id) ?? []), { open, dueDate }]);
  }
  const receivable = new Map(accountStatuses.map((row) => [row.subscription_id, row.receivable]));
  const overdue: Overdue = new Map();
  for (const [id, known] of items) {
    const open = stillOpen(known, receivable.get(id) ?? 0);
    const due = open.filter(({ dueDate }) => dueDate < term.end_date);
    overdue.set(id, due);
  }
  return overdue;
}

/**
 * What is credited, by a bill below zero or from elsewhere, settles what fell due first: no more is
 * open than is owed in all.
 */
function stillOpen(items: readonly Item[], owed: number): Item[] {
  let credit = items.reduce((sum, { open }) => sum + open, 0) - owed;
  const oldestFirst = items.toSorted((a, b) => storedDay(a.dueDate) - storedDay(b.dueDate));
  return oldestFirst.flatMap(({ open, dueDate }) => {
    const settled = Math.min(open, Math.max(0, credit));
    credit -= settled;
    return settled < open ? [{ open: open - settled, dueDate }] : [];
  });
}
