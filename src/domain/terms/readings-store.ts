// Readings that a term takes: for each register the one that its use is billed up to, and the one
// that it begins from.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../pricing/context.ts';
import {
  type EligibleTerm,
  handedOver,
  isBilledByMeter,
  isEligible,
  planOn,
} from './eligible-store.ts';
import { isBefore, lastTaken, readUntil } from './taken-readings-store.ts';
import {
  type HistoryEntry,
  historyTerms,
  historyText,
  readHistory,
} from './usage-history-store.ts';

export type LockRange = { firstId: number; lastId: number };

export type LockOptions = {
  range: LockRange;
  lastReadingDate: Temporal.PlainDate;
  /** Whether estimates will do, also those that another term has made. */
  isEstimated: boolean;
};

/**
 * The registers of a range of subscriptions that the term has not taken a reading of, each with the
 * reading it begins from (`p`: the last that an earlier term took; where none did, that of the last
 * day billed elsewhere or of the installation), and the newest that came in since (`c`), whatever
 * its status. Each is looked up by itself: a plan that was made while the tables were small must
 * not be the wrong one when they have grown.
 */
function openRegisters(
  tenantId: number,
  term: EligibleTerm,
  { range, lastReadingDate, isEstimated }: LockOptions,
): RawBuilder<unknown> {
  return sql`
    due as materialized (
      select s.subscription_id, s.status_history -> -1 as last_status,
        coalesce(s.billed_through, ${term.start_date}::date - 1) as billed_through,
        ${readUntil(term, lastReadingDate)} as read_until, ${handedOver(term)} as handed_over,
        ${planOn(term.end_date)} as plan_id
      from subscriptions s
      where ${isEligible(tenantId, term)} and ${isBilledByMeter(tenantId, term)}
        and s.subscription_id between ${range.firstId} and ${range.lastId}
    ),
    open_registers as materialized (
      select d.subscription_id, n.assignment_id, r.position, r.input, n.remove_date, n.mf,
        n.meter_id, d.last_status, d.handed_over, d.plan_id,
        l.reading_id as stand_in_id,
        p.reading_id as previous_id, p.reading_date as previous_date, p.value as previous_value,
        p.reading_type as previous_type, p.estimates as previous_estimates,
        c.reading_id, c.reading_date, c.value, c.reading_type, c.rollover, c.status
      from due d
      cross join lateral (
        select assignment_id, meter_id, mf, remove_date from meter_assignments
        where tenant_id = ${tenantId} and subscription_id = d.subscription_id
          and install_date <= ${term.end_date}::date
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
      left join lateral (
        select i.reading_id, i.reading_date, i.value, i.reading_type
        from readings i
        where i.tenant_id = ${tenantId} and i.assignment_id = n.assignment_id
          and i.position = r.position and i.status = 'Accepted'
          and (i.reading_type = 'Installation' or i.reading_date <= d.billed_through)
        order by i.reading_date desc, i.reading_id desc
        limit 1
      ) f on b.reading_id is null
      cross join lateral (
        select coalesce(b.reading_id, f.reading_id) as reading_id,
          coalesce(b.reading_date, f.reading_date) as reading_date,
          coalesce(b.value, f.value) as value,
          coalesce(b.reading_type, f.reading_type) as reading_type,
          coalesce(b.estimates, 0) as estimates
      ) p
      left join lateral ${newestReading(tenantId, term, isEstimated)} c on true
      where l.reading_id is null or l.is_stand_in
    )`;
}

/** The newest that came in since the one it begins from. */
function newestReading(
  tenantId: number,
  term: EligibleTerm,
  isEstimated: boolean,
): RawBuilder<unknown> {
  const isRead = isEstimated
    ? sql`e.source is distinct from ${estimateSource(term.term_id)}`
    : sql`coalesce(e.source not like ${estimateSource('%')}, true)`;
  return sql`(
    select e.reading_id, e.reading_date, e.value, e.reading_type, e.rollover, e.status
    from readings e
    where e.tenant_id = ${tenantId} and e.assignment_id = n.assignment_id
      and e.position = r.position and e.status <> 'Rejected'
      and e.reading_type <> 'Installation'
      and e.reading_date <= d.read_until
      and e.reading_date >= coalesce(p.reading_date, '-infinity')
      and (p.reading_date is null or e.reading_date > p.reading_date
        or (e.reading_type in ('Removal', 'Final') and e.reading_id > p.reading_id))
      and (e.reading_type <> 'Estimated' or ${isRead})
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

export type Locked = {
  subscriptions: number;
  locked: number;
  /** Registers that nobody has read since, and readings that somebody has to look at first. */
  missing: number;
  underReview: number;
  /** Estimates in whose place a reading has come. */
  replaced: number[] | null;
};

/**
 * Locks what has been read. A register whose newest reading is under review is left open, and so is
 * one that nobody read. Meters that were taken down and are billed to their end ask for nothing.
 */
export async function lockReadings(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: LockOptions,
  stamp: Stamp,
): Promise<Locked> {
  const { rows } = await sql<Locked>`
    with ${openRegisters(tenantId, term, options)},
    locked as (
      insert into term_readings as l (
        tenant_id, term_id, subscription_id, assignment_id, position, previous_date,
        previous_value, previous_type, reading_id, reading_date, value, reading_type, rollover,
        estimates, locked_at, locked_by
      )
      select ${tenantId}, ${term.term_id}, subscription_id, assignment_id, position,
        previous_date, previous_value, previous_type, reading_id, reading_date, value,
        reading_type, rollover,
        case when reading_type = 'Estimated' then previous_estimates + 1 else 0 end,
        ${stamp.at}, ${stamp.by}
      from open_registers
      where status = 'Accepted'
      on conflict (tenant_id, term_id, subscription_id, assignment_id, position) do update
        set previous_date = excluded.previous_date, previous_value = excluded.previous_value,
          previous_type = excluded.previous_type, reading_id = excluded.reading_id,
          reading_date = excluded.reading_date, value = excluded.value,
          reading_type = excluded.reading_type, rollover = excluded.rollover,
          estimates = excluded.estimates, is_stand_in = false,
          locked_at = excluded.locked_at, locked_by = excluded.locked_by
        where l.is_stand_in
      returning reading_id
    )
    select (select count(*) from due) as subscriptions,
      (select count(*) from locked) as locked,
      count(*) filter (where reading_id is null and stand_in_id is null
        and (remove_date is null or remove_date > ${term.end_date}::date)) as missing,
      count(*) filter (where status = 'Review') as "underReview",
      array_agg(stand_in_id) filter (where status = 'Accepted' and stand_in_id is not null)
        as replaced
    from open_registers
  `.execute(tx);
  const found = rows[0];
  if (!found) throw new Error('nothing was counted');
  return found;
}

/**
 * Whether every reading that the term took is still what it was when it was looked at: somebody may
 * have been correcting one. From here on nobody can.
 */
export async function isLockedAsRead(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: LockRange,
): Promise<boolean> {
  const { rows } = await sql<{ same: boolean }>`
    select coalesce(bool_and(same), true) as same
    from (
      select r.value = l.value and r.status = 'Accepted' and r.reading_date = l.reading_date
        as same
      from term_readings l
      join readings r on r.tenant_id = ${tenantId} and r.reading_id = l.reading_id
      where l.tenant_id = ${tenantId} and l.term_id = ${termId}
        and l.subscription_id between ${range.firstId} and ${range.lastId}
      for share of r
    ) compared
  `.execute(tx);
  return rows[0]?.same ?? false;
}

/** Counters that hang there and that nobody read take the reading before again: no use. */
export async function lockPrevious(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: LockOptions,
  stamp: Stamp,
): Promise<number> {
  const { numAffectedRows } = await sql`
    with ${openRegisters(tenantId, term, options)}
    insert into term_readings (
      tenant_id, term_id, subscription_id, assignment_id, position, previous_date,
      previous_value, previous_type, reading_id, reading_date, value, reading_type, estimates,
      is_stand_in, locked_at, locked_by
    )
    select ${tenantId}, ${term.term_id}, g.subscription_id, g.assignment_id, g.position,
      g.previous_date, g.previous_value, g.previous_type, g.previous_id, g.previous_date,
      g.previous_value, g.previous_type, g.previous_estimates, true, ${stamp.at}, ${stamp.by}
    from open_registers g
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = g.meter_id
    join meter_registers k on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
      and k.position = g.position and k.kind = 'Cumulative'
    where g.reading_id is null and g.stand_in_id is null and g.previous_id is not null
      and (g.remove_date is null or g.remove_date > ${term.end_date}::date)
  `.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** A counter that nobody read, with what an estimate can be made from. */
export type UnreadRegister = {
  subscription_id: number;
  assignment_id: number;
  position: number;
  input: string;
  mf: number;
  digits: number;
  decimals: number;
  previous_date: string;
  previous_value: string;
  previous_type: string;
  previous_estimates: number;
  plan_id: number;
  /** Since when the subscription is not Active, or not of whom the term bills. */
  off_since: string | null;
  /** What earlier terms billed of the register, the newest first. */
  terms: RegisterTerm[] | null;
  /** What they billed of the input, where the register is its only one. */
  history: HistoryEntry[] | null;
};

export type RegisterTerm = {
  endDate: string;
  days: number;
  quantity: string;
  type: string;
};

export async function listUnread(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: LockOptions,
): Promise<UnreadRegister[]> {
  const { rows } = await sql<Omit<UnreadRegister, 'history'> & { history: string | null }>`
    with ${openRegisters(tenantId, term, options)}
    select g.subscription_id, g.assignment_id, g.position, g.input, g.mf, k.digits, k.decimals,
      g.previous_date, trim_scale(g.previous_value)::text as previous_value, g.previous_type,
      g.previous_estimates, g.plan_id,
      least(g.handed_over::text, case when g.last_status ->> 'status' <> 'Active'
        then g.last_status ->> 'fromDate' end) as off_since,
      (
        select json_agg(json_build_object(
          'endDate', o.end_date, 'days', o.days, 'type', o.reading_type,
          'quantity', trim_scale(o.quantity)::text))
        from (
          select t.end_date, o.reading_type, o.reading_date - o.previous_date as days,
            (o.value - o.previous_value
              + case when o.rollover then power(10::numeric, k.digits) else 0 end) * g.mf
              as quantity
          from term_readings o
          join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
          where o.tenant_id = ${tenantId} and o.assignment_id = g.assignment_id
            and o.position = g.position and o.previous_date is not null
            and ${isBefore(tenantId, term)}
          order by o.reading_date desc, o.term_id desc
          limit ${historyTerms}
        ) o
      ) as terms,
      case when count(*) over (partition by g.subscription_id, g.input) = 1 then ${historyText} end
        as history
    from open_registers g
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = g.meter_id
    join meter_registers k on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
      and k.position = g.position and k.kind = 'Cumulative'
    left join usage_histories h on h.tenant_id = ${tenantId}
      and h.subscription_id = g.subscription_id
    where g.reading_id is null and g.stand_in_id is null and g.previous_id is not null
      and (g.remove_date is null or g.remove_date > ${term.end_date}::date)
    order by g.subscription_id, g.assignment_id, g.position
  `.execute(tx);
  return rows.map((row) => ({ ...row, history: readHistory(row.history) }));
}

export type StandIn = {
  subscriptionId: number;
  assignmentId: number;
  position: number;
  previousDate: string;
  previousValue: string;
  previousType: string;
  readingId: number;
  readingDate: string;
  value: string;
  rollover: boolean;
  estimates: number;
};

export async function insertEstimates(
  tx: Tx,
  tenantId: number,
  termId: number,
  estimates: readonly StandIn[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into term_readings (
      tenant_id, term_id, subscription_id, assignment_id, position, previous_date,
      previous_value, previous_type, reading_id, reading_date, value, reading_type, rollover,
      estimates, is_stand_in, locked_at, locked_by
    )
    select ${tenantId}, ${termId}, e."subscriptionId", e."assignmentId", e.position,
      e."previousDate", e."previousValue", e."previousType", e."readingId", e."readingDate",
      e.value, 'Estimated', e.rollover, e.estimates, true, ${stamp.at}, ${stamp.by}
    from json_to_recordset(${JSON.stringify(estimates)}::json) as e (
      "subscriptionId" bigint, "assignmentId" bigint, position smallint, "previousDate" date,
      "previousValue" numeric, "previousType" text, "readingId" bigint, "readingDate" date,
      value numeric, rollover boolean, estimates smallint
    )
  `.execute(tx);
}

/** Estimates that were made for the term and that it no longer names. */
export async function rejectEstimates(
  tx: Tx,
  tenantId: number,
  termId: number,
  readingIds: readonly number[],
  stamp: Stamp,
): Promise<void> {
  if (readingIds.length === 0) return;
  await sql`
    update readings r
    set status = 'Rejected', modified_at = ${stamp.at}, modified_by = ${stamp.by}
    where r.tenant_id = ${tenantId} and r.reading_id = any(${[...readingIds]}::bigint[])
      and r.reading_type = 'Estimated' and r.source = ${estimateSource(termId)}
      and not exists (
        select from term_readings l
        where l.tenant_id = ${tenantId} and l.reading_id = r.reading_id
      )
  `.execute(tx);
}

/** Gives readings back, of one subscription or of all; returns the stand-ins among them. */
export async function unlockReadings(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionId: number | null,
): Promise<{ unlocked: number; standIns: number[] }> {
  const { rows } = await sql<{ unlocked: number; stand_ins: number[] | null }>`
    with gone as (
      delete from term_readings
      where tenant_id = ${tenantId} and term_id = ${termId}
        and (${subscriptionId}::bigint is null or subscription_id = ${subscriptionId})
      returning reading_id, is_stand_in
    )
    select count(*) as unlocked, array_agg(reading_id) filter (where is_stand_in) as stand_ins
    from gone
  `.execute(tx);
  const [gone] = rows;
  return { unlocked: gone?.unlocked ?? 0, standIns: gone?.stand_ins ?? [] };
}
