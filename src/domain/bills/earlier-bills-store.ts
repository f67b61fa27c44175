// The bills before a bill, as its history shows them.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** A bill whose history is wanted. */
export type LaterBill = {
  bill_id: number;
  subscription_id: number | null;
  party_id: number;
  billed_to: string | null;
  /** Of its term, for a bill that could not be made. */
  end_date: string;
};

export type EarlierBillRow = {
  /** The bill whose history lists this one. */
  bill_id: number;
  label: string;
  bill_amount: string;
  paid_amount: string;
};

/**
 * Posted bills of the same subscription and party over the days before, newest first, as many of
 * each as are shown. Ids tell nothing: drafts of a later term may have been made first. The term is
 * looked up and not joined: bills would be looked for again for each term there is.
 */
export async function listEarlierBills(
  tx: Tx,
  tenantId: number,
  bills: readonly LaterBill[],
  limit: number,
): Promise<EarlierBillRow[]> {
  const { rows } = await sql<EarlierBillRow>`
    select n.bill_id, (
        select t.label from terms t where t.tenant_id = ${tenantId} and t.term_id = e.term_id
      ) as label, e.bill_amount::text as bill_amount, e.paid_amount::text as paid_amount
    from unnest(
      ${bills.map((bill) => bill.bill_id)}::bigint[],
      ${bills.map((bill) => bill.subscription_id)}::bigint[],
      ${bills.map((bill) => bill.party_id)}::bigint[],
      ${bills.map((bill) => bill.billed_to ?? bill.end_date)}::date[]
    ) as n (bill_id, subscription_id, party_id, billed_to)
    cross join lateral (
      select b.term_id, b.billed_to, b.bill_amount, b.paid_amount
      from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = n.subscription_id
        and b.status in ('Posted', 'Published') and b.party_id is not distinct from n.party_id
        and b.billed_to < n.billed_to
      order by b.billed_to desc
      limit ${limit}
    ) e
    order by n.bill_id, e.billed_to desc
  `.execute(tx);
  return rows;
}
