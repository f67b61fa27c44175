// Bills as they were frozen, one after the other, to be priced again.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { Facts } from '../rating/facts.ts';

export type FrozenBill = {
  bill_id: number;
  subject_id: number;
  first_run: number;
  current_charges: number;
  facts: Facts | { subscriptions: Facts[] };
};

/** The bills of a term that were rated, in the order of what they were made for. */
export async function listFrozenBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  window: { afterSubjectId: number; limit: number },
): Promise<FrozenBill[]> {
  const { rows } = await sql<FrozenBill>`
    select bill_id, subject_id, first_run, current_charges, facts
    from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
      and status <> 'Error' and subject_id > ${window.afterSubjectId}
    order by subject_id
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
