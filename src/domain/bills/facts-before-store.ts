// What bills of the term before knew only in their own moment, out of the inputs frozen with them.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { AccountFacts, ConnectionFacts, Facts, MeterFacts } from '../rating/facts.ts';
import { withContents } from './contents-store.ts';

export type FactsBefore = {
  subscription_id: number;
  account: AccountFacts | null;
  is_first_bill: boolean;
  connection_inputs: ConnectionFacts['connectionInputs'];
  quantities: ConnectionFacts['unmeteredInputs'];
  meters: readonly MeterFacts[] | null;
  carried_units: Facts['carriedUnits'];
  estimates_before: Facts['estimatesBefore'];
};

/** Of each subscription, those of its posted bill of a term, alone on it or with others. */
export async function listFactsBefore(
  tx: Tx,
  tenantId: number,
  before: readonly { subscriptionId: number; termId: number }[],
): Promise<FactsBefore[]> {
  if (before.length === 0) return [];
  const isItsBill = sql`b.tenant_id = ${tenantId} and b.term_id = w.term_id
        and b.status in ('Posted', 'Published')`;
  const { rows } = await sql<FactsBefore>`
    select w.subscription_id, f.facts -> 'account' as account,
      coalesce((f.facts -> 'connection' ->> 'isFirstBill')::boolean, false) as is_first_bill,
      f.facts -> 'connection' -> 'connectionInputs' as connection_inputs,
      f.facts -> 'connection' -> 'unmeteredInputs' as quantities,
      f.facts -> 'meters' as meters, f.facts -> 'carriedUnits' as carried_units,
      f.facts -> 'estimatesBefore' as estimates_before
    from unnest(
      ${before.map((one) => one.subscriptionId)}::bigint[],
      ${before.map((one) => one.termId)}::bigint[]
    ) as w (subscription_id, term_id)
    cross join lateral (
      select k.facts from bills b
      ${withContents}
      where ${isItsBill} and b.subscription_id = w.subscription_id
      union all
      select e.facts from bill_parts p
      join bills b on b.bill_id = p.bill_id and ${isItsBill}
      ${withContents}
      cross join lateral json_array_elements(k.facts -> 'subscriptions') as e (facts)
      join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
        and s.subscription_number = e.facts -> 'connection' ->> 'connectionNumber'
      where p.tenant_id = ${tenantId} and p.subscription_id = w.subscription_id
      limit 1
    ) f
  `.execute(tx);
  return rows;
}
