// Plans that were taken on days of a bill after it was made: the next one has the difference.
import { type Sql, sql } from '../../base/db/sql.ts';
import { frozenInputs } from './frozen-inputs-store.ts';

/**
 * Whether a plan of a subscription `s` began on a billed day, and the inputs frozen with its newest
 * bill do not know of it. Bills are looked up one by one: this is asked of few.
 */
export function isPlanOther(tenantId: number): Sql {
  const frozen = frozenInputs(tenantId, {
    subscriptionId: sql`s.subscription_id`,
    termId: sql`(h.terms[1] ->> 'termId')::bigint`,
  });
  const day = sql`(p ->> 'fromDate')::date`;
  return sql`exists (
    select from usage_histories h
    cross join lateral ${frozen} f
    cross join lateral jsonb_array_elements(s.plan_history) p
    join plans n on n.tenant_id = ${tenantId} and n.plan_id = (p ->> 'planId')::bigint
    where h.tenant_id = ${tenantId} and h.subscription_id = s.subscription_id
      and ${day} <= s.billed_through
      and not exists (
        select from json_array_elements(f.frozen -> 'connection' -> 'tariffHistory') t
        where t ->> 'tariffCode' = n.code and t ->> 'fromDate' = to_char(${day}, 'DD/MM/YYYY')
      )
  )`;
}
