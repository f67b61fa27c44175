// Bills that a booking may have settled.
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** Those of the bills that are now paid in full. */
export async function listPaid(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<number[]> {
  if (billIds.length === 0) return [];
  const [only] = billIds;
  // Of a list of ids PostgreSQL makes a plan for every call, which takes longer than reading it.
  const isWanted =
    billIds.length === 1 ? sql`bill_id = ${only}` : sql`bill_id = any(${billIds}::bigint[])`;
  const { rows } = await sql<{ bill_id: number }>`
    select bill_id from bills
    where tenant_id = ${tenantId} and ${isWanted} and payment_status = 'Paid'
    order by bill_id
  `.execute(tx);
  return rows.map((row) => row.bill_id);
}
