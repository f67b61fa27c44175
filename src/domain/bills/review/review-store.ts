// Bills of a term that are not ready to be posted, for messages that name some of them.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import { withContents } from '../contents-store.ts';

export type ReviewRow = {
  bill_id: number;
  status: 'Error' | 'Hold';
  connection_number: string | null;
  /** Of the first error. */
  code: string | null;
  message: string | null;
  hold_reason: string | null;
};

/** Those in error first. */
export async function listReview(
  tx: Tx,
  tenantId: number,
  termId: number,
  limit: number,
): Promise<ReviewRow[]> {
  const { rows } = await sql<ReviewRow>`
    select b.bill_id, b.review_status as status,
      coalesce(k.document #>> '{errors,0,connectionNumber}',
        k.frozen #>> '{connection,connectionNumber}') as connection_number,
      k.document #>> '{errors,0,code}' as code, k.document #>> '{errors,0,message}' as message,
      b.hold_reason
    from (
      select tenant_id, bill_id, review_status, hold_reason from bills
      where tenant_id = ${tenantId} and term_id = ${termId} and review_status is not null
      order by review_status, bill_id
      limit ${limit}
    ) b
    ${withContents(tenantId)}
    order by b.review_status, b.bill_id
  `.execute(tx);
  return rows;
}
