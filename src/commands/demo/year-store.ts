// What customers of the demo owe while its year goes by.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type DemoPayer = {
  subscription_id: number;
  number: string;
  party_id: number;
  party_name: string;
  /** Minor units. */
  owed: number;
};

/** The subscriptions of a batch, by id. */
export async function listPayers(
  tx: Tx,
  tenantId: number,
  { contextCode, batchCode }: { contextCode: string; batchCode: string },
): Promise<DemoPayer[]> {
  const { rows } = await sql<DemoPayer>`
    select s.subscription_id, s.subscription_number as number, s.party_id, p.name as party_name,
      coalesce((
        select sum(b.receivable) from subscription_balances b
        where b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
      ), 0)::bigint as owed
    from subscriptions s
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    join batches t on t.tenant_id = ${tenantId} and t.batch_id = s.batch_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and c.code = ${contextCode} and t.code = ${batchCode}
    order by s.subscription_id
  `.execute(tx);
  return rows;
}

export type DemoBill = { bill_id: number; open: number };

/** The bills of a subscription that are not paid, the oldest first. */
export async function listUnpaid(
  tx: Tx,
  tenantId: number,
  subscriptionId: number,
): Promise<DemoBill[]> {
  const { rows } = await sql<DemoBill>`
    select bill_id,
      bill_amount - paid_amount - credited - written_off - transferred - disputed as open
    from bills
    where tenant_id = ${tenantId} and subscription_id = ${subscriptionId} and not is_settled
      and status = 'Published'
    order by bill_id
  `.execute(tx);
  return rows;
}

export async function findBankAccount(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select min(bank_account_id) as id from bank_accounts where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.id ?? 0;
}
