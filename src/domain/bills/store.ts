import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';

export type BillKey = {
  bill_id: number;
  term_id: number;
  subject_id: number;
  status: string;
  is_held: boolean;
};

export async function findBillKey(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<BillKey | undefined> {
  const { rows } = await sql<BillKey>`
    select bill_id, term_id, subject_id, status, is_held
    from bills
    where tenant_id = ${tenantId} and bill_id = ${billId}
  `.execute(tx);
  return rows[0];
}
