// What is overdue of those who are billed, item by item.
import type { Tx } from '../../base/db/pool.ts';
import type { BilledTerm } from './billed-terms-store.ts';
import type { BilledRow } from './inputs-store.ts';
import { listOpenings, listOverdue, type StandingRow } from './standings-store.ts';

export type Overdue = Map<number, { open: number; dueDate: string }[]>;

type Wanted = {
  billed: readonly BilledRow[];
  standings: readonly StandingRow[];
  /** Figures of the account that formulas name. */
  names: ReadonlySet<string>;
};

/**
 * By subscription, unpaid bills that are due and what is left of balances that were brought in from
 * elsewhere: of the owner whose bill it is, not of who had it before and kept what was owed.
 */
export async function overdueOf(
  tx: Tx,
  tenantId: number,
  term: BilledTerm,
  { billed, standings, names }: Wanted,
): Promise<Overdue> {
  if (!names.has('overdue') && !names.has('overdueAmountDays')) return new Map();
  const ids = standings.filter((row) => row.receivable > 0).map((row) => row.subscription_id);
  const rowOf = new Map(billed.map((row) => [row.subscription_id, row]));
  const isOwn = (item: { subscription_id: number; party_id: number }) => {
    const row = rowOf.get(item.subscription_id);
    return row !== undefined && holderOf(item.party_id, row) === row.party_id;
  };
  const bills = (await listOverdue(tx, tenantId, term, ids)).filter(isOwn);
  const openings = (await listOpenings(tx, tenantId, term, ids)).filter(isOwn);
  const overdue: Overdue = new Map();
  for (const { subscription_id: id, open, due_date: dueDate } of bills) {
    overdue.set(id, [...(overdue.get(id) ?? []), { open, dueDate }]);
  }
  const receivable = new Map(standings.map((row) => [row.subscription_id, row.receivable]));
  for (const { subscription_id: id, amount, due_date: dueDate } of openings) {
    if (dueDate >= term.end_date) continue;
    const items = overdue.get(id) ?? [];
    const billedOpen = items.reduce((sum, item) => sum + item.open, 0);
    const open = Math.min(amount, (receivable.get(id) ?? 0) - billedOpen);
    if (open > 0) overdue.set(id, [...items, { open, dueDate }]);
  }
  return overdue;
}

/** Who owes now what a party owed of a subscription: it may have gone to the next owner with it. */
function holderOf(partyId: number, { transfers }: BilledRow): number {
  let holder = partyId;
  for (const { fromPartyId, toPartyId, balanceHandling } of transfers ?? []) {
    if (fromPartyId === holder && balanceHandling === 'MoveToNew') holder = toPartyId;
  }
  return holder;
}
