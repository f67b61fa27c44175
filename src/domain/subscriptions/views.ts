// Subscriptions with all that is shown of them.
import type { Tx } from '../../base/db/pool.ts';
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
} from './views-store.ts';

export type WholeSubscription = SubscriptionView & {
  meters: readonly MeterView[];
  /** By id, shared by all subscriptions of a page. */
  parties: ReadonlyMap<number, PartyName>;
  plans: ReadonlyMap<number, PlanName>;
  /** Only where they were asked for. */
  readings: readonly ReadingView[] | undefined;
  ledger: readonly LedgerView[] | undefined;
};

export type Included = { readings: boolean; ledger: boolean };

/** Of each subscription; who wants more asks for a statement or for readings. */
const entriesMax = 100;
const readingsMax = 100;

export async function wholeSubscriptions(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
  included: Included,
): Promise<WholeSubscription[]> {
  if (ids.length === 0) return [];
  const [views, parties, plans, meters, readings, ledger] = await Promise.all([
    listViews(tx, tenantId, ids),
    listPartyNames(tx, tenantId, ids),
    listPlanNames(tx, tenantId, ids),
    listMeterViews(tx, tenantId, ids),
    included.readings ? listReadingViews(tx, tenantId, ids, readingsMax) : undefined,
    included.ledger ? listLedgerViews(tx, tenantId, ids, entriesMax) : undefined,
  ]);
  const partyById = new Map(parties.map((party) => [party.party_id, party]));
  const planById = new Map(plans.map((plan) => [plan.plan_id, plan]));
  const metersOf = bySubscription(meters);
  const readingsOf = readings && bySubscription(readings);
  const ledgerOf = ledger && bySubscription(ledger);
  return views.map((view) => ({
    ...view,
    parties: partyById,
    plans: planById,
    meters: metersOf(view),
    readings: readingsOf?.(view),
    ledger: ledgerOf?.(view),
  }));
}

function bySubscription<Row extends { subscription_id: number }>(rows: readonly Row[]) {
  const groups = Map.groupBy(rows, (row) => row.subscription_id);
  return ({ subscription_id: id }: SubscriptionView): readonly Row[] => groups.get(id) ?? [];
}
