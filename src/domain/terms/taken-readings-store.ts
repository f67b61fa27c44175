// Which readings are a term's own: from where the term before ended, up to where the next begins.
import { type RawBuilder, sql } from 'kysely';
import type { EligibleTerm } from './eligible-store.ts';

/** A Final term is for who had it first: what was read after a transfer is the next owner's. */
export function readUntil(
  term: EligibleTerm,
  lastReadingDate: Temporal.PlainDate,
): RawBuilder<unknown> {
  if (term.term_type !== 'Final') return sql`${lastReadingDate}::date`;
  return sql`least(${lastReadingDate}::date, (
    select min((t ->> 'transferDate')::date)
    from jsonb_array_elements(s.transfers) t
    where (t ->> 'transferDate')::date > coalesce(s.billed_through + 1, ${term.start_date}::date)
  ))`;
}

/**
 * Of a register, the reading that the term before took, or a Final term of the same days, which
 * billed their beginning.
 */
export function lastTaken(tenantId: number, term: EligibleTerm): RawBuilder<unknown> {
  return sql`(
    select o.reading_id, o.reading_date, o.value, o.reading_type, o.estimates
    from term_readings o
    join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
    where o.tenant_id = ${tenantId} and o.assignment_id = n.assignment_id
      and o.position = r.position
      and ((t.start_date, t.term_id) < (${term.start_date}::date, ${term.term_id})
        or (t.term_type = 'Final' and t.start_date = ${term.start_date}::date
          and t.term_id <> ${term.term_id} and t.status in ('Posted', 'Published')))
    order by o.reading_date desc, o.term_id desc
    limit 1
  )`;
}
