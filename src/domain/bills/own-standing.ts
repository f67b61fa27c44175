// What was billed to another owner of a subscription is not told to the one who has it now.
import type { BilledRow } from './inputs-store.ts';
import type { StandingRow } from './standings-store.ts';

/**
 * How whom the bill is for stands. Of an owner who was billed nothing yet, the balance brought
 * forward and the charges to compare with are of somebody else; what was used belongs to the
 * subscription, whoever paid for it.
 */
export function ownStanding(termEnd: string, row: BilledRow, standing: StandingRow): StandingRow {
  const since = ownedSince(termEnd, row);
  if (since === null || standing.history === null) return standing;
  const isNew = row.billed_through === null || row.billed_through < since;
  const history = standing.history.map((entry, index) => {
    const isOwn = !isNew && (index === 0 || entry.endDate === undefined || entry.endDate >= since);
    if (isOwn) return entry;
    const { amount: _amount, ...rest } = entry;
    return rest;
  });
  return isNew
    ? { ...standing, history, brought_forward: 0, billed: null }
    : { ...standing, history };
}

/** The day of the last transfer to whom the bill is for; null for the first owner. */
function ownedSince(termEnd: string, { transfers, handed_over: end }: BilledRow): string | null {
  const days = (transfers ?? [])
    .map(({ transferDate }) => transferDate)
    .filter((day) => day <= termEnd && (end === null || day < end));
  return days.length === 0 ? null : days.reduce((last, day) => (day > last ? day : last));
}
