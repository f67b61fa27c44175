// Which bill was cancelled by which credit note, and which bill replaces it.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** By term, the number of the cancelled bill that its bills replace. */
export async function findReplacedNumbers(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await sql<{ term_id: number; bill_number: string }>`
    select n.rebill_term_id as term_id, b.bill_number
    from credit_notes n
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
    where n.tenant_id = ${tenantId} and n.rebill_term_id = any(${[...termIds]}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.term_id, row.bill_number]));
}

export type CancellationRow = {
  bill_id: number;
  credit_note_number: string;
  /** Null while no bill that replaces it is posted; several are separated by commas. */
  replaced_by: string | null;
};

/** By cancelled bill. */
export async function findCancellations(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Map<number, CancellationRow>> {
  if (billIds.length === 0) return new Map();
  const { rows } = await sql<CancellationRow>`
    select n.bill_id, n.credit_note_number, (
        select string_agg(r.bill_number, ', ' order by r.bill_id) from bills r
        where r.tenant_id = ${tenantId} and r.term_id = n.rebill_term_id
      ) as replaced_by
    from credit_notes n
    where n.tenant_id = ${tenantId} and n.bill_id = any(${[...billIds]}::bigint[])
      and n.cancels_bill
  `.execute(tx);
  return new Map(rows.map((row) => [row.bill_id, row]));
}
