// Payments as their receipts show them.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type ReceiptRow = {
  payment_id: number;
  party_id: number;
  reference: string;
  direction: 'In' | 'Out';
  party_number: number;
  party_name: string;
  email: string | null;
  subscription_id: number | null;
  address: Record<string, unknown> | null;
  subscription_number: string | null;
  amount: string;
  wallet_amount: string;
  recovered_amount: string;
  value_date: string;
  payment_method: string;
  remark: string | null;
  receipt_number: string | null;
  cash_desk: string | null;
  cheque_number: string | null;
  reversal_date: string | null;
  created_at: Temporal.Instant;
};

export async function findReceipts(
  tx: Tx,
  tenantId: number,
  paymentIds: readonly number[],
  ownPartyId: number | null,
): Promise<ReceiptRow[]> {
  const { rows } = await sql<ReceiptRow>`
    select p.payment_id, p.party_id, p.reference, p.direction, o.party_number,
      o.name as party_name, o.email, o.address, p.subscription_id, s.subscription_number,
      p.amount::text as amount,
      p.wallet_amount::text as wallet_amount, p.recovered_amount::text as recovered_amount,
      p.value_date, p.payment_method, p.remark, q.receipt_number, d.name as cash_desk,
      k.cheque_number, r.reversal_date, p.created_at
    from payments p
    join parties o on o.tenant_id = ${tenantId} and o.party_id = p.party_id
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = p.subscription_id
    left join payment_reversals r on r.tenant_id = ${tenantId} and r.payment_id = p.payment_id
    left join receipts q on q.tenant_id = ${tenantId} and q.payment_id = p.payment_id
    left join cash_desks d on d.tenant_id = ${tenantId} and d.cash_desk_id = q.cash_desk_id
    left join cheques k on k.tenant_id = ${tenantId} and k.payment_id = p.payment_id
    where p.tenant_id = ${tenantId} and p.payment_id = any(${[...paymentIds]}::bigint[])
      and (${ownPartyId}::bigint is null or p.party_id = ${ownPartyId}::bigint)
    order by p.payment_id
  `.execute(tx);
  return rows;
}
