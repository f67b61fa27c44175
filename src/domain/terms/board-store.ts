// What the run board shows of terms and their readings, without reading every subscription.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { type EligibleTerm, isBilledByMeter, isEligible } from './eligible-store.ts';
import { openRegisters } from './open-registers-store.ts';
import { type TermRow, termColumns, termTables } from './store.ts';

/** Metered subscriptions whose readings are looked up one by one, over all terms of a board. */
export const lookedUpMax = 2_000;
/** Readings under review that are counted. */
const reviewMax = 20_000;

export type BoardTermRow = TermRow & {
  context_name: string;
  minimum_days_to_pay: number;
  /** True until the bills of the term are published. */
  is_open: boolean;
};

export type BoardFilter = {
  /** Published terms that begin earlier are left out. */
  since: Temporal.PlainDate;
};

/** Open terms first, then those that are published; each newest first. */
export async function listBoardTerms(
  tx: Tx,
  tenantId: number,
  filter: BoardFilter,
  window: { offset: number; limit: number },
): Promise<BoardTermRow[]> {
  const { rows } = await sql<BoardTermRow>`
    select ${termColumns}, c.name as context_name, c.minimum_days_to_pay,
      t.status <> 'Published' as is_open
    from ${termTables(tenantId)}
    where ${isOnBoard(tenantId, filter)}
    order by t.status <> 'Published' desc, t.start_date desc, t.term_id desc
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

export async function countBoardTerms(
  tx: Tx,
  tenantId: number,
  filter: BoardFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from terms t where ${isOnBoard(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isOnBoard(tenantId: number, { since }: BoardFilter): Sql {
  return sql`t.tenant_id = ${tenantId} and (t.status in ('Open', 'Posted')
    or (t.status = 'Published' and t.start_date >= ${since}))`;
}

/** Unpublished terms whose due date is at most this day, the most urgent first. */
export async function listDueTerms(
  tx: Tx,
  tenantId: number,
  near: { until: Temporal.PlainDate; limit: number },
): Promise<BoardTermRow[]> {
  const { rows } = await sql<BoardTermRow>`
    select ${termColumns}, c.name as context_name, c.minimum_days_to_pay, true as is_open
    from ${termTables(tenantId)}
    where t.tenant_id = ${tenantId} and t.status in ('Open', 'Posted')
      and t.due_date - c.minimum_days_to_pay <= ${near.until}
    order by t.due_date - c.minimum_days_to_pay, t.term_id
    limit ${near.limit}
  `.execute(tx);
  return rows;
}

/** Which of these contexts have metered subscriptions. */
export async function findMeteredContexts(
  tx: Tx,
  tenantId: number,
  contextIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ context_id: number }>`
    select context_id from subscription_counts
    where tenant_id = ${tenantId} and context_id = any(${[...contextIds]}::bigint[])
      and is_metered and subscriptions > 0
    group by context_id
  `.execute(tx);
  return new Set(rows.map((row) => row.context_id));
}

/** Readings under review, by the batch of their subscriptions. */
export async function countReviews(tx: Tx, tenantId: number): Promise<Map<number, number>> {
  const { rows } = await sql<{ batch_id: number; count: number }>`
    select s.batch_id, count(*) as count
    from (
      select assignment_id from readings
      where tenant_id = ${tenantId} and status = 'Review'
      order by reading_id
      limit ${reviewMax}
    ) r
    cross join lateral (
      select subscription_id from meter_assignments
      where tenant_id = ${tenantId} and assignment_id = r.assignment_id
      offset 0
    ) a
    cross join lateral (
      select batch_id from subscriptions
      where tenant_id = ${tenantId} and subscription_id = a.subscription_id
      offset 0
    ) s
    group by s.batch_id
  `.execute(tx);
  return new Map(rows.map((row) => [row.batch_id, row.count]));
}

/** Readings that the terms have locked. */
export async function countLocked(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, number>> {
  if (termIds.length === 0) return new Map();
  const { rows } = await sql<{ term_id: number; count: number }>`
    select term_id, count(*) as count from term_readings
    where tenant_id = ${tenantId} and term_id = any(${[...termIds]}::bigint[])
    group by term_id
  `.execute(tx);
  return new Map(rows.map((row) => [row.term_id, row.count]));
}

/** The term's subscriptions that are billed by meter; null if there are more than `limit`. */
export async function findMeteredRange(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  limit: number,
): Promise<{ count: number; firstId: number; lastId: number } | null> {
  const { rows } = await sql<{ count: number; firstId: number | null; lastId: number | null }>`
    select count(*) as count, min(subscription_id) as "firstId", max(subscription_id) as "lastId"
    from (
      select s.subscription_id from subscriptions s
      where s.tenant_id = ${tenantId} and ${isEligible(tenantId, term)}
        and ${isBilledByMeter(tenantId, term)}
      limit ${limit + 1}
    ) metered
  `.execute(tx);
  const { count = 0, firstId, lastId } = rows[0] ?? {};
  if (count > limit) return null;
  return { count, firstId: firstId ?? 0, lastId: lastId ?? 0 };
}

export type ReadingProgress = { expected: number; read: number };

/** Registers that the term expects a reading of, and those that have an accepted one. */
export async function countReadings(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  options: { range: { firstId: number; lastId: number }; lastReadingDate: Temporal.PlainDate },
): Promise<ReadingProgress> {
  const { rows } = await sql<ReadingProgress>`
    with ${openRegisters(tenantId, term, { ...options, isEstimated: false })}
    select count(*) filter (where o.reading_id is not null or o.is_unread) as expected,
      count(*) filter (where o.reading_id is not null and o.status = 'Accepted') as read
    from tenants t
    cross join open_registers o
    where t.tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { expected: 0, read: 0 };
}
