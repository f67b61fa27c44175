// The overdue items of the billed owners.

import { storedDay } from '../../../base/days.ts';
import type { Tx } from '../../../base/db/pool.ts';
import type { Term } from '../../terms/store.ts';
import { type AccountStatusRow, listSettledLate, listUnpaid } from './account-status-store.ts';
import type { BilledRow } from './inputs-store.ts';

type Item = { open: number; dueDate: string };

/** Open until it was settled, or still open. */
export type OverdueItem = Item & { settledOn?: string };

export type Overdue = Map<number, OverdueItem[]>;

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
  const items = new Map<number, Item[]>();
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
  if (names.has('overdueAmountDays')) {
    for (const [id, item] of await settledLate(tx, tenantId, term, ownerOf)) {
      overdue.set(id, [...(overdue.get(id) ?? []), item]);
    }
  }
  return overdue;
}

/** What was overdue in the term and is settled since. */
async function settledLate(
  tx: Tx,
  tenantId: number,
  term: Term,
  ownerOf: ReadonlyMap<number, number>,
): Promise<[number, OverdueItem][]> {
  const after = Temporal.PlainDate.from(term.start_date).subtract({ days: 1 }).toString();
  const rows = await listSettledLate(tx, tenantId, [...ownerOf.keys()], { after });
  return rows.flatMap((row): [number, OverdueItem][] => {
    const { subscription_id: id, amount: open, due_date: dueDate, settled_on: settledOn } = row;
    const isOwn = row.party_id === ownerOf.get(id) && dueDate < term.end_date;
    return isOwn ? [[id, { open, dueDate, settledOn }]] : [];
  });
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
