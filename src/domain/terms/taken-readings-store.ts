// Which readings are a term's own: from where the term before ended, up to where the next begins.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { type EligibleTerm, firstTransfer, handedOver } from './eligible-store.ts';
import { isOnlyPrevious } from './look-back-store.ts';

/** What was read after a transfer is the next owner's, also in the days of grace. */
export function readUntil(
  tenantId: number,
  term: EligibleTerm,
  lastReadingDate: Temporal.PlainDate,
): Sql {
  if (term.term_type === 'Final') {
    return sql`least(${lastReadingDate}::date, ${handedOver(tenantId, term)})`;
  }
  const after = firstTransfer(sql`${term.end_date}::date`);
  return sql`case when s.transferred_on > ${term.end_date}::date
    then least(${lastReadingDate}::date, ${after}) else ${lastReadingDate}::date end`;
}

/** Of a register, the reading that the term before took. */
export function lastTaken(tenantId: number, term: EligibleTerm): Sql {
  return sql`(${lastOf(
    tenantId,
    sql`select ${takenColumns}
      from term_readings o
      join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
      where o.tenant_id = ${tenantId} and o.assignment_id = n.assignment_id
        and o.position = r.position and ${isBefore(tenantId, term)}`,
  )})`;
}

/** Of readings `o` of a term `t`. */
export const takenColumns = sql`o.tenant_id, o.term_id, o.subscription_id, o.assignment_id,
  o.position, o.previous_date, o.reading_id, o.reading_date, o.value, o.reading_type, o.estimates,
  t.end_date`;

/**
 * The last of readings `o` that terms took of a register, each with the end of its term. Those
 * before it are looked at only if it was passed over.
 */
export function lastOf(tenantId: number, taken: Sql): Sql {
  const newest = sql`order by o.reading_date desc, o.term_id desc limit 1`;
  const isBilled = sql`not ${isPassedOver(tenantId)}`;
  return sql`
    select * from (${taken} ${newest}) o
    where o.tenant_id = ${tenantId} and ${isBilled}
    union all
    (select * from (${taken} offset 0) o
    where o.tenant_id = ${tenantId} and ${isBilled} ${newest})
    limit 1`;
}

/**
 * True if this locked reading was never billed: its bill was skipped, and a later bill started from
 * an earlier reading, though not from one before the reading that this one begins from.
 */
function isPassedOver(tenantId: number): Sql {
  const ownBill = hasPosted(tenantId, 'o.term_id', sql`o.subscription_id`, () => sql`true`);
  const billOfDay = hasPosted(tenantId, 'e.term_id', sql`o.subscription_id`, (part) => {
    const [to, through] = [sql.ref(`${part}.billed_to`), sql.ref(`${part}.previously_billed_to`)];
    return sql`${to} >= o.end_date and coalesce(${through}, '-infinity') < o.end_date`;
  });
  return sql`(exists (
      select from (
        select e.term_id from term_readings e
        join terms t on t.tenant_id = ${tenantId} and t.term_id = e.term_id
        where e.tenant_id = ${tenantId} and e.assignment_id = o.assignment_id
          and e.position = o.position and e.term_id <> o.term_id
          and e.reading_date >= o.previous_date and e.reading_date < o.reading_date
          and t.end_date >= o.end_date
        offset 0
      ) e
      where ${billOfDay}
    )
    and not ${ownBill})`;
}

/**
 * True if the readings `o` of a term `t` are from before the term: it was over when this one began,
 * or has billed them. If both terms have the same days and neither has billed, the first to be
 * posted bills the readings of both.
 */
export function isBefore(tenantId: number, term: EligibleTerm): Sql {
  return sql`(t.end_date < ${term.start_date}::date
    or (t.term_id <> ${term.term_id} and ${hasBilled(tenantId, sql`o.subscription_id`)}))`;
}

/**
 * True if the days of a bill `b` are billed: also those of a cancelled bill that is not to be
 * billed again.
 */
export function isBilledOnce(tenantId: number): Sql {
  return sql`(b.status in ('Posted', 'Published') or (b.status = 'Cancelled' and exists (
    select from credit_notes n
    where n.tenant_id = ${tenantId} and n.bill_id = b.bill_id and n.cancels_bill
      and n.rebill_term_id is null
  )))`;
}

/** Whether a term `t` has posted a bill of a subscription. */
export function hasBilled(tenantId: number, subscriptionId: Sql): Sql {
  return hasPosted(tenantId, 't.term_id', subscriptionId, () => sql`true`);
}

/** Bills of a term and a subscription are looked up, not hashed of all bills. */
function hasPosted(
  tenantId: number,
  termId: string,
  subscriptionId: Sql,
  isWanted: (part: 'b' | 'p') => Sql,
): Sql {
  const isItsBill = sql`b.term_id = ${sql.ref(termId)} and ${isBilledOnce(tenantId)}`;
  return sql`(exists (
      select from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = ${subscriptionId}
        and ${isItsBill} and ${isWanted('b')}
      offset 0
    )
    or exists (
      select from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id and ${isItsBill}
      where p.tenant_id = ${tenantId} and p.subscription_id = ${subscriptionId}
        and ${isWanted('p')}
      offset 0
    ))`;
}

/** A register and a day of it, as a statement names them. */
type RegisterDay = { assignmentId: string; position: string; day: string };

/**
 * What a register begins from that no term read: the reading of a day, or the installation. What it
 * counted on days that were billed without it is still to be billed.
 */
export function readBefore(
  tenantId: number,
  names: RegisterDay & { subscriptionId: string },
  isWanted: Sql,
): Sql {
  return sql`(
    select i.reading_id, i.reading_date, i.value, i.reading_type
    from readings i
    where i.tenant_id = ${tenantId} and i.assignment_id = ${sql.ref(names.assignmentId)}
      and i.position = ${sql.ref(names.position)} and i.status = 'Accepted'
      and ${isWanted}
      and (i.reading_type = 'Installation' or (i.reading_date <= ${sql.ref(names.day)}
        and not ${isTooLate(tenantId, names.subscriptionId)}))
    order by i.reading_date desc, i.reading_id desc
    limit 1
  )`;
}

/**
 * Whether the day of reading `i` was billed here by a term that had looked before it came, or that
 * bills no use of its own days. A highest load is of its own term, and of no later one.
 */
function isTooLate(tenantId: number, subscriptionId: string): Sql {
  const isPosted = sql`b.tenant_id = ${tenantId} and ${isBilledOnce(tenantId)}`;
  return sql`(exists (
        select from (
          select b.term_id, b.previously_billed_to, b.billed_to from bills b
          where ${isPosted} and b.subscription_id = ${sql.ref(subscriptionId)}
          union all
          select b.term_id, p.previously_billed_to, p.billed_to from bill_parts p
          join bills b on b.bill_id = p.bill_id and ${isPosted}
          where p.tenant_id = ${tenantId} and p.subscription_id = ${sql.ref(subscriptionId)}
        ) o
        join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
        where coalesce(o.previously_billed_to, t.start_date - 1) < i.reading_date
          and o.billed_to >= i.reading_date
          and (coalesce(t.readings_posted_at < i.modified_at, true)
            or ${isOnlyPrevious(tenantId, sql`t.context_id`)})
      ) and not exists (
        select from meter_assignments a
        join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
        join meter_registers k on k.tenant_id = ${tenantId} and k.position = i.position
          and k.meter_type_id = m.meter_type_id and k.kind = 'Demand'
        where a.tenant_id = ${tenantId} and a.assignment_id = i.assignment_id
      ))`;
}

/** True if reading `e` shows that a register rolled over between two days. */
export function isTurn(names: RegisterDay, until: Sql): Sql {
  return sql`(e.assignment_id = ${sql.ref(names.assignmentId)}
    and e.position = ${sql.ref(names.position)} and e.status = 'Accepted' and e.rollover
    and e.reading_date > ${sql.ref(names.day)} and e.reading_date <= ${until})`;
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
