// What an owner may know of a subscription that had another owner before: its own days only.
import { isOwnValue } from './facts.ts';
import type { Transfer, Variant } from './subscription.ts';
import type { SubscriptionView } from './views-store.ts';

/** Dates as YYYY-MM-DD. */
export type OwnDays = {
  /** -infinity for the first owner: its meter may have been installed before its first day. */
  from: string;
  /** The day of the transfer, whose readings both owners need; infinity for the present owner. */
  to: string;
};

type Owned = { party_id: number; transfers: readonly Transfer[] };

/** The days on which a party owns the subscription, or owned it. */
export function ownDays({ party_id: ownerId, transfers }: Owned, partyId: number): OwnDays[] {
  const owners = [...transfers.map(({ fromPartyId }) => fromPartyId), ownerId];
  const days = ['-infinity', ...transfers.map(({ transferDate }) => transferDate), 'infinity'];
  return owners.flatMap((owner, index) =>
    owner === partyId ? [{ from: days[index] ?? '', to: days[index + 1] ?? '' }] : [],
  );
}

export function isOwnDay({ from, to }: OwnDays, date: string): boolean {
  return (from === '-infinity' || date >= from) && (to === 'infinity' || date <= to);
}

/** True if the usage that a reading closes was all measured on these days. */
export function beginsSince(
  from: string,
  reading: { reading_date: string; days: number | null },
): boolean {
  if (from === '-infinity') return true;
  const date = Temporal.PlainDate.from(reading.reading_date);
  return reading.days !== null && date.subtract({ days: reading.days }).toString() >= from;
}

/** The first day of the present owner; -infinity where there was none before. */
export function ownedSince({ transfers }: Pick<SubscriptionView, 'transfers'>): string {
  return transfers.at(-1)?.transferDate ?? '-infinity';
}

/**
 * The subscription as its present owner may see it. What has no dates and was given in another
 * owner's time is left out, and so are the other parties of its transfers.
 */
export function asOwnerSees<Row extends SubscriptionView>(row: Row, partyId: number): Row {
  const since = ownedSince(row);
  const own = { ...row, variants: row.variants.flatMap(plainValue) };
  if (since === '-infinity') return own;
  const isOver = ({ toDate }: { toDate?: string }) => toDate !== undefined && toDate <= since;
  const lastOf = <Step extends { fromDate: string }>(steps: readonly Step[], step: Step) =>
    step.fromDate > since || steps.findLast((one) => one.fromDate <= since) === step;
  return {
    ...own,
    billed_through: row.billed_through && (row.billed_through < since ? null : row.billed_through),
    description: null,
    documents: [],
    users: row.users.filter((user) => !isOver(user)),
    transfers: row.transfers.filter(
      ({ fromPartyId, toPartyId }) => fromPartyId === partyId || toPartyId === partyId,
    ),
    add_ons: row.add_ons.filter((one) => !isOver(one)).map((one) => from(since, one)),
    variants: own.variants.filter((one) => !isOver(one)).map((one) => from(since, one)),
    quantities: row.quantities
      .filter((one) => {
        const sameName = row.quantities.filter(({ name }) => name === one.name);
        return lastOf(sameName, one);
      })
      .map((one) => from(since, one)),
    plan_history: row.plan_history
      .filter((one) => lastOf(row.plan_history, one))
      .map((one) => from(since, one)),
    status_history: row.status_history
      .filter((one) => lastOf(row.status_history, one))
      .map((one) => from(since, one)),
  };
}

/** Without notes of operators. */
function plainValue(variant: Variant): Variant[] {
  if (!isOwnValue(variant)) return [];
  const { name, value, fromDate, toDate } = variant;
  return [
    {
      name,
      value,
      ...(fromDate === undefined ? {} : { fromDate }),
      ...(toDate === undefined ? {} : { toDate }),
    },
  ];
}

function from<Dated extends { fromDate?: string }>(since: string, dated: Dated): Dated {
  return dated.fromDate !== undefined && dated.fromDate < since
    ? { ...dated, fromDate: since }
    : dated;
}
