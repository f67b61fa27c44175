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

export type ReceiptLineRow = {
  payment_id: number;
  kind: string;
  bill_number: string | null;
  amount: string;
  surcharge: string;
};

/** What payments settled when they were made: the entries of their own journals. */
export async function listReceiptLines(
  tx: Tx,
  tenantId: number,
  paymentIds: readonly number[],
): Promise<ReceiptLineRow[]> {
  const { rows } = await sql<ReceiptLineRow>`
    select a.payment_id, a.kind, b.bill_number, a.amount::text as amount,
      a.surcharge::text as surcharge
    from (
      select p.payment_id, case when i.kind is null or i.kind = 'Surcharge' then e.bill_id end
          as bill_id,
        case when i.kind is null or i.kind = 'Surcharge' then 'Bill' else i.kind end as kind,
        sum(e.settled) as amount,
        coalesce(sum(e.settled) filter (where i.kind = 'Surcharge'), 0) as surcharge
      from payments p
      join subledger_entries e on e.tenant_id = ${tenantId} and e.payment_id = p.payment_id
        and e.journal_id = p.journal_id and e.effect = 'paid'
      left join open_items i on i.tenant_id = ${tenantId} and i.item_id = e.item_id
      where p.tenant_id = ${tenantId} and p.payment_id = any(${[...paymentIds]}::bigint[])
      group by 1, 2, 3
      having sum(e.settled) <> 0
    ) a
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = a.bill_id
    order by a.payment_id, a.bill_id
  `.execute(tx);
  return rows;
}

/** A worker keeps the receipt of a payment that was received, unless it is kept. */
export async function queueReceipt(
  tx: Tx,
  tenantId: number,
  paymentId: number,
  ownPartyId: number | null,
): Promise<void> {
  await sql`
    insert into document_queue (tenant_id, kind, subject_id)
    select p.tenant_id, 'Receipt', p.payment_id
    from payments p
    where p.tenant_id = ${tenantId} and p.payment_id = ${paymentId} and p.direction = 'In'
      and (${ownPartyId}::bigint is null or p.party_id = ${ownPartyId}::bigint)
      and not exists (
        select from further_documents d
        where d.tenant_id = ${tenantId} and d.kind = 'Receipt' and d.subject_id = p.payment_id
      )
    on conflict do nothing
  `.execute(tx);
}
