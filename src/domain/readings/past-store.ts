// What registers showed before, around the days for which readings are entered.

import { plainArray } from '../../base/db/array-text.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { zero } from '../../base/numbers/exact.ts';
import {
  byTime,
  type Interval,
  intervalsCompared,
  isActualInterval,
  type PastReading,
  type RegisterPast,
} from './judge.ts';
import type { ReadingType } from './reading.ts';

export type PastWanted = {
  register: { assignmentId: number; position: number };
  /** The days of the first and the last reading that is entered. */
  first: number;
  last: number;
};

export type Past = RegisterPast & {
  /** Day of the last reading that a term has taken. */
  locked: number | null;
  /** What each reading from the first day to the last shows, by `day type time`. */
  taken: ReadonlyMap<string, string>;
};

/** As many as it takes to know three intervals, and more than follow in one call as a rule. */
const before = 4;
const after = 20;

/**
 * In the order in which they are asked for. Of most registers a few readings tell enough, and those
 * are read as cheaply as can be; where they do not, as many as it takes.
 */
export async function findPasts(
  tx: Tx,
  tenantId: number,
  wanted: readonly PastWanted[],
): Promise<Past[]> {
  const found = await findNearPasts(tx, tenantId, wanted);
  const missing = wanted.flatMap((one, index) => (found[index] ? [] : [{ one, index }]));
  if (missing.length > 0) {
    const whole = await findWholePasts(
      tx,
      tenantId,
      missing.map(({ one }) => one),
    );
    missing.forEach(({ index }, at) => {
      found[index] = whole[at];
    });
  }
  return found.map((past) => {
    if (!past) throw new Error('the past of a register was not found');
    return past;
  });
}

type NearRow = {
  position: number;
  before: string | null;
  after: string | null;
  locked: number | null;
};

/** One reading in nine words. */
const words = sql.raw(`r.reading_id || ' ' || (r.reading_date - date '1970-01-01') || ' '
  || coalesce(r.reading_time::text, '-') || ' ' || r.value || ' ' || r.reading_type || ' '
  || r.rollover || ' ' || coalesce(r.consumption::text, '-') || ' '
  || coalesce(r.days::text, '-') || ' '`);

/** Undefined for a register whose few readings do not tell enough. */
async function findNearPasts(
  tx: Tx,
  tenantId: number,
  wanted: readonly PastWanted[],
): Promise<(Past | undefined)[]> {
  const { rows } = await sql<NearRow>`
    select g.ordinality as position, (
        select string_agg(${words} || r.status, ' ')
        from (
          select * from readings r
          where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
            and r.position = g.position and r.reading_date < g.first_date
            and r.status = 'Accepted' and not ${isReplaceable(tenantId)}
          order by r.reading_date desc
          limit ${before}
        ) r
      ) as before, (
        select string_agg(${words} || ${statusText(tenantId)}, ' ')
        from (
          select * from readings r
          where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
            and r.position = g.position and r.reading_date >= g.first_date
            and r.status <> 'Rejected'
          order by r.reading_date
          limit ${after}
        ) r
      ) as after, (
        select max(t.reading_date) - date '1970-01-01'
        from term_readings t
        where t.tenant_id = ${tenantId} and t.assignment_id = g.assignment_id
          and t.position = g.position and ${isTaken(tenantId)}
      ) as locked
    from ${registers(wanted)} g
  `.execute(tx);
  const pasts: (Past | undefined)[] = [];
  for (const row of rows) pasts[row.position - 1] = nearPast(row, wanted[row.position - 1]);
  return pasts;
}

/** An estimate of an open term does not count as taken: a reading that comes in replaces it. */
function isTaken(tenantId: number): Sql {
  return sql`(not t.is_stand_in or exists (
    select from terms o
    where o.tenant_id = ${tenantId} and o.term_id = t.term_id and o.status <> 'Open'
  ))`;
}

/** Of readings `r`: estimated by a term that is still open, because the meter was not read. */
export function isReplaceable(tenantId: number): Sql {
  return sql`(r.reading_type = 'Estimated' and coalesce(r.source like 'term %', false) and exists (
    select from term_readings t
    where t.tenant_id = ${tenantId} and t.reading_id = r.reading_id and not ${isTaken(tenantId)}
  ))`;
}

/** The status of `r`. Estimates are ordered by date but block nothing. */
function statusText(tenantId: number): Sql {
  return sql`case when ${isReplaceable(tenantId)} then 'StandIn' else r.status end`;
}

/** A register has one reading of a day, a type and a time. */
export function placeInTime({
  day,
  type,
  time,
}: Pick<PastReading, 'day' | 'type' | 'time'>): string {
  return `${day} ${type} ${time ?? ''}`;
}

type Listed = PastReading & { status: string };

function nearPast(row: NearRow, wanted: PastWanted | undefined): Past | undefined {
  const earlier = readingsOf(row.before).sort((a, b) => byTime(b, a));
  const intervals = earlier.filter(isActualInterval).map(intervalOf).slice(0, intervalsCompared);
  const later = readingsOf(row.after);
  const isKnown = earlier.length < before || intervals.length === intervalsCompared;
  if (!wanted || !isKnown || later.length === after) return undefined;
  const accepted = later.filter((one) => one.status === 'Accepted');
  const next = accepted.find((one) => one.day > wanted.last);
  const inside = later.filter((one) => one.day <= wanted.last);
  return {
    previous: earlier[0] ?? null,
    intervals,
    following: accepted.filter((one) => one.day <= wanted.last || one === next),
    locked: row.locked,
    taken: new Map(inside.map((one) => [placeInTime(one), one.value])),
  };
}

const wordsOfReading = 9;

function readingsOf(text: string | null): Listed[] {
  if (text === null) return [];
  const found = text.split(' ');
  const readings: Listed[] = [];
  for (let at = 0; at < found.length; at += wordsOfReading) {
    const [id, day, time, value, type, rollover, consumption, days, status] = found.slice(
      at,
      at + wordsOfReading,
    ) as [...[string, string, string, string, ReadingType, string, string, string, string]];
    readings.push({
      readingId: Number(id),
      day: Number(day),
      time: time === '-' ? null : time,
      value,
      type,
      rollover: rollover === 'true',
      consumption: consumption === '-' ? null : consumption,
      days: days === '-' ? null : Number(days),
      status,
    });
  }
  return readings;
}

function intervalOf({ consumption, days, day }: PastReading): Interval {
  return { consumption: exactFrom(consumption) ?? zero, days: days ?? 0, day };
}

type PastRow = {
  position: number;
  previous: PastReading | null;
  intervals: string | null;
  around: (PastReading & { status: string })[] | null;
  next: PastReading | null;
  locked: number | null;
};

/** Readings looked through for three that were neither estimated nor of one day. */
const readingsSearched = 40;

const fields = sql.raw(`json_build_object(
  'readingId', r.reading_id, 'day', r.reading_date - date '1970-01-01', 'time', r.reading_time,
  'value', r.value::text, 'type', r.reading_type, 'rollover', r.rollover,
  'consumption', r.consumption::text, 'days', r.days)`);

/** The order of judge.ts: within a day the first reading of an assignment first, the last last. */
const newestFirst = sql.raw(`r.reading_date desc,
  case r.reading_type when 'Installation' then 0 when 'Removal' then 2 when 'Final' then 2
    else 1 end desc,
  r.reading_time desc nulls first, r.reading_id desc`);

/** However many readings it takes. */
async function findWholePasts(
  tx: Tx,
  tenantId: number,
  wanted: readonly PastWanted[],
): Promise<Past[]> {
  const { rows } = await sql<PastRow>`
    select g.ordinality as position, (
        select ${fields}
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date < g.first_date and r.status = 'Accepted'
          and not ${isReplaceable(tenantId)}
        order by ${newestFirst}
        limit 1
      ) as previous, (
        select string_agg(l.consumption || ' ' || l.days || ' ' || l.day, ' ' order by l.place)
        from (
          select i.consumption, i.days, i.day, i.place
          from (
            select r.consumption, r.days, r.reading_type, row_number() over () as place,
              r.reading_date - date '1970-01-01' as day
            from (
              select consumption, days, reading_type, reading_date, reading_time, reading_id
              from readings r
              where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
                and r.position = g.position and r.reading_date < g.first_date
                and r.status = 'Accepted'
              order by r.reading_date desc
              limit ${readingsSearched}
            ) r
          ) i
          where i.consumption >= 0 and i.days > 0 and i.reading_type <> 'Estimated'
          order by i.place
          limit 3
        ) l
      ) as intervals, (
        select json_agg(${fields}::jsonb || jsonb_build_object('status', ${statusText(tenantId)}))
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date between g.first_date and g.last_date
          and r.status <> 'Rejected'
      ) as around, (
        select ${fields}
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date > g.last_date and r.status = 'Accepted'
          and not ${isReplaceable(tenantId)}
        order by r.reading_date
        limit 1
      ) as next, (
        select max(t.reading_date) - date '1970-01-01'
        from term_readings t
        where t.tenant_id = ${tenantId} and t.assignment_id = g.assignment_id
          and t.position = g.position and ${isTaken(tenantId)}
      ) as locked
    from ${registers(wanted)} g
  `.execute(tx);
  const pasts: Past[] = [];
  for (const row of rows) pasts[row.position - 1] = pastOf(row);
  return pasts;
}

function registers(wanted: readonly PastWanted[]): Sql {
  return sql`(
    select u.assignment_id, u.position, date '1970-01-01' + u.first_day as first_date,
      date '1970-01-01' + u.last_day as last_date, u.ordinality
    from unnest(
      ${plainArray(wanted.map((one) => one.register.assignmentId))}::bigint[],
      ${plainArray(wanted.map((one) => one.register.position))}::smallint[],
      ${plainArray(wanted.map((one) => one.first))}::integer[],
      ${plainArray(wanted.map((one) => one.last))}::integer[]
    ) with ordinality as u (assignment_id, position, first_day, last_day, ordinality)
  )`;
}

function pastOf(row: PastRow): Past {
  const around = row.around ?? [];
  const accepted = around.filter((one) => one.status === 'Accepted');
  return {
    previous: row.previous,
    intervals: intervalsOf(row.intervals),
    following: row.next ? [...accepted, row.next] : accepted,
    locked: row.locked,
    taken: new Map(around.map((one) => [placeInTime(one), one.value])),
  };
}

/** `use days day use days day …`, the newest first. */
function intervalsOf(text: string | null): Interval[] {
  const words = text?.split(' ') ?? [];
  const intervals: Interval[] = [];
  for (let at = 0; at < words.length; at += 3) {
    const [use, days, day] = words.slice(at, at + 3);
    const consumption = exactFrom(use) ?? zero;
    intervals.push({ consumption, days: Number(days), day: Number(day) });
  }
  return intervals;
}

export async function findTakenReferences(
  tx: Tx,
  tenantId: number,
  references: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ external_reference: string }>`
    select r.external_reference
    from json_array_elements_text(${JSON.stringify(references)}::json) as wanted (reference)
    join readings r on r.tenant_id = ${tenantId} and r.external_reference = wanted.reference
      and r.status <> 'Rejected'
  `.execute(tx);
  return new Set(rows.map((row) => row.external_reference));
}
