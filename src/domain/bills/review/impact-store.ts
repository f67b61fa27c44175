// Bills as they were frozen, one after the other, to be priced again.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { FrozenBillInputs } from '../../rating/frozen-inputs.ts';
import { withContents } from '../contents-store.ts';
import { isCounted, type SummedTerm } from './summary-store.ts';

export type FrozenBill = {
  bill_id: number;
  unit_id: number;
  first_run: number;
  current_charges: number;
  frozen: FrozenBillInputs;
};

/**
 * The bills of a term that were rated, in the order of what they were made for. Of a posted term,
 * what was left out is charged by the next one.
 */
export async function listFrozenBills(
  tx: Tx,
  tenantId: number,
  term: SummedTerm,
  window: { afterUnitId: number; limit: number },
): Promise<FrozenBill[]> {
  const { rows } = await sql<FrozenBill>`
    select b.bill_id, b.unit_id, b.first_run, b.current_charges, k.frozen
    from bills b
    ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and b.term_id = ${term.termId} and ${isCounted(term.isPosted)}
      and b.status <> 'Error' and b.unit_id > ${window.afterUnitId}
    order by b.unit_id
    limit ${window.limit}
  `.execute(tx);
  return rows;
}

export type BillCustomer = { bill_id: number; party_number: number; party_name: string };

export async function listBillCustomers(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<BillCustomer[]> {
  const { rows } = await sql<BillCustomer>`
    select b.bill_id, p.party_number, p.name as party_name
    from bills b
    join parties p on p.tenant_id = ${tenantId} and p.party_id = b.party_id
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
  `.execute(tx);
  return rows;
}
