// The daily job of bills: those that were not paid in time are Overdue from the day after.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';

/**
 * Only what customers have been shown can be late, and only what they were asked for: a bill that a
 * credit from before covers asks for nothing.
 */
export async function fallOverdue(
  tx: Tx,
  tenantId: number,
  { localDate, now }: { localDate: Temporal.PlainDate; now: Temporal.Instant },
): Promise<{ overdue: number }> {
  const { count } = await sql`
    update bills
    set overdue_on = ${localDate}, modified_at = ${now}, modified_by = 'daily job',
      ts = greatest(ts + 1, ${now.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and status = 'Published' and due_date < ${localDate}
      and issue_date is not null and overdue_on is null and not is_settled and bill_amount > 0
      and paid_amount < payable + wallet_applied
  `.execute(tx);
  return { overdue: count };
}
