// Months of the ledger that are closed. What is booked for a day in one of them is posted on the
// first open day; the day from which the money counts stays what it was.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

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
async function lockMonths(tx: Tx, tenantId: number, { alone }: { alone: boolean }): Promise<void> {
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
async function findLastClosedMonth(tx: Tx, tenantId: number): Promise<Temporal.PlainDate | null> {
  const { rows } = await sql<{ month: string | null }>`
    select max(month)::text as month from ledger_months
    where tenant_id = ${tenantId} and is_closed
  `.execute(tx);
  const month = rows[0]?.month;
  return month ? Temporal.PlainDate.from(month) : null;
}
