// Readings that a term takes: for each register the one that its use is billed up to, and the one
// that it begins from.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { EligibleTerm } from './eligible-store.ts';
import { type LockOptions, type LockRange, openRegisters } from './open-registers-store.ts';
import { isTurn } from './taken-readings-store.ts';

export type Locked = {
  subscriptions: number;
  locked: number;
  /** Taken again: they were read past the last day that the term bills, and billed up to there. */
  repeated: number;
  /** Registers without a reading since then, and readings that an operator must review first. */
  missing: number;
  underReview: number;
  /** Estimates in whose place a reading has come. */
  replaced: number[] | null;
};

/**
 * Locks the readings that came in. A register stays open if it was not read, or if its newest
 * reading is under review. Meters that were removed and are billed to their end need no reading.
 */
export async function lockReadings(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: LockOptions,
  stamp: Stamp,
): Promise<Locked> {
  const chosen = {
    assignmentId: 'chosen.assignment_id',
    position: 'chosen.position',
    day: 'chosen.previous_date',
  };
  const { rows } = await sql<Locked>`
    with ${openRegisters(tenantId, term, options)},
    chosen as (
      select *, ${isReadOut(tenantId, term)} as is_read_out from open_registers
    ),
    locked as (
      insert into term_readings as l (
        tenant_id, term_id, subscription_id, assignment_id, position, previous_date,
        previous_value, previous_type, reading_id, reading_date, value, reading_type, rollover,
        estimates, is_stand_in, locked_at, locked_by
      )
      select own.tenant_id, ${term.term_id}, subscription_id, assignment_id, position,
        previous_date, previous_value, previous_type,
        case when is_read_out then previous_id else reading_id end,
        case when is_read_out then previous_date else reading_date end,
        case when is_read_out then previous_value else value end,
        case when is_read_out then previous_type else reading_type end,
        not is_read_out and (rollover or exists (
          select from readings e
          where e.tenant_id = ${tenantId} and ${isTurn(chosen, sql`chosen.reading_date`)}
        )),
        case when is_read_out then previous_estimates
          when reading_type = 'Estimated' then previous_estimates + 1 else 0 end,
        is_read_out, ${stamp.at}, ${stamp.by}
      from (select tenant_id from tenants where tenant_id = ${tenantId}) own
      cross join chosen
      where status = 'Accepted' or is_read_out
      on conflict (tenant_id, term_id, subscription_id, assignment_id, position) do update
        set previous_date = excluded.previous_date, previous_value = excluded.previous_value,
          previous_type = excluded.previous_type, reading_id = excluded.reading_id,
          reading_date = excluded.reading_date, value = excluded.value,
          reading_type = excluded.reading_type, rollover = excluded.rollover,
          estimates = excluded.estimates, is_stand_in = false,
          locked_at = excluded.locked_at, locked_by = excluded.locked_by
        where l.is_stand_in
      returning is_stand_in
    )
    select (select count(*) from due) as subscriptions,
      (select count(*) from locked where not is_stand_in) as locked,
      (select count(*) from locked where is_stand_in) as repeated,
      count(*) filter (where is_unread and not is_read_out) as missing,
      count(*) filter (where status = 'Review') as "underReview",
      array_agg(stand_in_id) filter (where status = 'Accepted' and stand_in_id is not null)
        as replaced
    from chosen
  `.execute(tx);
  const found = rows[0];
  if (!found) throw new Error('nothing was counted');
  return found;
}

/**
 * True if a counter without a newer reading was read on the last day that the term bills, or later:
 * in the days of grace of the previous term, which has billed its usage up to there.
 */
function isReadOut(tenantId: number, term: EligibleTerm): Sql {
  return sql`(reading_id is null and stand_in_id is null and previous_id is not null
    and previous_date >= least(${term.end_date}::date, off_since - 1)
    and (remove_date is null or remove_date > previous_date)
    and exists (
      select from meters m
      join meter_registers k on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
        and k.position = open_registers.position and k.kind = 'Cumulative'
      where m.tenant_id = ${tenantId} and m.meter_id = open_registers.meter_id
    ))`;
}

/**
 * True if every reading that the term locked is unchanged since it was selected: an operator may
 * have been correcting one. From here on it cannot be changed.
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

/**
 * Unlocks readings, of one subscription or of all; returns the estimates and repeats among them.
 */
export async function unlockReadings(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionIds: readonly number[] | null,
): Promise<{ unlocked: number; standIns: number[] }> {
  const isTheirs =
    subscriptionIds && sql`and subscription_id = any(${[...subscriptionIds]}::bigint[])`;
  const { rows } = await sql<{ stand_ins: number[] | null }>`
    select array_agg(reading_id) as stand_ins from term_readings
    where tenant_id = ${tenantId} and term_id = ${termId} and is_stand_in
      ${isTheirs ?? sql``}
  `.execute(tx);
  const { count } = await sql`
    delete from term_readings
    where tenant_id = ${tenantId} and term_id = ${termId}
      ${isTheirs ?? sql``}
  `.execute(tx);
  return { unlocked: count, standIns: rows[0]?.stand_ins ?? [] };
}
