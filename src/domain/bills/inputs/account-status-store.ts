// Account status of the owners when their bills are generated: what they owe, what was billed
// before and what they have paid since. One statement, so that all figures are of one moment.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { type ContextType, isOwedByWorkspace } from '../../ledger/accounts.ts';
import { openOfBill, openOfItem, openOfPart } from '../../ledger/open-amounts-store.ts';
import { type HistoryEntry, historyText, readHistory } from '../../terms/usage-history-store.ts';

export type AccountStatusRow = {
  subscription_id: number;
  party_number: number;
  party_name: string;
  party_address: object | null;
  account_label: string;
  /** Minor units; of a context of purchases, what is owed to the party. */
  receivable: number;
  deposit: number;
  wallet: number;
  /** Newest first, no more than a bill looks back on. */
  history: HistoryEntry[] | null;
  brought_forward: number;
  /** By component; null of one that was given by hand. */
  billed: Record<string, number | null> | null;
  /** Received since the newest bill, minor units. */
  payments: number;
  /** Received in all, minor units. */
  received: number;
};

type Side = { context_type: ContextType };

/** Bills have what is owed above zero, by whomever. */
function sideOf({ context_type: type }: Side): Sql {
  return sql.raw(isOwedByWorkspace(type) ? '-1' : '1');
}

/**
 * Of each subscription with the account and the party that its bill is for. Each table is read by
 * ids and hashed: balances by those of subscriptions, because a party may have thousands.
 */
export async function listAccountStatuses(
  tx: Tx,
  tenantId: number,
  term: Side,
  owned: readonly { subscription_id: number; account_id: number; party_id: number }[],
): Promise<AccountStatusRow[]> {
  const ids = owned.map((row) => row.subscription_id);
  const accountIds = owned.map((row) => row.account_id);
  const partyIds = owned.map((row) => row.party_id);
  const { rows } = await sql<AccountStatusRow & { history_text: string | null }>`
    select n.subscription_id, o.party_number, o.name as party_name, o.address as party_address,
      a.label as account_label,
      coalesce(b.receivable * ${sideOf(term)}, 0) as receivable,
      coalesce(b.deposit, 0) as deposit,
      coalesce(w.balance, 0) as wallet, null as history, ${historyText} as history_text,
      coalesce(h.brought_forward, 0) as brought_forward, h.billed,
      coalesce(b.received * ${sideOf(term)}, 0) - coalesce(h.received, 0) as payments,
      coalesce(b.received * ${sideOf(term)}, 0) as received
    from unnest(${ids}::bigint[], ${accountIds}::bigint[], ${partyIds}::bigint[])
      as n (subscription_id, account_id, party_id)
    join billing_accounts a on a.tenant_id = ${tenantId}
      and a.account_id = any(${accountIds}::bigint[]) and a.account_id = n.account_id
    join parties o on o.tenant_id = ${tenantId} and o.party_id = any(${partyIds}::bigint[])
      and o.party_id = n.party_id
    left join party_wallets w on w.tenant_id = ${tenantId}
      and w.party_id = any(${partyIds}::bigint[]) and w.party_id = n.party_id
    left join subscription_balances b on b.tenant_id = ${tenantId}
      and b.subscription_id = any(${ids}::bigint[]) and b.subscription_id = n.subscription_id
      and b.party_id = n.party_id
    left join usage_histories h on h.tenant_id = ${tenantId}
      and h.subscription_id = any(${ids}::bigint[]) and h.subscription_id = n.subscription_id
  `.execute(tx);
  // In place: a copy of each row costs as much as reading it.
  for (const row of rows) row.history = readHistory(row.history_text);
  return rows;
}

/** For an owner who was billed before: the balance of the last own bill, and payments since. */
export type OwnBill = Pick<AccountStatusRow, 'subscription_id' | 'brought_forward' | 'payments'>;

export async function listOwnBills(
  tx: Tx,
  tenantId: number,
  term: Side,
  owned: readonly { subscription_id: number; party_id: number }[],
): Promise<OwnBill[]> {
  if (owned.length === 0) return [];
  const { rows } = await sql<OwnBill>`
    select n.subscription_id, o.brought_forward,
      coalesce(b.received * ${sideOf(term)}, 0) - o.received as payments
    from unnest(
      ${owned.map((row) => row.subscription_id)}::bigint[],
      ${owned.map((row) => row.party_id)}::bigint[]
    ) as n (subscription_id, party_id)
    cross join lateral (
      select b.billed_to, b.arrears + b.bill_amount as brought_forward, b.received, b.bill_id
      from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = n.subscription_id
        and b.party_id = n.party_id and b.status in ('Posted', 'Published')
      union all
      select p.billed_to, p.arrears + p.amount, p.received, b.bill_id
      from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        and b.party_id = n.party_id and b.status in ('Posted', 'Published')
      where p.tenant_id = ${tenantId} and p.subscription_id = n.subscription_id
      order by billed_to desc, bill_id desc
      limit 1
    ) o
    left join subscription_balances b on b.tenant_id = ${tenantId}
      and b.subscription_id = n.subscription_id and b.party_id = n.party_id
  `.execute(tx);
  return rows;
}

export type UnpaidRow = {
  subscription_id: number;
  party_id: number;
  open: number;
  due_date: string;
};

/** Bills, shares of bills and other items that are not paid. */
export async function listUnpaid(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
): Promise<UnpaidRow[]> {
  const { rows } = await sql<UnpaidRow>`
    select subscription_id, party_id, open, due_date
    from (
      select b.subscription_id, b.party_id, ${openOfBill} as open, b.due_date, b.bill_id
      from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = any(${subscriptionIds}::bigint[])
        and b.status in ('Posted', 'Published') and not b.is_settled and b.bill_amount > 0
      union all
      select p.subscription_id, b.party_id, ${openOfPart}, b.due_date, b.bill_id
      from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        and b.status in ('Posted', 'Published') and not b.is_settled
      where p.tenant_id = ${tenantId} and p.subscription_id = any(${subscriptionIds}::bigint[])
        and ${openOfPart} > 0
      union all
      select i.subscription_id, i.party_id, ${openOfItem}, i.due_date, i.bill_id
      from open_items i
      where i.tenant_id = ${tenantId} and i.subscription_id = any(${subscriptionIds}::bigint[])
        and not i.is_settled and i.amount > 0
    ) unpaid
    order by subscription_id, due_date, bill_id
  `.execute(tx);
  return rows;
}

/** A part of an item that was settled after it fell due. */
export type SettledLateRow = {
  subscription_id: number;
  party_id: number;
  /** Below zero where it was opened again. */
  amount: number;
  due_date: string;
  settled_on: string;
};

/**
 * What was settled after a day, and after it was due, by the day from which the money counts. What
 * was credited was never owed; what a credit of the customer paid is seen from the credit.
 */
export async function listSettledLate(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
  { after }: { after: string },
): Promise<SettledLateRow[]> {
  const { rows } = await sql<SettledLateRow>`
    select e.subscription_id, e.party_id, e.settled as amount,
      coalesce(i.due_date, b.due_date) as due_date,
      coalesce(e.value_date, e.posting_date) as settled_on
    from subledger_entries e
    left join open_items i on i.tenant_id = ${tenantId} and i.item_id = e.item_id
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = e.bill_id
    where e.tenant_id = ${tenantId} and e.subscription_id = any(${subscriptionIds}::bigint[])
      and e.posting_date > ${after}::date and e.effect is not null
      and e.kind not in ('Offset', 'CreditNote', 'Surcharge')
      and (b.status is null or b.status in ('Posted', 'Published'))
      and coalesce(e.value_date, e.posting_date)
        > greatest(${after}::date, coalesce(i.due_date, b.due_date))
  `.execute(tx);
  return rows;
}
