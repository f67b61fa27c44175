// Bills made in advance look back: what was used is billed by the next one.
import { type Sql, sql } from '../../base/db/sql.ts';
import { type EligibleTerm, hasUnbilledUsage } from './eligible-store.ts';

/**
 * Whether the bill of `s` in the term bills what is measured. In advance one without days before it
 * whose use is to be billed does not, unless nothing else is left of it: it takes no readings, so
 * that they are left for the next. Where plans also price use in its own term, readings are taken
 * as they come.
 */
export function billsUse(tenantId: number, term: EligibleTerm): Sql {
  if (term.term_type === 'Final') return sql`true`;
  const isOnly = isOnlyPrevious(tenantId, sql`${term.context_id}::bigint`);
  const isLeft = hasUnbilledUsage(tenantId, term);
  return sql`(not ${isOnly} or ${looksBack(tenantId, term)} or ${isLeft})`;
}

/** Whether a context bills in advance, and use is priced by rules that look back alone. */
export function isOnlyPrevious(tenantId: number, contextId: Sql): Sql {
  const ofContext = sql`n.tenant_id = ${tenantId} and n.context_id = ${contextId}`;
  const version = sql`plan_versions v on v.tenant_id = ${tenantId} and v.plan_id = n.plan_id`;
  const previous = sql.lit('$.componentRules[*] ? (@.window == "Previous")');
  const others = sql.lit(
    '$.componentRules[*] ? (!(@.window == "Previous")).* ? (@ like_regex "usage *[.]" flag "i")',
  );
  const values = sql.lit('$.valueFormulas[*].formula ? (@ like_regex "usage *[.]" flag "i")');
  return sql`(exists (
      select from pricing_contexts c
      where c.tenant_id = ${tenantId} and c.context_id = ${contextId}
        and not c.bills_after_period
    ) and exists (
      select from plans n join ${version} and v.definition @? ${previous} where ${ofContext}
    ) and not exists (
      select from plans n
      join ${version} and (v.definition @? ${others} or v.definition @? ${values})
      where ${ofContext}
    ))`;
}

/** True if `s` was Active on a day before the term whose usage is not billed yet. */
function looksBack(tenantId: number, term: EligibleTerm): Sql {
  const start = sql`${term.start_date}::date`;
  return sql`exists (
    select from (
      select case when cardinality(h.terms) is null or cardinality(h.terms) = 0
          then s.billed_through + 1
        when t.end_date >= ${start} then null
        when t.term_type = 'Final' and s.billed_through < t.end_date then s.billed_through + 1
        else t.start_date end as first_day
      from (select 1) one
      left join usage_histories h on h.tenant_id = ${tenantId}
        and h.subscription_id = s.subscription_id
      left join terms t on t.tenant_id = ${tenantId}
        and t.term_id = (h.terms[1] ->> 'termId')::bigint
    ) u
    where u.first_day < ${start} and is_active_between(s.status_history, u.first_day, ${start} - 1)
  )`;
}
