// Substitutes for missing readings: estimates, and the previous reading again.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { daysOfUnits } from '../readings/first-days-store.ts';
import type { EligibleTerm } from './eligible-store.ts';
import { estimateSource, type LockOptions, openRegisters } from './open-registers-store.ts';
import { isBefore } from './taken-readings-store.ts';
import {
  billedOnly,
  type HistoryEntry,
  historyTerms,
  historyText,
  readHistory,
} from './usage-history-store.ts';

/**
 * Unread registers of installed meters repeat the previous reading: no usage. For a register that
 * shows usage and not a count, bills read it as 0.
 */
export async function lockPrevious(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: LockOptions,
  stamp: Stamp,
): Promise<number> {
  const { count } = await sql`
    insert into term_readings (
      tenant_id, term_id, subscription_id, assignment_id, position, previous_date,
      previous_value, previous_type, reading_id, reading_date, value, reading_type, estimates,
      is_stand_in, locked_at, locked_by
    )
    with ${openRegisters(tenantId, term, options)}
    select own.tenant_id, ${term.term_id}, g.subscription_id, g.assignment_id, g.position,
      g.previous_date, g.previous_value, g.previous_type, g.previous_id, g.previous_date,
      g.previous_value, g.previous_type, g.previous_estimates, true, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join open_registers g
    where g.is_unread and g.previous_id is not null
  `.execute(tx);
  return count;
}

/** A counter without a reading, with the data for an estimate. */
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
  /** The first day on which the subscription is not Active, or no longer of the billed owner. */
  off_since: string | null;
  /** What earlier terms billed of the register, the newest first. */
  terms: RegisterTerm[] | null;
  /** What they billed of the input, where no other register measured a part of it. */
  history: readonly HistoryEntry[] | null;
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
      g.previous_estimates, g.plan_id, g.off_since,
      (
        select json_agg(json_build_object(
          'endDate', o.end_date, 'days', o.days, 'type', o.reading_type,
          'quantity', trim_scale(o.quantity)::text))
        from (
          select t.end_date, o.reading_type, ${daysOfUnits(tenantId)} as days,
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
      case when count(*) over (partition by g.subscription_id, g.input) = 1
        and not ${hasParallelRegister(tenantId)} then ${historyText} end as history
    from open_registers g
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = g.meter_id
    join meter_registers k on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
      and k.position = g.position and k.kind = 'Cumulative'
    left join usage_histories h on h.tenant_id = ${tenantId}
      and h.subscription_id = g.subscription_id
    where g.is_unread and g.previous_id is not null
    order by g.subscription_id, g.assignment_id, g.position
  `.execute(tx);
  return rows.map((row) => {
    const history = readHistory(row.history);
    return { ...row, history: history && billedOnly(history) };
  });
}

/**
 * True if another register of the same input was installed at the same time as `g`, read or not.
 */
function hasParallelRegister(tenantId: number): Sql {
  return sql`exists (
    select from meter_assignments n
    join assignment_registers o on o.tenant_id = ${tenantId}
      and o.subscription_id = g.subscription_id and o.input = g.input
      and (o.assignment_id, o.position) <> (g.assignment_id, g.position)
    join meter_assignments m on m.tenant_id = ${tenantId} and m.assignment_id = o.assignment_id
    where n.tenant_id = ${tenantId} and n.assignment_id = g.assignment_id
      and daterange(m.install_date, m.remove_date) && daterange(n.install_date, n.remove_date)
    offset 0
  )`;
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
    select own.tenant_id, ${termId}, e."subscriptionId", e."assignmentId", e.position,
      e."previousDate", e."previousValue", e."previousType", e."readingId", e."readingDate",
      e.value, 'Estimated', e.rollover, e.estimates, true, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${JSON.stringify(estimates)}::json) as e (
      "subscriptionId" bigint, "assignmentId" bigint, position smallint, "previousDate" date,
      "previousValue" numeric, "previousType" text, "readingId" bigint, "readingDate" date,
      value numeric, rollover boolean, estimates smallint
    )
  `.execute(tx);
}

/** Whether the term bills what was estimated for it. */
export async function hasEstimates(tx: Tx, tenantId: number, termId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from term_readings l
      join readings r on r.tenant_id = ${tenantId} and r.reading_id = l.reading_id
      where l.tenant_id = ${tenantId} and l.term_id = ${termId} and l.is_stand_in
        and r.source = ${estimateSource(termId)}
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
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
