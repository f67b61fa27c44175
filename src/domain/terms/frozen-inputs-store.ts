// The inputs that were frozen with a posted bill, of one of its subscriptions.
import { type Sql, sql } from '../../base/db/sql.ts';

/**
 * To be joined laterally: `tenant_id` and `frozen` of a subscription's posted bill of a term, on
 * which it is alone or with others. Contents are looked up by the key of each bill: joined, all of
 * them would be read.
 */
export function frozenInputs(tenantId: number, of: { subscriptionId: Sql; termId: Sql }): Sql {
  const isItsBill = sql`b.tenant_id = ${tenantId} and b.term_id = ${of.termId}
        and b.status in ('Posted', 'Published')`;
  const contents = sql`cross join lateral (
        select c.frozen from bill_contents c
        where c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
        limit 1
      ) k`;
  return sql`(
      select b.tenant_id, k.frozen from bills b
      ${contents}
      where ${isItsBill} and b.subscription_id = ${of.subscriptionId}
      union all
      select o.tenant_id, e.frozen from bill_parts o
      join bills b on b.bill_id = o.bill_id and ${isItsBill}
      ${contents}
      cross join lateral json_array_elements(k.frozen -> 'subscriptions') as e (frozen)
      join subscriptions u on u.tenant_id = ${tenantId} and u.subscription_id = o.subscription_id
        and u.subscription_number = e.frozen -> 'connection' ->> 'connectionNumber'
      where o.tenant_id = ${tenantId} and o.subscription_id = ${of.subscriptionId}
      limit 1
    )`;
}
