// Which bill was cancelled by which credit note, and which bill replaces it.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** By term, the number of the cancelled bill that its bills replace. */
export async function findReplacedNumbers(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, string>> {
  // Few terms bill again. Of the others a look at one table is enough.
  const { rows: notes } = await sql<{ term_id: number; bill_id: number }>`
    select rebill_term_id as term_id, bill_id from credit_notes
    where tenant_id = ${tenantId} and rebill_term_id = any(${termIds}::bigint[])
  `.execute(tx);
  if (notes.length === 0) return new Map();
  const { rows: bills } = await sql<{ bill_id: number; bill_number: string }>`
    select bill_id, bill_number from bills
    where tenant_id = ${tenantId} and bill_id = any(${notes.map((note) => note.bill_id)}::bigint[])
  `.execute(tx);
  const numbers = new Map(bills.map((bill) => [bill.bill_id, bill.bill_number]));
  return new Map(
    notes.flatMap(({ term_id, bill_id }) => {
      const number = numbers.get(bill_id);
      return number === undefined ? [] : [[term_id, number]];
    }),
  );
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
