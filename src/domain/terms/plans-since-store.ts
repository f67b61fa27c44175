// Plans that were taken on days of a bill after it was made: the next one has the difference.
import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a plan of a subscription `s` began on a billed day, and the inputs frozen with its newest
 * bill do not know of it. Bills are looked up one by one: this is asked of few.
 */
export function isPlanOther(tenantId: number): RawBuilder<unknown> {
  const isPosted = sql`b.tenant_id = ${tenantId} and b.status in ('Posted', 'Published')
        and b.term_id = (h.terms[1] ->> 'termId')::bigint`;
  const contents = sql`cross join lateral (
        select c.facts from bill_contents c
        where c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
        limit 1
      ) k`;
  const day = sql`(p ->> 'fromDate')::date`;
  return sql`exists (
    select from usage_histories h
    cross join lateral (
      select k.facts from bills b
      ${contents}
      where ${isPosted} and b.subscription_id = s.subscription_id
      union all
      select e.facts from bill_parts o
      join bills b on b.bill_id = o.bill_id and ${isPosted}
      ${contents}
      cross join lateral json_array_elements(k.facts -> 'subscriptions') as e (facts)
      where o.tenant_id = ${tenantId} and o.subscription_id = s.subscription_id
        and e.facts -> 'connection' ->> 'connectionNumber' = s.subscription_number
      limit 1
    ) f
    cross join lateral jsonb_array_elements(s.plan_history) p
    join plans n on n.tenant_id = ${tenantId} and n.plan_id = (p ->> 'planId')::bigint
    where h.tenant_id = ${tenantId} and h.subscription_id = s.subscription_id
      and ${day} <= s.billed_through
      and not exists (
        select from json_array_elements(f.facts -> 'connection' -> 'tariffHistory') t
        where t ->> 'tariffCode' = n.code and t ->> 'fromDate' = to_char(${day}, 'DD/MM/YYYY')
      )
  )`;
}
