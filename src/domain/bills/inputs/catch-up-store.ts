// Readings, usage and manual values of terms that did not bill them, because their bills were
// skipped or do not exist yet: the bill that catches up on the days of such a term takes them over.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { firstActive } from '../../terms/eligible-store.ts';
import type { Term } from '../../terms/store.ts';
import {
  hasBilled,
  isBilledOnce,
  isTurn,
  lastOf,
  readBefore,
  takenColumns,
} from '../../terms/taken-readings-store.ts';
import type { UploadedQuantity } from './agreed-quantities.ts';
import type { ManualRow, UsageRow } from './inputs-store.ts';

/** A subscription with days that another term took something in for. */
export type CatchingUp = {
  subscription_id: number;
  billed_through: string;
  /** Up to which it is then billed: the end of the term, or the day before the next owner's. */
  last_date: string;
};

/** Subscriptions chosen for OffCycle or Final terms that share days with this term. */
function chosenBeside(tenantId: number, term: Term): Sql {
  return sql`
    select c.subscription_id from terms o
    join term_subscriptions c on c.tenant_id = ${tenantId} and c.term_id = o.term_id
    where o.tenant_id = ${tenantId} and o.context_id = ${term.context_id}
      and o.start_date <= ${term.end_date}::date and o.end_date >= ${term.start_date}::date`;
}

/** Of subscriptions those with a term for some customers alone that has days of this one. */
export async function listBeside(
  tx: Tx,
  tenantId: number,
  term: Term,
  billed: readonly { subscription_id: number }[],
): Promise<ReadonlySet<number>> {
  const ids = billed.map((row) => row.subscription_id);
  if (term.term_type !== 'Regular') return new Set(ids);
  if (!term.is_beside) return new Set();
  const { rows } = await sql<{ subscription_id: number }>`
    ${chosenBeside(tenantId, term)} and c.subscription_id = any(${ids}::bigint[])
  `.execute(tx);
  return new Set(rows.map((row) => row.subscription_id));
}

/**
 * Unlocks readings of subscriptions that the term no longer bills, because another term of the same
 * days billed them. Returns the estimates among these readings.
 */
export async function unlockUnbilled(tx: Tx, tenantId: number, term: Term): Promise<number[]> {
  if (term.term_type === 'Regular' && !term.is_beside) return [];
  const { rows } = await sql<{ reading_id: number; is_stand_in: boolean }>`
    delete from term_readings l
    where l.tenant_id = ${tenantId} and l.term_id = ${term.term_id}
      and l.subscription_id in (${chosenBeside(tenantId, term)})
      and not exists (
        select from bills b
        where b.tenant_id = ${tenantId} and b.term_id = ${term.term_id}
          and b.subscription_id = l.subscription_id
      )
      and not exists (
        select from bill_parts p
        join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
          and b.term_id = ${term.term_id}
        where p.tenant_id = ${tenantId} and p.subscription_id = l.subscription_id
      )
    returning l.reading_id, l.is_stand_in
  `.execute(tx);
  return rows.filter((row) => row.is_stand_in).map((row) => row.reading_id);
}

/** Whether the days of a term `t` are billed of what `w` is of: by its own bill or a later one. */
function isBilled(tenantId: number): Sql {
  return sql`(t.end_date <= w.billed_through
    or ${hasBilled(tenantId, sql`w.subscription_id`)})`;
}

/**
 * Whether another bill took over what was taken in for a term `t`, also where it ends before that
 * term because the subscription was off: one of as many days, of the same owner, and made since.
 */
function isCaughtUp(tenantId: number, takenAt: Sql): Sql {
  const isTaken = (before: string) => {
    const through = sql`coalesce(${sql.raw(before)}, o.start_date - 1)`;
    return sql`${isBilledOnce(tenantId)} and exists (
      select from terms o
      join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = w.subscription_id
      where o.tenant_id = ${tenantId} and o.term_id = b.term_id and o.term_id <> t.term_id
        and ${takenAt} <= (
          select max(r.started_at) from bill_runs r
          where r.tenant_id = ${tenantId} and r.term_id = o.term_id and r.bill_id is null
        )
        and o.end_date >= t.end_date and ${through} < t.end_date
        and (o.term_type <> 'Final' or not exists (
          select from jsonb_array_elements(s.transfers) h
          where (h ->> 'transferDate')::date > ${firstActive(sql`(${through} + 1)`)}
            and (h ->> 'transferDate')::date <= t.end_date
        ))
    )
    offset 0`;
  };
  return sql`(exists (
      select from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = w.subscription_id
        and ${isTaken('b.previously_billed_to')}
    )
    or exists (
      select from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
      where p.tenant_id = ${tenantId} and p.subscription_id = w.subscription_id
        and ${isTaken('p.previously_billed_to')}
    ))`;
}

/** Whether what was taken in for a term `t` was copied to one that bills a cancelled bill again. */
function isGivenOn(tenantId: number): Sql {
  const isItsBill = sql`b.tenant_id = ${tenantId} and b.term_id = t.term_id
      and b.status = 'Cancelled'`;
  return sql`exists (
    select from (
      select b.bill_id from bills b
      where ${isItsBill} and b.subscription_id = w.subscription_id
      union all
      select b.bill_id from bill_parts p
      join bills b on b.bill_id = p.bill_id and ${isItsBill}
      where p.tenant_id = ${tenantId} and p.subscription_id = w.subscription_id
    ) c
    join credit_notes n on n.tenant_id = ${tenantId} and n.bill_id = c.bill_id
    join terms a on a.tenant_id = ${tenantId} and a.term_id = n.rebill_term_id
      and a.status <> 'Cancelled'
  )`;
}

/**
 * Whether the term bills what was taken in for a term `t`: itself, or one that has no day left to
 * bill when this one is posted. Of one of the same days, only what was not given for this one too.
 */
function isTakenOver(
  tenantId: number,
  term: Term,
  { isGivenToo, takenAt }: { isGivenToo: Sql; takenAt: Sql },
): Sql {
  return sql`(t.term_id = ${term.term_id} or (
    t.end_date <= w.last_date and t.status <> 'Cancelled'
    and not ${isBilled(tenantId)} and not ${isGivenOn(tenantId)}
    and (t.end_date < ${term.start_date}::date or not exists (${isGivenToo}))
  )) and not ${isCaughtUp(tenantId, takenAt)}`;
}

function wanted(subscriptions: readonly CatchingUp[]): Sql {
  return sql`unnest(
    ${subscriptions.map((one) => one.subscription_id)}::bigint[],
    ${subscriptions.map((one) => one.billed_through)}::date[],
    ${subscriptions.map((one) => one.last_date)}::date[]
  ) as w (subscription_id, billed_through, last_date)`;
}

/** Values for the term and for the skipped terms before it, added up. */
export async function listValuesWithCatchUp(
  tx: Tx,
  tenantId: number,
  term: Term,
  subscriptions: readonly CatchingUp[],
): Promise<ManualRow[]> {
  const isGivenToo = sql`
    select from manual_values o
    where o.tenant_id = ${tenantId} and o.term_id = ${term.term_id}
      and o.subscription_id = m.subscription_id and o.component = m.component`;
  const { rows } = await sql<ManualRow>`
    select m.subscription_id, m.component, trim_scale(sum(m.value))::text as value,
      bool_and(t.end_date < ${term.start_date}::date) as is_left_out
    from ${wanted(subscriptions)}
    join manual_values m on m.tenant_id = ${tenantId} and m.subscription_id = w.subscription_id
    join terms t on t.tenant_id = ${tenantId} and t.term_id = m.term_id
    where ${isTakenOver(tenantId, term, { isGivenToo, takenAt: sql`m.modified_at` })}
    group by m.subscription_id, m.component
    order by m.subscription_id, m.component
  `.execute(tx);
  return rows;
}

/** Of inputs that are agreed: a term's own row holds in that term, nothing adds up. */
export async function listQuantitiesWithCatchUp(
  tx: Tx,
  tenantId: number,
  term: Term,
  subscriptions: readonly CatchingUp[],
  inputs: ReadonlySet<string>,
): Promise<UploadedQuantity[]> {
  if (inputs.size === 0) return [];
  const { rows } = await sql<UploadedQuantity>`
    select u.subscription_id, u.input, nullif(u.usage_date, 'infinity') as usage_date,
      trim_scale(u.quantity)::text as quantity, t.start_date, t.end_date
    from ${wanted(subscriptions)}
    join term_usage u on u.tenant_id = ${tenantId} and u.subscription_id = w.subscription_id
      and u.input = any(${[...inputs]}::text[])
    join terms t on t.tenant_id = ${tenantId} and t.term_id = u.term_id
    where ${isUsageTakenOver(tenantId, term)}
    order by u.subscription_id, u.input, t.term_id, u.usage_date
  `.execute(tx);
  return rows;
}

/** Of rows `u` of terms `t`. */
function isUsageTakenOver(tenantId: number, term: Term): Sql {
  const isGivenToo = sql`
    select from term_usage o
    where o.tenant_id = ${tenantId} and o.term_id = ${term.term_id}
      and o.subscription_id = u.subscription_id and o.input = u.input`;
  return isTakenOver(tenantId, term, { isGivenToo, takenAt: sql`u.modified_at` });
}

/**
 * Usage for the term and for the skipped terms before it. Usage of a whole term is dated on its
 * last day, so that it falls on the days of that term and not of another. If bills are made in
 * advance, what is uploaded for a term is usage of the term before.
 */
export async function listUsageWithCatchUp(
  tx: Tx,
  tenantId: number,
  term: Term,
  subscriptions: readonly CatchingUp[],
): Promise<UsageRow[]> {
  const { rows } = await sql<UsageRow>`
    with taken as (
      select u.subscription_id, u.input, u.usage_date, u.quantity, t.start_date, t.end_date,
        bool_or(t.end_date < ${term.start_date}::date)
          over (partition by u.subscription_id, u.input) as is_left_out
      from ${wanted(subscriptions)}
      join term_usage u on u.tenant_id = ${tenantId} and u.subscription_id = w.subscription_id
      join terms t on t.tenant_id = ${tenantId} and t.term_id = u.term_id
      where ${isUsageTakenOver(tenantId, term)}
    )
    select subscription_id, input, nullif(day, 'infinity') as usage_date,
      trim_scale(sum(quantity))::text as quantity, min(start_date) as from_date,
      max(end_date) as to_date
    from (
      select subscription_id, input, quantity, start_date, end_date,
        case when not is_left_out then usage_date
          when ${term.bills_after_period} then least(usage_date, end_date)
          when usage_date = 'infinity' then start_date - 1
          else usage_date end as day
      from taken
    ) dated
    group by subscription_id, input, day
    order by subscription_id, input, day
  `.execute(tx);
  return rows;
}

export type CatchingUpRegister = Omit<CatchingUp, 'last_date'> & {
  assignment_id: number;
  position: number;
  /** Of the reading locked for the term. */
  reading_date: string | null;
  /** The first day of the next owner: later readings are not the billed owner's. */
  handed_over: string | null;
};

export type SkippedReading = {
  assignment_id: number;
  position: number;
  /** The last that was billed; null where none is known. */
  previous_date: string | null;
  previous_value: string | null;
  previous_type: string | null;
  /** The last that was taken since, for a term that was left out. */
  taken_date: string | null;
  taken_value: string | null;
  taken_type: string | null;
  /** Whether the register passed its highest value since. */
  has_rolled: boolean;
  /** Whether what was billed last was read later than what the term has taken. */
  is_past: boolean;
};

/**
 * Of registers the reading up to which their use was billed; where none was, what a term begins
 * from when it locks the first: that of the last day billed elsewhere or of the installation.
 */
export async function listSkippedReadings(
  tx: Tx,
  tenantId: number,
  term: Term,
  registers: readonly CatchingUpRegister[],
): Promise<SkippedReading[]> {
  const register = { assignmentId: 'w.assignment_id', position: 'w.position' };
  const { rows } = await sql<SkippedReading>`
    select w.assignment_id, w.position, p.reading_date as previous_date,
      trim_scale(p.value)::text as previous_value, p.reading_type as previous_type,
      l.reading_date as taken_date, trim_scale(l.value)::text as taken_value,
      l.reading_type as taken_type, exists (
        select from readings e
        where e.tenant_id = ${tenantId} and ${isTurn(
          { ...register, day: 'p.reading_date' },
          sql`coalesce(w.reading_date, l.reading_date)`,
        )}
      ) as has_rolled, a.reading_date is not null as is_past
    from unnest(
      ${registers.map((one) => one.subscription_id)}::bigint[],
      ${registers.map((one) => one.billed_through)}::date[],
      ${registers.map((one) => one.assignment_id)}::bigint[],
      ${registers.map((one) => one.position)}::smallint[],
      ${registers.map((one) => one.reading_date)}::date[],
      ${registers.map((one) => one.handed_over ?? 'infinity')}::date[]
    ) as w (subscription_id, billed_through, assignment_id, position, reading_date, handed_over)
    left join lateral (
      ${takenOf(tenantId, term)} and o.reading_date > w.reading_date
        and ${hasBilled(tenantId, sql`w.subscription_id`)}
      order by o.reading_date desc, o.term_id desc
      limit 1
    ) a on true
    left join lateral (
      ${lastOf(tenantId, sql`${takenBefore(tenantId, term)} and ${isBilled(tenantId)}`)}
    ) b on true
    left join lateral ${readBefore(
      tenantId,
      { ...register, subscriptionId: 'w.subscription_id', day: 'w.billed_through' },
      sql`b.reading_date is null`,
    )} f on true
    cross join lateral (
      select coalesce(a.reading_date, b.reading_date, f.reading_date) as reading_date,
        coalesce(a.value, b.value, f.value) as value,
        coalesce(a.reading_type, b.reading_type, f.reading_type) as reading_type
    ) p
    left join lateral (
      ${takenBefore(tenantId, term)} and t.start_date < ${term.start_date}::date
        and o.reading_date <= w.handed_over and not ${isBilled(tenantId)}
      order by o.reading_date desc, o.term_id desc
      limit 1
    ) l on w.reading_date is null
  `.execute(tx);
  return rows;
}

/** Readings that other terms locked. */
function takenOf(tenantId: number, term: Term): Sql {
  return sql`
    select ${takenColumns}
    from term_readings o
    join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
    where o.tenant_id = ${tenantId} and o.assignment_id = w.assignment_id
      and o.position = w.position and o.term_id <> ${term.term_id}`;
}

/** Not later than the one that the term has. */
function takenBefore(tenantId: number, term: Term): Sql {
  return sql`${takenOf(tenantId, term)}
      and (w.reading_date is null or o.reading_date <= w.reading_date)`;
}
