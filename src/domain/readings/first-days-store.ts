// The days of the units that a meter counted from its installation to the first reading after it.

import { plainArray } from '../../base/db/array-text.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';

/**
 * The days over which the units of a reading `o` of a term `t` were used. Readings show the end of
 * their day, and an installation shows the beginning: its day counts if it was billed. So the days
 * are at most those of the bill; before the bill is posted, those since the period began.
 */
export function daysOfUnits(tenantId: number): Sql {
  const isFirst = sql`o.previous_type = 'Installation' and o.reading_date > o.previous_date`;
  const daysSince = (start: Sql) =>
    sql`case when o.reading_date >= ${start} then o.reading_date - ${start} + 1 end`;
  // A term that is billed in advance bills the units of the period before it.
  const periodBefore = sql`(t.start_date - age(t.end_date + 1, t.start_date))::date`;
  return sql`case when ${isFirst} then least(o.reading_date - o.previous_date + 1, (
      select case when c.bills_after_period
        then coalesce(${billedDays(tenantId)}, ${daysSince(sql`t.start_date`)})
        else ${daysSince(periodBefore)} end
      from pricing_contexts c
      where c.tenant_id = ${tenantId} and c.context_id = t.context_id
    ))
    else o.reading_date - o.previous_date end`;
}

/** The days that the term of reading `o` has billed of its subscription; null if none. */
function billedDays(tenantId: number): Sql {
  const isBill = sql`b.tenant_id = ${tenantId} and b.term_id = o.term_id
    and b.status in ('Posted', 'Published')`;
  return sql`(
    select b.days from bills b
    where ${isBill} and b.subscription_id = o.subscription_id and b.days > 0
    union all
    select p.days from bill_parts p
    join bills b on b.bill_id = p.bill_id and ${isBill}
    where p.tenant_id = ${tenantId} and p.subscription_id = o.subscription_id and p.days > 0
    limit 1
  )`;
}

/** The first reading after an installation that a term took: its day, and the days of its units. */
export type FirstUnits = { day: number; days: number };

/** In the order in which they are asked for; undefined where no term has taken one yet. */
export async function findFirstUnits(
  tx: Tx,
  tenantId: number,
  registers: readonly { assignmentId: number; position: number }[],
): Promise<(FirstUnits | undefined)[]> {
  const { rows } = await sql<FirstUnits & { at: number }>`
    select g.ordinality as at, f.day, f.days
    from unnest(
      ${plainArray(registers.map((one) => one.assignmentId))}::bigint[],
      ${plainArray(registers.map((one) => one.position))}::smallint[]
    ) with ordinality as g (assignment_id, position, ordinality)
    cross join lateral (
      select o.reading_date - date '1970-01-01' as day, ${daysOfUnits(tenantId)} as days
      from term_readings o
      join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
      where o.tenant_id = ${tenantId} and o.assignment_id = g.assignment_id
        and o.position = g.position and o.previous_type = 'Installation'
        and o.reading_type <> 'Installation'
      order by o.reading_date desc, o.term_id desc
      limit 1
    ) f
  `.execute(tx);
  const found: (FirstUnits | undefined)[] = registers.map(() => undefined);
  for (const { at, day, days } of rows) found[at - 1] = { day, days };
  return found;
}
