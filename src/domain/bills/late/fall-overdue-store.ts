// The daily job of bills: those that were not paid in time are Overdue from the day after.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import { eventsOf, insertEvents } from '../../events/events-store.ts';
import { lockBills } from '../../ledger/items-store.ts';
import type { ChunkDone, RowKey } from '../../tenants/daily-store.ts';

/** Bills of one chunk: a payment waits for no more than these. */
const billsAtOnce = 1_000;

/**
 * One chunk of bills, by due date and id. Only what customers have been shown can be late, and only
 * what they were asked for: a bill that a credit from before covers asks for nothing.
 */
export async function fallOverdue(
  tx: Tx,
  tenantId: number,
  { localDate, now }: { localDate: Temporal.PlainDate; now: Temporal.Instant },
  after: RowKey | null,
): Promise<ChunkDone> {
  const { rows } = await sql<{ bill_id: number; due_date: string }>`
    select bill_id, due_date from bills
    where tenant_id = ${tenantId} and due_date < ${localDate} and issue_date is not null
      and overdue_on is null and not is_settled
      and (due_date, bill_id) > (${after?.dueDate ?? '-infinity'}::date, ${after?.billId ?? 0})
    order by due_date, bill_id
    limit ${billsAtOnce}
  `.execute(tx);
  const last = rows.at(-1);
  if (!last) return { next: null, outcome: { overdue: 0 } };
  const ids = rows.map((row) => row.bill_id);
  await lockBills(tx, tenantId, ids);
  const { rows: late } = await sql<{ bill_id: number }>`
    update bills
    set overdue_on = ${localDate}, modified_at = ${now}, modified_by = 'daily job',
      ts = greatest(ts + 1, ${now.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[]) and status = 'Published'
      and overdue_on is null and not is_settled and bill_amount > 0
      and paid_amount + credited + written_off + transferred + disputed < payable + wallet_applied
    returning bill_id
  `.execute(tx);
  const overdue = late.map((row) => row.bill_id).sort((a, b) => a - b);
  await insertEvents(tx, tenantId, eventsOf('bill.overdue', 'billID', overdue), now);
  const isLast = rows.length < billsAtOnce;
  const next = isLast ? null : { dueDate: last.due_date, billId: last.bill_id };
  return { next, outcome: { overdue: overdue.length } };
}
