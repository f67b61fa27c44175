// What is shown with bills and stands elsewhere, for many of them at once.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';

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

export type DeliveryRow = {
  bill_id: number;
  channel: string;
  recipient: string | null;
  status: string;
  at: Temporal.Instant;
};

export async function listDeliveries(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select bill_id, channel, recipient, status, coalesce(sent_at, modified_at) as at
    from deliveries
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by bill_id, delivery_id
  `.execute(tx);
  return rows;
}

export type EarlierBillRow = {
  subscription_id: number;
  bill_id: number;
  party_id: number;
  label: string;
  bill_amount: string;
  paid_amount: string;
};

/** Posted bills of subscriptions, newest first, as many of each as are shown. */
export async function listEarlierBills(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
  limit: number,
): Promise<EarlierBillRow[]> {
  const { rows } = await sql<EarlierBillRow>`
    select e.subscription_id, e.bill_id, e.party_id, t.label, e.bill_amount::text as bill_amount,
      e.paid_amount::text as paid_amount
    from unnest(${subscriptionIds}::bigint[]) as s (subscription_id)
    cross join lateral (
      select b.subscription_id, b.bill_id, b.party_id, b.term_id, b.bill_amount, b.paid_amount
      from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
        and b.status in ('Posted', 'Published')
      order by b.bill_id desc
      limit ${limit}
    ) e
    join terms t on t.tenant_id = ${tenantId} and t.term_id = e.term_id
    order by e.subscription_id, e.bill_id desc
  `.execute(tx);
  return rows;
}
