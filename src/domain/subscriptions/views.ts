// Subscriptions with all that is shown of them.
import type { Tx } from '../../base/db/pool.ts';
import { asOwnerSees, ownedSince } from './own-days.ts';
import {
  type LedgerView,
  listLedgerViews,
  listMeterViews,
  listPartyNames,
  listPlanNames,
  listReadingViews,
  listViews,
  type MeterView,
  type PartyName,
  type PlanName,
  type ReadingView,
  type SubscriptionView,
  type WantedDays,
} from './views-store.ts';

export type WholeSubscription = SubscriptionView & {
  /** The owner that looks at it and sees its own days only; null for operators. */
  viewerId: number | null;
  meters: readonly MeterView[];
  /** By id, shared by all subscriptions of a page. */
  parties: ReadonlyMap<number, PartyName>;
  plans: ReadonlyMap<number, PlanName>;
  /** Only where they were asked for. */
  readings: readonly ReadingView[] | undefined;
  ledger: readonly LedgerView[] | undefined;
};

export type Included = { readings: boolean; ledger: boolean };

/** Of each subscription; a statement or the list of readings has more. */
const entriesMax = 100;
const readingsMax = 100;

export async function wholeSubscriptions(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
  included: Included,
  viewerId: number | null,
): Promise<WholeSubscription[]> {
  if (ids.length === 0) return [];
  const reading = listViews(tx, tenantId, ids);
  const wanted: WantedDays = viewerId === null ? wholePast(ids) : sinceOwned(await reading);
  const ofParty = { entriesMax, partyId: viewerId };
  const [views, parties, plans, meters, readings, ledger] = await Promise.all([
    reading,
    listPartyNames(tx, tenantId, ids),
    listPlanNames(tx, tenantId, ids),
    listMeterViews(tx, tenantId, wanted),
    included.readings ? listReadingViews(tx, tenantId, wanted, readingsMax) : undefined,
    included.ledger ? listLedgerViews(tx, tenantId, ids, ofParty) : undefined,
  ]);
  const partyById = new Map(parties.map((party) => [party.party_id, party]));
  const planById = new Map(plans.map((plan) => [plan.plan_id, plan]));
  const metersOf = bySubscription(meters);
  const readingsOf = readings && bySubscription(readings);
  const ledgerOf = ledger && bySubscription(ledger);
  const whole = views.map((view) => ({
    ...view,
    viewerId,
    parties: partyById,
    plans: planById,
    meters: metersOf(view),
    readings: readingsOf?.(view),
    ledger: ledgerOf?.(view),
  }));
  return viewerId === null ? whole : whole.map((one) => asOwnerSees(one, viewerId));
}

function wholePast(ids: readonly number[]): WantedDays {
  return { ids, since: ids.map(() => '-infinity') };
}

function sinceOwned(views: readonly SubscriptionView[]): WantedDays {
  return { ids: views.map((view) => view.subscription_id), since: views.map(ownedSince) };
}

function bySubscription<Row extends { subscription_id: number }>(rows: readonly Row[]) {
  const groups = Map.groupBy(rows, (row) => row.subscription_id);
  return ({ subscription_id: id }: SubscriptionView): readonly Row[] => groups.get(id) ?? [];
}
