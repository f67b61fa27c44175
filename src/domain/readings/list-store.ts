import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { ReadingFlag, ReadingType } from './reading.ts';

/** Locked and Billed: a term has taken the reading, and was posted. */
export const readingStates = ['Accepted', 'Review', 'Rejected', 'Locked', 'Billed'] as const;
export type ReadingState = (typeof readingStates)[number];

export type ReadingListRow = {
  reading_id: number;
  assignment_id: number;
  number: number;
  register: string;
  unit: string;
  subscription_number: string;
  value: string;
  /** YYYY-MM-DD */
  reading_date: string;
  /** HH:MM:SS */
  reading_time: string | null;
  reading_type: ReadingType;
  state: ReadingState;
  rollover: boolean;
  consumption: string | null;
  days: number | null;
  daily: string | null;
  flags: ReadingFlag[];
  term_id: number | null;
  source: string | null;
  remark: string | null;
  image_url: string | null;
  external_reference: string | null;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
};

/** An installation of a meter and the days of one owner, YYYY-MM-DD or ±infinity. */
export type OwnInstallation = { assignmentId: number; from: string; to: string };

export type ReadingFilter = {
  meterNumber: number | null;
  subscriptionNumber: string | null;
  termId: number | null;
  state: ReadingState | null;
  from: Temporal.PlainDate | null;
  to: Temporal.PlainDate | null;
  /** Only readings of these installations on these days: those of a customer. */
  own: readonly OwnInstallation[] | null;
};

/** The state of a reading as callers know it: what a term has taken is Locked, and then Billed. */
const state = sql.raw(`case when b.term_id is null then r.status
  when b.is_posted then 'Billed' else 'Locked' end`);

/** The last term that took the reading, and whether any that did was posted. */
function takenBy(tenantId: number): Sql {
  return sql`
    left join lateral (
      select max(l.term_id) as term_id,
        bool_or(l.term_id = any(${postedTerms(tenantId)})) as is_posted
      from term_readings l
      where l.tenant_id = ${tenantId} and l.reading_id = r.reading_id
    ) b on true
  `;
}

export async function listReadingsAt(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
  window: { offset: number; limit: number },
): Promise<ReadingListRow[]> {
  if (isWhole(filter)) return listByIds(tx, tenantId, idsByBlock(tenantId, window));
  return listByIds(tx, tenantId, idsOf(tenantId, filter, { afterId: 0, ...window }));
}

export async function listReadingsAfter(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
  options: { after: ReadingListRow | undefined; limit: number },
): Promise<ReadingListRow[]> {
  const window = { afterId: options.after?.reading_id ?? 0, offset: 0, limit: options.limit };
  return listByIds(tx, tenantId, idsOf(tenantId, filter, window));
}

/** The ids of the same, for many chunks at once. */
export async function listReadingIdsAfter(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
  options: { after: ReadingListRow | undefined; limit: number },
): Promise<number[]> {
  const window = { afterId: options.after?.reading_id ?? 0, offset: 0, limit: options.limit };
  const ids = idsOf(tenantId, filter, window) as Sql<{ reading_id: number }>;
  return (await ids.execute(tx)).rows.map((row) => row.reading_id);
}

export function listReadingsByIds(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<ReadingListRow[]> {
  const known = sql`
    select reading_id from readings
    where tenant_id = ${tenantId} and reading_id = any(${ids}::bigint[])
  `;
  return listByIds(tx, tenantId, known);
}

type IdWindow = { afterId: number; offset: number; limit: number };

/** The ids of a page or a chunk, in their order. */
function idsOf(tenantId: number, filter: ReadingFilter, window: IdWindow): Sql {
  const terms = termsOf(tenantId, filter);
  // Readings of a few terms are found once by their terms; a stream then continues in the order of
  // ids.
  const isOfMany = filter.state === 'Billed' && filter.termId === null;
  if (terms && (isOfMany || window.afterId > 0)) {
    return idsTaken(tenantId, filter, terms, window);
  }
  return sql`
    select r.reading_id from readings r
    where ${matches(tenantId, filter)} and r.reading_id > ${window.afterId}
      and ${isFromFirst(tenantId, filter, window)}
    order by r.reading_id
    limit ${window.limit} offset ${window.offset}
  `;
}

/** Terms that have taken all readings of a filter; where it names meters, these have fewer. */
function termsOf(tenantId: number, filter: ReadingFilter): Sql | undefined {
  if (assignments(tenantId, filter)) return undefined;
  if (filter.termId !== null) return sql`array[${filter.termId}::bigint]`;
  if (filter.state === 'Billed') return postedTerms(tenantId);
  return filter.state === 'Locked' ? openTerms(tenantId) : undefined;
}

function postedTerms(tenantId: number): Sql {
  return sql`array(select term_id from terms
    where tenant_id = ${tenantId} and status in ('Posted', 'Published'))`;
}

function openTerms(tenantId: number): Sql {
  return sql`array(select term_id from terms
    where tenant_id = ${tenantId} and status not in ('Posted', 'Published'))`;
}

/** Written so that no index but that of the readings can be thought of. */
function idsTaken(tenantId: number, filter: ReadingFilter, terms: Sql, window: IdWindow): Sql {
  return sql`
    select distinct r.reading_id
    from term_readings l
    join readings r on r.tenant_id = ${tenantId} and r.reading_id = l.reading_id
    where l.tenant_id = ${tenantId} and l.reading_id > ${window.afterId}
      and (l.term_id = any(${terms})) is true
      and ${matches(tenantId, leftOf(filter))}
    order by r.reading_id
    limit ${window.limit} offset ${window.offset}
  `;
}

/** What is left of a filter when its terms are looked at. */
function leftOf(filter: ReadingFilter): ReadingFilter {
  if (filter.termId !== null) return { ...filter, termId: null };
  return filter.state === 'Billed' ? { ...filter, state: null } : filter;
}

function isFromFirst(tenantId: number, filter: ReadingFilter, { afterId }: IdWindow): Sql {
  return afterId > 0 || assignments(tenantId, filter) ? sql`true` : isInReach(tenantId, filter);
}

/**
 * Whether reading `r` has an id that readings of the days can have. Days are found by where their
 * readings lie, and not by ids: the first of them spares the way through all that was read before.
 */
export function isInReach(tenantId: number, { from, to }: Pick<ReadingFilter, 'from' | 'to'>): Sql {
  if (!from) return sql`true`;
  // Written so that it is not looked for in the order of ids.
  return sql`r.reading_id >= (
    select min(d.reading_id + 0) from readings d
    where d.tenant_id = ${tenantId} and d.reading_date >= ${from}
      ${to ? sql`and d.reading_date <= ${to}` : sql``}
  )`;
}

export async function countReadings(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    ${isWhole(filter) ? countAll(tenantId) : countOf(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function countAll(tenantId: number): Sql {
  return sql`select coalesce(sum(all_rows), 0)::bigint as count from row_blocks
    where tenant_id = ${tenantId} and kind = 'reading'`;
}

/** All that were billed are counted where terms have taken them. */
function countOf(tenantId: number, filter: ReadingFilter): Sql {
  const isBilled = filter.state === 'Billed' && isWhole({ ...filter, state: null });
  return isBilled
    ? sql`select count(distinct l.reading_id) as count from term_readings l
        where l.tenant_id = ${tenantId} and (l.term_id = any(${postedTerms(tenantId)})) is true`
    : sql`select count(*) as count from readings r where ${matches(tenantId, filter)}`;
}

async function listByIds(tx: Tx, tenantId: number, ids: Sql): Promise<ReadingListRow[]> {
  const { rows } = await sql<ReadingListRow>`
    select r.reading_id, r.assignment_id, m.number, g.register, g.unit, s.subscription_number,
      r.value::text as value, r.reading_date, r.reading_time, r.reading_type, ${state} as state,
      r.rollover, r.consumption::text as consumption, r.days,
      round(r.consumption / nullif(r.days, 0), 6)::text as daily, r.flags, b.term_id,
      r.source, r.remark, r.image_url, r.external_reference,
      r.created_at, r.created_by, r.modified_at, r.modified_by
    from readings r
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_registers g on g.tenant_id = ${tenantId} and g.meter_type_id = m.meter_type_id
      and g.position = r.position
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = a.subscription_id
    ${takenBy(tenantId)}
    where r.tenant_id = ${tenantId} and r.reading_id = any(array(${ids}))
    order by r.reading_id
  `.execute(tx);
  return rows;
}

/** Finds the block in which the page begins, then walks inside that block only. */
function idsByBlock(tenantId: number, window: { offset: number; limit: number }): Sql {
  return sql`
    with start as (
      select block, rows_before
      from (
        select block, all_rows, sum(all_rows) over (order by block) - all_rows as rows_before
        from row_blocks
        where tenant_id = ${tenantId} and kind = 'reading'
      ) counted_blocks
      where rows_before + all_rows > ${window.offset}
      order by block
      limit 1
    )
    select reading_id from readings
    where tenant_id = ${tenantId} and reading_id >= (select block * 1000 from start)
    order by reading_id
    limit ${window.limit}
    offset ${window.offset}::bigint - (select rows_before from start)::bigint
  `;
}

function isWhole(filter: ReadingFilter): boolean {
  return Object.values(filter).every((value) => value === null);
}

function matches(tenantId: number, filter: ReadingFilter): Sql {
  const conditions = [sql`r.tenant_id = ${tenantId}`];
  const places = assignments(tenantId, filter);
  if (places) conditions.push(sql`r.assignment_id = any(array(${places}))`);
  if (filter.termId !== null) {
    conditions.push(isIn(tenantId, sql`array[${filter.termId}::bigint]`));
  }
  if (filter.own !== null) conditions.push(isOwn(filter.own));
  if (filter.from) conditions.push(sql`r.reading_date >= ${filter.from}`);
  if (filter.to) conditions.push(sql`r.reading_date <= ${filter.to}`);
  conditions.push(...stateConditions(tenantId, filter.state));
  return sql.join(conditions, sql` and `);
}

/** Reading `r` is of a day on which the customer owned what the meter was installed at. */
function isOwn(own: readonly OwnInstallation[]): Sql {
  return sql`exists (
    select from unnest(${own.map((one) => one.assignmentId)}::bigint[],
      ${own.map((one) => one.from)}::date[], ${own.map((one) => one.to)}::date[])
      as o (assignment_id, from_date, to_date)
    where o.assignment_id = r.assignment_id and r.reading_date >= o.from_date
      and r.reading_date <= o.to_date
  )`;
}

function stateConditions(tenantId: number, wanted: ReadingState | null): Sql[] {
  if (wanted === null) return [];
  if (wanted === 'Review' || wanted === 'Rejected') {
    return [sql`r.status = ${sql.lit(wanted)}`];
  }
  const isPosted = sql`l.term_id = any(${postedTerms(tenantId)})`;
  const taken = (condition: Sql) => sql`exists (
    select from term_readings l
    where l.tenant_id = ${tenantId} and l.reading_id = r.reading_id and ${condition}
  )`;
  const isAccepted = sql`r.status = 'Accepted'`;
  if (wanted === 'Billed') return [isAccepted, taken(isPosted)];
  if (wanted === 'Accepted') return [isAccepted, sql`not ${taken(sql`true`)}`];
  return [isAccepted, isIn(tenantId, openTerms(tenantId)), sql`not ${taken(isPosted)}`];
}

/** Of one of a few terms: their readings are found first, term by term, and not sought for each. */
function isIn(tenantId: number, terms: Sql): Sql {
  return sql`r.reading_id = any(array(
    select l.reading_id from unnest(${terms}) as o (term_id)
    cross join lateral (
      select reading_id from term_readings
      where tenant_id = ${tenantId} and term_id = o.term_id
      offset 0
    ) l
  ))`;
}

/** The installations of the meters of the filter, by all its conditions on them. */
function assignments(tenantId: number, filter: ReadingFilter): Sql | undefined {
  const conditions: Sql[] = [];
  if (filter.meterNumber !== null) {
    conditions.push(sql`a.meter_id = (
      select m.meter_id from meters m
      where m.tenant_id = ${tenantId} and m.number = ${filter.meterNumber}
    )`);
  }
  if (filter.subscriptionNumber !== null) {
    conditions.push(sql`a.subscription_id = (
      select s.subscription_id from subscriptions s
      where s.tenant_id = ${tenantId} and s.subscription_number = ${filter.subscriptionNumber}
    )`);
  }
  if (filter.own !== null) {
    const ids = filter.own.map((one) => one.assignmentId);
    conditions.push(sql`a.assignment_id = any(${ids}::bigint[])`);
  }
  if (conditions.length === 0) return undefined;
  return sql`
    select a.assignment_id from meter_assignments a
    where a.tenant_id = ${tenantId} and ${sql.join(conditions, sql` and `)}
  `;
}
