// Surcharges that are taken back, with what was paid of them.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import { ledgerAccounts } from '../../ledger/accounts.ts';
import type { ItemKey } from '../../ledger/book.ts';

export type PostedSurcharge = ItemKey & {
  billId: number;
  itemId: number;
  /** Neither credited, written off nor moved to another owner. */
  amount: number;
};

export async function listPostedSurcharges(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<PostedSurcharge[]> {
  const { rows } = await sql<PostedSurcharge>`
    select i.bill_id as "billId", i.item_id as "itemId", i.ledger_account_id as "accountId",
      i.party_id as "partyId", i.subscription_id as "subscriptionId",
      i.amount - i.credited - i.written_off - i.transferred as amount
    from open_items i
    where i.tenant_id = ${tenantId} and i.bill_id = any(${billIds}::bigint[])
      and i.kind = 'Surcharge'
      and i.amount > i.credited + i.written_off + i.transferred
    order by i.item_id
  `.execute(tx);
  return rows;
}

/** What is paid of an item, by payment. */
export type PaidOfItem = { item_id: number; payment_id: number | null; amount: number };

export async function listPaidOfItems(
  tx: Tx,
  tenantId: number,
  surcharges: readonly PostedSurcharge[],
): Promise<PaidOfItem[]> {
  const { rows } = await sql<PaidOfItem>`
    select e.item_id, e.payment_id, sum(e.settled)::bigint as amount
    from subledger_entries e
    where e.tenant_id = ${tenantId}
      and e.bill_id = any(${surcharges.map((one) => one.billId)}::bigint[])
      and e.item_id = any(${surcharges.map((one) => one.itemId)}::bigint[]) and e.effect = 'paid'
    group by e.item_id, e.payment_id
    having sum(e.settled) <> 0
    order by e.item_id, e.payment_id
  `.execute(tx);
  return rows;
}

/** What surcharges of a bill credited, by account and component; below zero, as booked. */
export type CreditedLine = {
  bill_id: number;
  business_unit_id: number;
  account_id: number;
  component: string | null;
  amount: number;
};

export async function listCreditedLines(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<CreditedLine[]> {
  const { rows } = await sql<CreditedLine>`
    select j.source_id as bill_id, min(j.business_unit_id) as business_unit_id,
      l.ledger_account_id as account_id, l.component, sum(l.amount)::bigint as amount
    from journals j
    join journal_lines l on l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
    where j.tenant_id = ${tenantId} and j.source_type = 'Surcharge'
      and j.source_id = any(${billIds}::bigint[])
      and l.ledger_account_id not in (${ledgerAccounts.receivable}, ${ledgerAccounts.advance})
    group by j.source_id, l.ledger_account_id, l.component
    having sum(l.amount) < 0
    order by j.source_id, l.ledger_account_id, l.component
  `.execute(tx);
  return rows;
}

/** A bill with a surcharge that is not taken back. */
export type SurchargedBill = {
  bill_id: number;
  party_id: number;
  /** The last day on which it would have been paid in time. */
  deadline: string;
  /** What was open on that day, after all payments with a value date up to it. */
  open_then: number;
};

/** Of parties, those with a deadline on this day or later. */
export async function listSurcharged(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
  day: string,
): Promise<SurchargedBill[]> {
  const { rows } = await sql<SurchargedBill>`
    select l.bill_id, l.party_id, l.deadline, l.bill_amount - coalesce((
        select sum(e.settled) from subledger_entries e
        where e.tenant_id = ${tenantId} and e.bill_id = l.bill_id and e.effect is not null
          and (e.item_id is null or (e.item_id = any(l.item_ids) and e.effect = 'paid'))
          and coalesce(e.value_date, e.posting_date) <= l.deadline
      ), 0)::bigint as open_then
    from (
      select b.bill_id, b.party_id, b.bill_amount, i.item_ids,
        greatest(b.due_date, b.issue_date) + coalesce((
          select (v.definition ->> 'graceDays')::integer from pricing_context_versions v
          where v.tenant_id = ${tenantId} and v.context_id = b.context_id
            and coalesce(v.effective_date, '-infinity') <= b.surcharged_on
          order by v.version desc
          limit 1
        ), 0) as deadline
      from (
        select o.bill_id, array_agg(o.item_id) as item_ids from open_items o
        where o.tenant_id = ${tenantId} and o.party_id = any(${partyIds}::bigint[])
          and o.kind = 'Surcharge' and o.amount > o.credited + o.written_off + o.transferred
        group by o.bill_id
      ) i
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = i.bill_id
        and b.status = 'Published'
    ) l
    where l.deadline >= ${day}::date
    order by l.bill_id
  `.execute(tx);
  return rows;
}
