// What was billed to another owner of a subscription is not shown to the present one.

import type { AccountStatusRow, OwnBill } from './account-status-store.ts';
import type { BilledRow } from './inputs-store.ts';

/** Owners billed for the first time since the subscription was transferred back to them. */
export function returningOf(termEnd: string, billed: readonly BilledRow[]): BilledRow[] {
  return billed.filter((row) => {
    if (!row.transfers?.some(({ fromPartyId }) => fromPartyId === row.party_id)) return false;
    const since = ownedSince(termEnd, row);
    return since !== null && isNewOwner(row, since);
  });
}

/** Account status of the billed owner, per subscription. */
export function ownerStatuses(
  termEnd: string,
  billed: readonly BilledRow[],
  accountStatuses: readonly AccountStatusRow[],
  ownBills: readonly OwnBill[],
): Map<number, AccountStatusRow> {
  const accountStatusOf = new Map(accountStatuses.map((row) => [row.subscription_id, row]));
  const ownBillOf = new Map(ownBills.map((row) => [row.subscription_id, row]));
  for (const row of billed) {
    const id = row.subscription_id;
    const accountStatus = accountStatusOf.get(id);
    if (row.transfers === null || accountStatus === undefined) continue;
    accountStatusOf.set(id, ownerStatus(termEnd, row, accountStatus, ownBillOf.get(id)));
  }
  return accountStatusOf;
}

/**
 * If the owner was not billed yet, the balance brought forward and the charges to compare with are
 * those of another owner, and do not apply. Usage belongs to the subscription, whoever paid for it.
 * An owner who had the subscription before gets the last bill of that time.
 */
function ownerStatus(
  termEnd: string,
  row: BilledRow,
  accountStatus: AccountStatusRow,
  before: OwnBill | undefined,
): AccountStatusRow {
  const since = ownedSince(termEnd, row);
  if (since === null || accountStatus.history === null) return accountStatus;
  const isNew = isNewOwner(row, since);
  const history = accountStatus.history.map((entry, index) => {
    const isOwn = !isNew && (index === 0 || entry.endDate === undefined || entry.endDate >= since);
    if (isOwn) return entry;
    const { amount: _amount, ...rest } = entry;
    return { ...rest, isOfFormerOwner: true as const };
  });
  // The last bill was for the previous owner, so every payment of a new owner is later.
  const none = { brought_forward: 0, payments: accountStatus.received };
  return isNew
    ? { ...accountStatus, history, ...none, ...before, billed: null }
    : { ...accountStatus, history };
}

function isNewOwner({ billed_through: billed }: BilledRow, since: string): boolean {
  return billed === null || billed < since;
}

/** The day of the last transfer to the billed owner; null for the first owner. */
function ownedSince(termEnd: string, { transfers, handed_over: end }: BilledRow): string | null {
  const days = (transfers ?? [])
    .map(({ transferDate }) => transferDate)
    .filter((day) => day <= termEnd && (end === null || day < end));
  return days.length === 0 ? null : days.reduce((last, day) => (day > last ? day : last));
}
