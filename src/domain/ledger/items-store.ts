// Open items of parties, and the wallets that are locked before they are read.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { ledgerAccounts } from './accounts.ts';
import { openItemsOfContext } from './accounts-store.ts';
import { openOfBill, openOfItem, openOfPart } from './open-amounts-store.ts';
import type { OpenItem } from './open-item.ts';

/**
 * Locks the wallets of parties and returns what is in them. Everything that settles open items
 * begins with this, in one order of parties, so that no two changes of a party meet.
 */
export async function lockWallets(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<Map<number, number>> {
  const ids = [...new Set(partyIds)].sort((a, b) => a - b);
  const [, { rows }] = await Promise.all([
    sql`
      insert into party_wallets (tenant_id, party_id)
      select own.tenant_id, w.party_id
      from (select tenant_id from tenants where tenant_id = ${tenantId}) own
      cross join unnest(${ids}::bigint[]) as w (party_id)
      order by w.party_id
      on conflict (tenant_id, party_id) do nothing
    `.execute(tx),
    sql<{ party_id: number; balance: number }>`
      select party_id, balance from party_wallets
      where tenant_id = ${tenantId} and ${isOneOf(ids)}
      order by party_id
      for no key update
    `.execute(tx),
  ]);
  return new Map(rows.map((row) => [row.party_id, row.balance]));
}

/** One party is named as such: PostgreSQL would plan the array of a clerk's call each time anew. */
function isOneOf(partyIds: readonly number[]): Sql {
  return partyIds.length === 1
    ? sql`party_id = ${partyIds[0]}`
    : sql`party_id = any(${partyIds}::bigint[])`;
}

/** Of parties, or of one subscription of a party. */
export type ItemsWanted =
  | { partyIds: readonly number[] }
  | { partyId: number; subscriptionId: number };

/** All open items, with credits below zero, in no order. */
export async function listOpenItems(
  tx: Tx,
  tenantId: number,
  wanted: ItemsWanted,
): Promise<OpenItem[]> {
  const { rows } = await sql<OpenItem>`
    select bill_id as "billId", item_id as "itemId", account_id as "accountId",
      party_id as "partyId", subscription_id as "subscriptionId", kind,
      due_date as "dueDate", issue_date as "issueDate", open, component
    from (
      ${openBills(tenantId, wanted)}
      union all
      ${openParts(tenantId, wanted)}
      union all
      ${openOthers(tenantId, wanted)}
    ) o
    where o.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}

/** A bill that is posted and not published yet is issued last of those of its due date. */
const issueDate = sql`coalesce(b.issue_date, 'infinity'::date)`;

function openBills(tenantId: number, wanted: ItemsWanted): Sql {
  const isWanted =
    'partyIds' in wanted
      ? sql`b.party_id = any(${wanted.partyIds}::bigint[]) and b.subscription_id is not null`
      : sql`b.subscription_id = ${wanted.subscriptionId} and b.party_id = ${wanted.partyId}`;
  return sql`
    select b.tenant_id, b.bill_id, null::bigint as item_id,
      (${openItemsOfContext})::bigint as account_id,
      b.party_id, b.subscription_id, 'Bill' as kind, b.due_date, ${issueDate} as issue_date,
      ${openOfBill} as open, null::text as component
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where b.tenant_id = ${tenantId} and ${isWanted} and not b.is_settled
      and b.status in ('Posted', 'Published')`;
}

function openParts(tenantId: number, wanted: ItemsWanted): Sql {
  const isWanted =
    'partyIds' in wanted
      ? sql`b.party_id = any(${wanted.partyIds}::bigint[])`
      : sql`p.subscription_id = ${wanted.subscriptionId} and b.party_id = ${wanted.partyId}`;
  return sql`
    select p.tenant_id, b.bill_id, null::bigint, (${openItemsOfContext})::bigint, b.party_id,
      p.subscription_id,
      'Bill', b.due_date, ${issueDate}, ${openOfPart}, null::text
    from bill_parts p
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where p.tenant_id = ${tenantId} and ${isWanted} and not b.is_settled
      and b.subscription_id is null and b.status in ('Posted', 'Published')
      and ${openOfPart} <> 0`;
}

/** A surcharge has the place of its bill. */
function openOthers(tenantId: number, wanted: ItemsWanted): Sql {
  const isWanted =
    'partyIds' in wanted
      ? sql`i.party_id = any(${wanted.partyIds}::bigint[])`
      : sql`i.subscription_id = ${wanted.subscriptionId} and i.party_id = ${wanted.partyId}`;
  return sql`
    select i.tenant_id, i.bill_id, i.item_id, i.ledger_account_id, i.party_id, i.subscription_id,
      i.kind,
      coalesce(b.due_date, i.due_date), coalesce(b.issue_date, i.issue_date),
      ${openOfItem}, i.component
    from open_items i
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = i.bill_id
      and i.kind = 'Surcharge'
    where i.tenant_id = ${tenantId} and ${isWanted} and not i.is_settled`;
}

/** What of bills of a party is in dispute for a subscription. */
export async function findDisputedBills(
  tx: Tx,
  tenantId: number,
  { partyId, subscriptionId }: { partyId: number; subscriptionId: number },
): Promise<number> {
  const { rows } = await sql<{ amount: number }>`
    select coalesce(sum(amount), 0)::bigint as amount from subledger_entries
    where tenant_id = ${tenantId} and subscription_id = ${subscriptionId}
      and party_id = ${partyId} and ledger_account_id = ${ledgerAccounts.disputed}
      and bill_id is not null
  `.execute(tx);
  return rows[0]?.amount ?? 0;
}

/** In the order of their ids, as every change of several bills takes them. */
export async function lockBills(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<void> {
  await sql`
    select bill_id from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by bill_id
    for no key update
  `.execute(tx);
}
