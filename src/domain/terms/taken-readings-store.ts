// Which readings are a term's own: from where the term before ended, up to where the next begins.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import { type EligibleTerm, firstTransfer, handedOver } from './eligible-store.ts';

/** What was read after a transfer is the next owner's, also in the days of grace. */
export function readUntil(
  term: EligibleTerm,
  lastReadingDate: Temporal.PlainDate,
): RawBuilder<unknown> {
  if (term.term_type === 'Final') return sql`least(${lastReadingDate}::date, ${handedOver(term)})`;
  const after = firstTransfer(sql`${term.end_date}::date`);
  return sql`case when s.transferred_on > ${term.end_date}::date
    then least(${lastReadingDate}::date, ${after}) else ${lastReadingDate}::date end`;
}

/** Of a register, the reading that the term before took. */
export function lastTaken(tenantId: number, term: EligibleTerm): RawBuilder<unknown> {
  return sql`(
    select o.reading_id, o.reading_date, o.value, o.reading_type, o.estimates
    from term_readings o
    join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
    where o.tenant_id = ${tenantId} and o.assignment_id = n.assignment_id
      and o.position = r.position and ${isBefore(tenantId, term)}
    order by o.reading_date desc, o.term_id desc
    limit 1
  )`;
}

/**
 * Whether the readings `o` of a term `t` are from before the term: it was over when this one began,
 * or has billed them. One of the same days that has not is beside it, and the first to be posted
 * bills what both have read.
 */
export function isBefore(tenantId: number, term: EligibleTerm): RawBuilder<unknown> {
  return sql`(t.end_date < ${term.start_date}::date
    or (t.term_id <> ${term.term_id} and ${hasBilled(tenantId, sql`o.subscription_id`)}))`;
}

/** Whether a term `t` has posted a bill of a subscription: looked up, not hashed of all bills. */
export function hasBilled(
  tenantId: number,
  subscriptionId: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(exists (
      select from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = ${subscriptionId}
        and b.term_id = t.term_id and b.status in ('Posted', 'Published')
      offset 0
    )
    or exists (
      select from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        and b.term_id = t.term_id and b.status in ('Posted', 'Published')
      where p.tenant_id = ${tenantId} and p.subscription_id = ${subscriptionId}
      offset 0
    ))`;
}

/** The day of the last reading that a term has taken, YYYY-MM-DD. */
export async function findLastLocked(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    select max(reading_date) as last from term_readings
    where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
  return rows[0]?.last ?? null;
}

export async function countLocked(tx: Tx, tenantId: number, termId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from term_readings
    where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
