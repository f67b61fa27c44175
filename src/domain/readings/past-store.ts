// What registers showed before, around the days for which readings are entered.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { zero } from '../../base/numbers/exact.ts';
import type { Interval, PastReading, RegisterPast } from './judge.ts';

export type PastWanted = {
  register: { assignmentId: number; position: number };
  /** The days of the first and the last reading that is entered. */
  first: number;
  last: number;
};

export type Past = RegisterPast & {
  /** Day of the last reading that a term has taken. */
  locked: number | null;
  /** Day, type and time of each reading from the first day to the last, as `day type time`. */
  taken: readonly string[];
};

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
  'consumption', r.consumption::text, 'days', r.days, 'status', r.status)`);

/** The order of judge.ts: within a day the first reading of an assignment first, the last last. */
const newestFirst = sql.raw(`r.reading_date desc,
  case r.reading_type when 'Installation' then 0 when 'Removal' then 2 when 'Final' then 2
    else 1 end desc,
  r.reading_time desc nulls first, r.reading_id desc`);

/** In the order in which they are asked for. */
export async function findPasts(
  tx: Tx,
  tenantId: number,
  wanted: readonly PastWanted[],
): Promise<Past[]> {
  const list = (numbers: number[]) => `{${numbers.join(',')}}`;
  const { rows } = await sql<PastRow>`
    select g.ordinality as position, (
        select ${fields}
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date < g.first_date and r.status = 'Accepted'
        order by ${newestFirst}
        limit 1
      ) as previous, (
        select string_agg(l.consumption || ' ' || l.days, ' ' order by l.place)
        from (
          select i.consumption, i.days, i.place
          from (
            select r.consumption, r.days, r.reading_type, row_number() over () as place
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
          where i.consumption is not null and i.days > 0 and i.reading_type <> 'Estimated'
          order by i.place
          limit 3
        ) l
      ) as intervals, (
        select json_agg(${fields})
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date between g.first_date and g.last_date
          and r.status <> 'Rejected'
      ) as around, (
        select ${fields}
        from readings r
        where r.tenant_id = ${tenantId} and r.assignment_id = g.assignment_id
          and r.position = g.position and r.reading_date > g.last_date and r.status = 'Accepted'
        order by r.reading_date
        limit 1
      ) as next, (
        select max(t.reading_date) - date '1970-01-01'
        from term_readings t
        where t.tenant_id = ${tenantId} and t.assignment_id = g.assignment_id
          and t.position = g.position
      ) as locked
    from (
      select u.assignment_id, u.position, date '1970-01-01' + u.first_day as first_date,
        date '1970-01-01' + u.last_day as last_date, u.ordinality
      from unnest(
        ${list(wanted.map((one) => one.register.assignmentId))}::bigint[],
        ${list(wanted.map((one) => one.register.position))}::smallint[],
        ${list(wanted.map((one) => one.first))}::integer[],
        ${list(wanted.map((one) => one.last))}::integer[]
      ) with ordinality as u (assignment_id, position, first_day, last_day, ordinality)
    ) g
  `.execute(tx);
  const pasts: Past[] = [];
  for (const row of rows) pasts[row.position - 1] = pastOf(row);
  return pasts;
}

function pastOf(row: PastRow): Past {
  const around = row.around ?? [];
  const accepted = around.filter((one) => one.status === 'Accepted');
  return {
    previous: row.previous,
    intervals: intervalsOf(row.intervals),
    following: row.next ? [...accepted, row.next] : accepted,
    locked: row.locked,
    taken: around.map((one) => `${one.day} ${one.type} ${one.time ?? ''}`),
  };
}

/** `use days use days …`, the newest first. */
function intervalsOf(text: string | null): Interval[] {
  const words = text?.split(' ') ?? [];
  const intervals: Interval[] = [];
  for (let at = 0; at < words.length; at += 2) {
    intervals.push({ consumption: exactFrom(words[at]) ?? zero, days: Number(words[at + 1]) });
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
