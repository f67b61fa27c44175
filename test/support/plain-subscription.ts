// Subscriptions as rows, for tests that are about something else than making them.
import type { Scene } from './scene.ts';

export type PlainSubscription = {
  subscriptionId: number;
  number: string;
};

/** Active subscriptions of the workspace's first context and plan, of party 1 and its account. */
export async function insertSubscriptions(
  scene: Scene,
  tenantId: number,
  count: number,
  facts: {
    connectionDate?: string;
    billedThrough?: string | null;
    batchId?: number;
    city?: string;
  } = {},
): Promise<PlainSubscription[]> {
  const {
    connectionDate = '2026-01-01',
    billedThrough = null,
    batchId = 1,
    city = 'Lahore',
  } = facts;
  const { rows } = await scene.sql.query<{ subscription_id: string; subscription_number: string }>(
    `with taken as (
       insert into counters as c (tenant_id, series, last_number) values ($1, 'subscription', $2)
       on conflict (tenant_id, series) do update set last_number = c.last_number + $2
       returning last_number
     ), plan as (
       select context_id, plan_id from plans where tenant_id = $1 order by plan_id limit 1
     )
     insert into subscriptions (tenant_id, subscription_id, subscription_number, context_id,
       plan_id, batch_id, account_id, party_id, status, connection_date, billed_through, address,
       plan_history, status_history, users, search_text, created_at, created_by, modified_at,
       modified_by, ts)
     select $1, n, 'SUB-' || lpad(n::text, 8, '0'), plan.context_id, plan.plan_id, $3, 1, 1,
       'Active', $4::text::date, $5::text::date, jsonb_build_object('city', $6::text, 'street', 'Street ' || n),
       jsonb_build_array(jsonb_build_object('planId', plan.plan_id, 'fromDate', $4::text)),
       jsonb_build_array(jsonb_build_object('status', 'Active', 'fromDate', $4::text)),
       '[]', '', now(), 'test', now(), 'test', 1
     from taken, plan, generate_series(taken.last_number - $2 + 1, taken.last_number) n
     returning subscription_id, subscription_number`,
    [tenantId, count, batchId, connectionDate, billedThrough, city],
  );
  return rows
    .map((row) => ({
      subscriptionId: Number(row.subscription_id),
      number: row.subscription_number,
    }))
    .sort((a, b) => a.subscriptionId - b.subscriptionId);
}
