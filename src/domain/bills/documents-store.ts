// The documents of bills, for lists of bills.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type DocumentRow = {
  bill_id: number;
  document_id: number;
  format: string;
  /** Why it could not be made. */
  error: { code: string; message: string } | null;
  created_at: Temporal.Instant;
};

export async function listDocuments(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<DocumentRow[]> {
  const { rows } = await sql<DocumentRow>`
    select bill_id, document_id, format, error, created_at from bill_documents
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by bill_id, document_id
  `.execute(tx);
  return rows;
}
