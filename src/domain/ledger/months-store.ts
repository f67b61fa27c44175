// Months of the ledger that are closed. What is booked for a day in one of them is posted on the
// first open day; the day from which the money counts stays what it was.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

/**
 * The first day on which anything can be posted, or null if no month is closed. Until the
 * transaction ends no month is closed or opened again.
 */
export async function findFirstOpenDay(
  tx: Tx,
  tenantId: number,
): Promise<Temporal.PlainDate | null> {
  // Two statements: the second sees what was closed while the first waited.
  const [, last] = await Promise.all([
    lockMonths(tx, tenantId, { alone: false }),
    findLastClosedMonth(tx, tenantId),
  ]);
  return last ? last.add({ months: 1 }) : null;
}

/** Alone, it waits for every booking that is under way and holds off new ones until the end. */
export async function lockMonths(
  tx: Tx,
  tenantId: number,
  { alone }: { alone: boolean },
): Promise<void> {
  await sql`
    select lock_months(tenant_id, ${alone}) from tenants where tenant_id = ${tenantId}
  `.execute(tx);
}

/** The day on which an event of a date is posted. */
export function openDay(
  date: Temporal.PlainDate,
  firstOpen: Temporal.PlainDate | null,
): Temporal.PlainDate {
  return firstOpen && Temporal.PlainDate.compare(date, firstOpen) < 0 ? firstOpen : date;
}

/** Its first day. */
export async function findLastClosedMonth(
  tx: Tx,
  tenantId: number,
): Promise<Temporal.PlainDate | null> {
  const { rows } = await sql<{ month: string | null }>`
    select max(month)::text as month from ledger_months
    where tenant_id = ${tenantId} and is_closed
  `.execute(tx);
  const month = rows[0]?.month;
  return month ? Temporal.PlainDate.from(month) : null;
}

export type LedgerMonth = { is_closed: boolean; year_end_journal_id: number | null };

export async function findMonth(
  tx: Tx,
  tenantId: number,
  month: Temporal.PlainDate,
): Promise<LedgerMonth | undefined> {
  const { rows } = await sql<LedgerMonth>`
    select is_closed, year_end_journal_id from ledger_months
    where tenant_id = ${tenantId} and month = ${month.toString()}::date
  `.execute(tx);
  return rows[0];
}

/** Months that are closed one after the other, the last of them by its year end or without one. */
export async function closeMonths(
  tx: Tx,
  tenantId: number,
  months: readonly Temporal.PlainDate[],
  { reason, yearEnd }: { reason: string; yearEnd: number | null },
  stamp: Stamp,
): Promise<void> {
  const last = months.at(-1)?.toString() ?? null;
  await sql`
    insert into ledger_months (tenant_id, month, is_closed, year_end_journal_id, reason, changed_at,
      changed_by)
    select own.tenant_id, m.month, true,
      case when m.month = ${last}::date then ${yearEnd}::bigint end, ${reason}, ${stamp.at},
      ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(${months.map(String)}::date[]) as m (month)
    on conflict (tenant_id, month) do update
    set is_closed = true, year_end_journal_id = excluded.year_end_journal_id,
      reason = excluded.reason, changed_at = excluded.changed_at, changed_by = excluded.changed_by
  `.execute(tx);
}

export async function reopenMonth(
  tx: Tx,
  tenantId: number,
  month: Temporal.PlainDate,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update ledger_months
    set is_closed = false, export_hashes = '{}', year_end_journal_id = null, reason = ${reason},
      changed_at = ${stamp.at}, changed_by = ${stamp.by}
    where tenant_id = ${tenantId} and month = ${month.toString()}::date
  `.execute(tx);
}

/** Undefined until the night after closing. */
export async function findExportHash(
  tx: Tx,
  tenantId: number,
  month: Temporal.PlainDate,
  format: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ hash: string | null }>`
    select export_hashes ->> ${format}::text as hash from ledger_months
    where tenant_id = ${tenantId} and month = ${month.toString()}::date
  `.execute(tx);
  return rows[0]?.hash ?? undefined;
}

/** Closed months whose exports have no hash yet, the oldest first. */
export async function listUnhashedMonths(tx: Tx, tenantId: number): Promise<Temporal.PlainDate[]> {
  const { rows } = await sql<{ month: string }>`
    select month::text as month from ledger_months
    where tenant_id = ${tenantId} and is_closed and export_hashes = '{}'
    order by month
  `.execute(tx);
  return rows.map((row) => Temporal.PlainDate.from(row.month));
}

export async function updateExportHashes(
  tx: Tx,
  tenantId: number,
  month: Temporal.PlainDate,
  hashes: Record<string, string>,
): Promise<void> {
  await sql`
    update ledger_months set export_hashes = ${JSON.stringify(hashes)}::jsonb
    where tenant_id = ${tenantId} and month = ${month.toString()}::date and is_closed
  `.execute(tx);
}

/** The first day with a journal, or null in an empty ledger. */
export async function findFirstPosting(
  tx: Tx,
  tenantId: number,
): Promise<Temporal.PlainDate | null> {
  const { rows } = await sql<{ day: string | null }>`
    select min(posting_date)::text as day from journals where tenant_id = ${tenantId}
  `.execute(tx);
  const day = rows[0]?.day;
  return day ? Temporal.PlainDate.from(day) : null;
}
