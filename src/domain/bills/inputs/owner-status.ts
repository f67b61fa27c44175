// What was billed to another owner of a subscription is not shown to the present one.

import type { OwnBill, StandingRow } from './account-status-store.ts';
import type { BilledRow } from './inputs-store.ts';

/** Those who are billed for the first time since they got back what they had before. */
export function returningOf(termEnd: string, billed: readonly BilledRow[]): BilledRow[] {
  return billed.filter((row) => {
    if (!row.transfers?.some(({ fromPartyId }) => fromPartyId === row.party_id)) return false;
    const since = ownedSince(termEnd, row);
    return since !== null && isNewOwner(row, since);
  });
}

/** How whom each bill is for stands, by subscription. */
export function ownStandings(
  termEnd: string,
  billed: readonly BilledRow[],
  standings: readonly StandingRow[],
  ownBills: readonly OwnBill[],
): Map<number, StandingRow> {
  const standingOf = new Map(standings.map((row) => [row.subscription_id, row]));
  const ownBillOf = new Map(ownBills.map((row) => [row.subscription_id, row]));
  for (const row of billed) {
    const id = row.subscription_id;
    const standing = standingOf.get(id);
    if (row.transfers === null || standing === undefined) continue;
    standingOf.set(id, ownStanding(termEnd, row, standing, ownBillOf.get(id)));
  }
  return standingOf;
}

/**
 * Of an owner who was billed nothing yet, the balance brought forward and the charges to compare
 * with are of somebody else; what was used belongs to the subscription, whoever paid for it. Who
 * had it before is told of the last bill of that time.
 */
function ownStanding(
  termEnd: string,
  row: BilledRow,
  standing: StandingRow,
  before: OwnBill | undefined,
): StandingRow {
  const since = ownedSince(termEnd, row);
  if (since === null || standing.history === null) return standing;
  const isNew = isNewOwner(row, since);
  const history = standing.history.map((entry, index) => {
    const isOwn = !isNew && (index === 0 || entry.endDate === undefined || entry.endDate >= since);
    if (isOwn) return entry;
    const { amount: _amount, ...rest } = entry;
    return { ...rest, isOfFormerOwner: true as const };
  });
  return isNew
    ? { ...standing, history, brought_forward: 0, ...before, billed: null }
    : { ...standing, history };
}

function isNewOwner({ billed_through: billed }: BilledRow, since: string): boolean {
  return billed === null || billed < since;
}

/** The day of the last transfer to whom the bill is for; null for the first owner. */
function ownedSince(termEnd: string, { transfers, handed_over: end }: BilledRow): string | null {
  const days = (transfers ?? [])
    .map(({ transferDate }) => transferDate)
    .filter((day) => day <= termEnd && (end === null || day < end));
  return days.length === 0 ? null : days.reduce((last, day) => (day > last ? day : last));
}
