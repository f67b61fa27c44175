// Posted bills that are to be credited: what was paid of them, their surcharges and deposits.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { ContextType } from '../../ledger/accounts.ts';
import type { EntryKind } from '../../ledger/journal.ts';
import { postedParts } from './unpost-store.ts';

export type CreditableRow = {
  bill_id: number;
  bill_number: string | null;
  term_id: number;
  party_id: number;
  posting: number;
  status: string;
  context_type: ContextType;
  /** Of the journal that it was posted with. */
  business_unit_id: number;
};

export async function listCreditableRows(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<CreditableRow[]> {
  const { rows } = await sql<CreditableRow>`
    select b.bill_id, b.bill_number, b.term_id, b.party_id, b.posting, b.status, c.context_type,
      coalesce((
        select j.business_unit_id from subledger_entries e
        join journals j on j.tenant_id = ${tenantId} and j.journal_id = e.journal_id
        where e.tenant_id = ${tenantId} and e.bill_id = b.bill_id and e.kind = 'Bill'
          and e.posting = b.posting
        limit 1
      ), c.business_unit_id) as business_unit_id
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
    order by b.bill_id
  `.execute(tx);
  return rows;
}

/** What was paid of a bill, by subscription, item and payment, and not taken back since. */
export type PaidRow = {
  bill_id: number;
  subscription_id: number;
  /** Of a surcharge, or of a deposit that the bill demanded; null for the bill itself. */
  item_id: number | null;
  payment_id: number | null;
  /** Where no payment paid it: a wallet, or a credit of the customer. */
  kind: EntryKind | null;
  amount: number;
};

/** The newest first. */
export async function listPaid(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<PaidRow[]> {
  const { rows } = await sql<PaidRow>`
    select e.bill_id, e.subscription_id, e.item_id, e.payment_id,
      case when e.payment_id is null then e.kind end as kind, sum(e.settled)::bigint as amount
    from subledger_entries e
    where e.tenant_id = ${tenantId} and e.bill_id = any(${billIds}::bigint[])
      and e.effect = 'paid'
    group by 1, 2, 3, 4, 5
    having sum(e.settled) > 0
    order by max(e.posting_date) desc, max(e.entry_id) desc
  `.execute(tx);
  return rows;
}

/** An amount of a deposit that was demanded together with a bill, and not taken back since. */
export type DemandedRow = Pick<PaidRow, 'subscription_id' | 'item_id' | 'amount'> & {
  account_id: number;
};

export async function listDemanded(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<DemandedRow[]> {
  const { rows } = await sql<DemandedRow>`
    select e.subscription_id, e.ledger_account_id as account_id, e.item_id,
      sum(e.amount)::bigint as amount
    from subledger_entries e
    join journals j on j.tenant_id = ${tenantId} and j.journal_id = e.journal_id
    left join journals o on o.tenant_id = ${tenantId} and o.journal_id = j.reverses_journal_id
    where e.tenant_id = ${tenantId} and e.bill_id = ${billId}
      and e.subscription_id in (
        select p.subscription_id from (${postedParts(tenantId, { billId })}) p
      )
      and coalesce(o.source_type, j.source_type) = 'Deposit'
    group by e.subscription_id, e.ledger_account_id, e.item_id
    having sum(e.amount) <> 0
    order by e.subscription_id, e.ledger_account_id, e.item_id
  `.execute(tx);
  return rows;
}
