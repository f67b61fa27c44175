import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { ReadingFlag, ReadingType } from './reading.ts';

/** Locked and Billed: a term has taken the reading, and was posted. */
export const readingStates = ['Accepted', 'Review', 'Rejected', 'Locked', 'Billed'] as const;
export type ReadingState = (typeof readingStates)[number];

export type ReadingListRow = {
  reading_id: number;
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

export type ReadingFilter = {
  meterNumber: number | null;
  subscriptionNumber: string | null;
  termId: number | null;
  state: ReadingState | null;
  from: Temporal.PlainDate | null;
  to: Temporal.PlainDate | null;
  /** Only readings of this party's subscriptions. */
  ownPartyId: number | null;
};

/** The state of a reading as callers know it: what a term has taken is Locked, and then Billed. */
const state = sql.raw(`case when b.term_id is null then r.status
  when b.is_posted then 'Billed' else 'Locked' end`);

/** The last term that took the reading, and whether any that did was posted. */
function takenBy(tenantId: number): RawBuilder<unknown> {
  return sql`
    left join lateral (
      select max(l.term_id) as term_id,
        bool_or(t.status in ('Posted', 'Published')) as is_posted
      from term_readings l
      join terms t on t.tenant_id = ${tenantId} and t.term_id = l.term_id
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
  const ids = sql`
    select r.reading_id from readings r
    where ${matches(tenantId, filter)}
    order by r.reading_id
    limit ${window.limit} offset ${window.offset}
  `;
  return listByIds(tx, tenantId, ids);
}

export async function listReadingsAfter(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
  options: { after: ReadingListRow | undefined; limit: number },
): Promise<ReadingListRow[]> {
  const ids = sql`
    select r.reading_id from readings r
    where ${matches(tenantId, filter)} and r.reading_id > ${options.after?.reading_id ?? 0}
    order by r.reading_id
    limit ${options.limit}
  `;
  return listByIds(tx, tenantId, ids);
}

export async function countReadings(
  tx: Tx,
  tenantId: number,
  filter: ReadingFilter,
): Promise<number> {
  const { rows } = isWhole(filter)
    ? await sql<{ count: number }>`
        select coalesce(sum(all_rows), 0)::bigint as count from row_blocks
        where tenant_id = ${tenantId} and kind = 'reading'
      `.execute(tx)
    : await sql<{ count: number }>`
        select count(*) as count from readings r
        where ${matches(tenantId, filter)}
      `.execute(tx);
  return rows[0]?.count ?? 0;
}

async function listByIds(
  tx: Tx,
  tenantId: number,
  ids: RawBuilder<unknown>,
): Promise<ReadingListRow[]> {
  const { rows } = await sql<ReadingListRow>`
    select r.reading_id, m.number, g.register, g.unit, s.subscription_number,
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
function idsByBlock(
  tenantId: number,
  window: { offset: number; limit: number },
): RawBuilder<unknown> {
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

function matches(tenantId: number, filter: ReadingFilter): RawBuilder<unknown> {
  const conditions = [sql`r.tenant_id = ${tenantId}`];
  const places = assignments(tenantId, filter);
  if (places) conditions.push(sql`r.assignment_id = any(array(${places}))`);
  if (filter.termId !== null) {
    conditions.push(sql`r.reading_id = any(array(
      select l.reading_id from term_readings l
      where l.tenant_id = ${tenantId} and l.term_id = ${filter.termId}
    ))`);
  }
  if (filter.from) conditions.push(sql`r.reading_date >= ${filter.from}`);
  if (filter.to) conditions.push(sql`r.reading_date <= ${filter.to}`);
  conditions.push(...stateConditions(tenantId, filter.state));
  return sql.join(conditions, sql` and `);
}

function stateConditions(tenantId: number, wanted: ReadingState | null): RawBuilder<unknown>[] {
  if (wanted === null) return [];
  if (wanted === 'Review' || wanted === 'Rejected') {
    return [sql`r.status = ${sql.lit(wanted)}`];
  }
  const posted = sql`t.status in ('Posted', 'Published')`;
  const taken = (condition: RawBuilder<unknown>) => sql`exists (
    select from term_readings l
    join terms t on t.tenant_id = ${tenantId} and t.term_id = l.term_id
    where l.tenant_id = ${tenantId} and l.reading_id = r.reading_id and ${condition}
  )`;
  const isAccepted = sql`r.status = 'Accepted'`;
  if (wanted === 'Billed') return [isAccepted, taken(posted)];
  if (wanted === 'Accepted') return [isAccepted, sql`not ${taken(sql`true`)}`];
  return [isAccepted, taken(sql`true`), sql`not ${taken(posted)}`];
}

/** Where the meters of the filter hung, of all its conditions on them. */
function assignments(tenantId: number, filter: ReadingFilter): RawBuilder<unknown> | undefined {
  const conditions: RawBuilder<unknown>[] = [];
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
  if (filter.ownPartyId !== null) {
    conditions.push(sql`a.subscription_id = any(array(
      select s.subscription_id from subscriptions s
      where s.tenant_id = ${tenantId} and s.party_id = ${filter.ownPartyId}
    ))`);
  }
  if (conditions.length === 0) return undefined;
  return sql`
    select a.assignment_id from meter_assignments a
    where a.tenant_id = ${tenantId} and ${sql.join(conditions, sql` and `)}
  `;
}
