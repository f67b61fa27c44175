// Bills that are paid too late, and the surcharges that they were given.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { openOfBill, openOfItem, openOfPart } from '../../ledger/open-amounts-store.ts';
import type { RowKey } from '../../tenants/daily-store.ts';
import type { StoredLine } from '../bill-forms.ts';
import { withContents } from '../contents-store.ts';

/** Bills of one chunk: a payment waits for no more than these. */
export const billsAtOnce = 1_000;

export type LateBill = {
  bill_id: number;
  party_id: number;
  term_id: number;
  first_run: number;
  due_date: string;
  issue_date: string;
};

/** One chunk of unpaid bills that printed a surcharge and have none yet, by due date and id. */
export async function listLateBills(
  tx: Tx,
  tenantId: number,
  localDate: Temporal.PlainDate,
  after: RowKey | null,
): Promise<LateBill[]> {
  const { rows } = await sql<LateBill>`
    select bill_id, party_id, term_id, first_run, due_date, issue_date from bills
    where tenant_id = ${tenantId} and due_date < ${localDate} and issue_date is not null
      and surcharged_on is null and not is_settled and late_surcharge > 0
      and (due_date, bill_id) > (${after?.dueDate ?? '-infinity'}::date, ${after?.billId ?? 0})
    order by due_date, bill_id
    limit ${billsAtOnce}
  `.execute(tx);
  return rows;
}

export type SurchargeableBill = {
  bill_id: number;
  bill_number: string;
  party_id: number;
  subscription_id: number | null;
  term_id: number;
  first_run: number;
  amount: number;
  open: number;
  paid: number;
  /** As printed. */
  surcharges: StoredLine[] | null;
  sections: { connectionNumber: string; connectionID: number }[] | null;
};

/**
 * Of bills that the transaction has locked, those that are still to be surcharged. A bill that a
 * credit from before covers asks for nothing, and is not late; one in an instalment plan in force
 * is not surcharged.
 */
export async function listSurchargeable(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<SurchargeableBill[]> {
  const { rows } = await sql<SurchargeableBill>`
    select b.bill_id, b.bill_number, b.party_id, b.subscription_id, b.term_id, b.first_run,
      b.bill_amount as amount, ${openOfBill} as open, b.paid_amount as paid,
      k.document -> 'surcharges' as surcharges, k.document -> 'sections' as sections
    from bills b
    ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
      and b.status = 'Published' and b.surcharged_on is null and not b.is_settled
      and b.bill_amount > 0
      and b.bill_amount - ${openOfBill} < b.payable + b.wallet_applied
      and not exists (
        select from arrangements a
        where a.tenant_id = ${tenantId} and a.party_id = b.party_id and a.status = 'Active'
          and b.bill_id = any(a.bill_ids)
      )
    order by b.bill_id
  `.execute(tx);
  return rows;
}

/** The part of a bill that is of one subscription. */
export type LateShare = {
  bill_id: number;
  subscription_id: number;
  amount: number;
  open: number;
  paid: number;
};

/** Of bills of several subscriptions. */
export async function listLateShares(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<LateShare[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<LateShare>`
    select p.bill_id, p.subscription_id, p.amount, ${openOfPart} as open, p.paid_amount as paid
    from bill_parts p
    where p.tenant_id = ${tenantId} and p.bill_id = any(${billIds}::bigint[])
    order by p.bill_id, p.subscription_id
  `.execute(tx);
  return rows;
}

/** By bill, the inputs that it was rated with, as JSON. */
export async function listFrozen(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Map<number, string>> {
  if (billIds.length === 0) return new Map();
  const { rows } = await sql<{ bill_id: number; frozen: string }>`
    select bill_id, frozen::text as frozen from bill_contents
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.bill_id, row.frozen]));
}

export async function markSurcharged(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  { localDate, stamp }: { localDate: Temporal.PlainDate; stamp: Stamp },
): Promise<void> {
  await sql`
    update bills
    set surcharged_on = ${localDate}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
  `.execute(tx);
}

/** A surcharge of a bill, as the bill shows it. Amounts are minor units as text. */
export type SurchargeRow = {
  bill_id: number;
  item_id: number;
  subscription_number: string;
  issue_date: string;
  amount: string;
  credited: string;
  paid: string;
  open: string;
};

/** Also those that were reversed since: their amount is credited, and nothing is open. */
export async function listSurcharges(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<SurchargeRow[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<SurchargeRow>`
    select i.bill_id, i.item_id, s.subscription_number, i.issue_date,
      i.amount::text as amount, i.credited::text as credited, i.paid_amount::text as paid,
      ${openOfItem}::text as open
    from open_items i
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = i.subscription_id
    where i.tenant_id = ${tenantId} and i.bill_id = any(${billIds}::bigint[])
      and i.kind = 'Surcharge'
    order by i.item_id
  `.execute(tx);
  return rows;
}
