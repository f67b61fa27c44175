// Registers that a term has not read yet: what each begins from, and what came in since.

import { columnOr } from '../../base/db/searchable.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import {
  type EligibleTerm,
  handedOver,
  isBilledByMeter,
  isEligible,
  offSince,
  planOn,
} from './eligible-store.ts';
import { billsUse } from './look-back-store.ts';
import { lastTaken, readBefore, readUntil } from './taken-readings-store.ts';

export type LockRange = { firstId: number; lastId: number };

export type LockOptions = {
  range: LockRange;
  lastReadingDate: Temporal.PlainDate;
  /** Whether estimates will do, also those that another term has made of the same days. */
  isEstimated: boolean;
};

/**
 * The registers of a range of subscriptions without a locked reading of the term. Each has the
 * reading it begins from (`p`: the last that an earlier term locked; else that of the last day
 * billed elsewhere, or of the installation), and the newest since (`c`), whatever its status. A
 * register is unread if it has no newer reading and no removal ends it: a meter removed after the
 * days the term reads was installed then. Each register is looked up by itself: a plan made while
 * the tables were small must still be right when they have grown.
 */
export function openRegisters(
  tenantId: number,
  term: EligibleTerm,
  { range, lastReadingDate, isEstimated }: LockOptions,
): Sql {
  return sql`
    due as materialized (
      select s.subscription_id,
        coalesce(s.billed_through, ${term.start_date}::date - 1) as billed_through,
        ${readUntil(tenantId, term, lastReadingDate)} as read_until,
        least(${term.end_date}::date, ${handedOver(tenantId, term)} - 1) as last_day,
        least(${handedOver(tenantId, term)}, ${offSince(term.end_date)}) as off_since,
        ${planOn(sql`${term.end_date}::date`)} as plan_id
      from subscriptions s
      where ${isEligible(tenantId, term)} and ${isBilledByMeter(tenantId, term)}
        and s.subscription_id between ${range.firstId} and ${range.lastId}
        and ${billsUse(tenantId, term)}
    ),
    open_registers as materialized (
      select d.subscription_id, n.assignment_id, r.position, r.input, n.remove_date, n.mf,
        n.meter_id, d.off_since, d.plan_id,
        l.reading_id as stand_in_id,
        p.reading_id as previous_id, p.reading_date as previous_date, p.value as previous_value,
        p.reading_type as previous_type, p.estimates as previous_estimates,
        c.reading_id, c.reading_date, c.value, c.reading_type, c.rollover,
        case when ${isInReview(tenantId)} then 'Review' else c.status end as status,
        (c.reading_id is null and l.reading_id is null and (n.remove_date is null
          or n.remove_date > greatest(p.reading_date, least(d.read_until, ${term.end_date}::date))
        )) as is_unread
      from due d
      cross join lateral (
        select assignment_id, meter_id, mf, remove_date from meter_assignments
        where tenant_id = ${tenantId} and subscription_id = d.subscription_id
          and install_date <= d.last_day
        offset 0
      ) n
      cross join lateral (
        select position, input from assignment_registers
        where tenant_id = ${tenantId} and assignment_id = n.assignment_id and input is not null
        offset 0
      ) r
      left join lateral (
        select k.reading_id, k.is_stand_in from term_readings k
        where k.tenant_id = ${tenantId} and k.term_id = ${term.term_id}
          and k.subscription_id = d.subscription_id and k.assignment_id = n.assignment_id
          and k.position = r.position
        limit 1
      ) l on true
      left join lateral ${lastTaken(tenantId, term)} b on true
      left join lateral ${readBefore(
        tenantId,
        {
          subscriptionId: 'd.subscription_id',
          assignmentId: 'n.assignment_id',
          position: 'r.position',
          day: 'd.billed_through',
        },
        sql`b.reading_id is null`,
      )} f on true
      cross join lateral (
        select coalesce(b.reading_id, f.reading_id) as reading_id,
          ${columnOr('b.reading_date', sql`f.reading_date`)} as reading_date,
          coalesce(b.value, f.value) as value,
          coalesce(b.reading_type, f.reading_type) as reading_type,
          coalesce(b.estimates, 0) as estimates
      ) p
      left join lateral ${newestReading(tenantId, term, isEstimated)} c on true
      where l.reading_id is null or l.is_stand_in
    )`;
}

/** Of a register that shows use and not a count, every reading is billed: none of them may wait. */
function isInReview(tenantId: number): Sql {
  return sql`exists (
    select from readings e
    where e.tenant_id = ${tenantId} and e.assignment_id = n.assignment_id
      and e.position = r.position and e.status = 'Review' and e.reading_date <= d.read_until
      and e.reading_date > ${columnOr('p.reading_date', sql`'-infinity'`)}
      and exists (
        select from meters m
        join meter_registers k on k.tenant_id = ${tenantId}
          and k.meter_type_id = m.meter_type_id and k.position = r.position
          and k.kind in ('Interval', 'Consumptive')
        where m.tenant_id = ${tenantId} and m.meter_id = n.meter_id
      )
  )`;
}

/**
 * The newest that came in since the one it begins from; estimates of others only of its days, or of
 * the day before, up to which a term that is billed in advance estimates.
 */
function newestReading(tenantId: number, term: EligibleTerm, isEstimated: boolean): Sql {
  const isRead = sql`coalesce(e.source not like ${estimateSource('%')}, true)`;
  const daysAhead = sql`(
    select case when c.bills_after_period then 0 else 1 end from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.context_id = ${term.context_id}
  )`;
  const isOthers = sql`(e.source <> ${estimateSource(term.term_id)}
    and e.reading_date >= ${term.start_date}::date - ${daysAhead})`;
  return sql`(
    select e.reading_id, e.reading_date, e.value, e.reading_type, e.rollover, e.status
    from readings e
    where e.tenant_id = ${tenantId} and e.assignment_id = n.assignment_id
      and e.position = r.position and e.status <> 'Rejected'
      and e.reading_type <> 'Installation'
      and e.reading_date <= d.read_until
      and e.reading_date >= ${columnOr('p.reading_date', sql`'-infinity'`)}
      and (p.reading_date is null or e.reading_date > p.reading_date
        or (e.reading_type in ('Removal', 'Final') and e.reading_id > p.reading_id))
      and (e.reading_type <> 'Estimated' or ${isRead}${isEstimated ? sql` or ${isOthers}` : sql``})
    order by e.reading_date desc,
      case when e.reading_type in ('Removal', 'Final') then 1 else 0 end desc,
      e.reading_time desc nulls first, e.reading_id desc
    limit 1
  )`;
}

/** By which an estimate is known that was made for a term, or for any. */
export function estimateSource(termId: number | '%'): string {
  return `term ${termId}`;
}
