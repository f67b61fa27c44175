// Statements of account: the entries of what a party owes, or of one of its subscriptions.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { openItems } from '../ledger/accounts-store.ts';
import { openOfBill, openOfItem, openOfPart } from '../ledger/open-amounts-store.ts';

/** A party, or some subscriptions of it: one, or those of a billing account. */
export type StatementKey = { partyId: number; subscriptionIds: readonly number[] | null };

export type StatementDays = { from: string | null; to: string };

function isOfKey(tenantId: number, key: StatementKey): Sql {
  return sql`e.tenant_id = ${tenantId} and e.party_id = ${key.partyId} ${isOfSome(key, 'e')}
    and e.ledger_account_id in ${openItems}`;
}

/** Row `name` belongs to one of the subscriptions. */
function isOfSome({ subscriptionIds }: StatementKey, name: string): Sql {
  if (subscriptionIds === null) return sql``;
  return sql`and ${sql.raw(name)}.subscription_id = any(${subscriptionIds}::bigint[])`;
}

/**
 * What was owed before the first day, and how many entries the days have. It is what is owed now
 * less all that came since, so that a month of a long history reads the entries of that month on.
 */
export async function findStatement(
  tx: Tx,
  tenantId: number,
  key: StatementKey,
  { from, to }: StatementDays,
): Promise<{ opening: bigint; moved: bigint; entries: number }> {
  const opening =
    from === null ? sql`'0'` : sql`(${owedNow(tenantId, key)} - coalesce(sum(e.amount), 0))::text`;
  const { rows } = await sql<{ opening: string; moved: string; entries: number }>`
    select ${opening} as opening,
      coalesce(sum(e.amount) filter (where e.posting_date <= ${to}::date), 0)::text as moved,
      count(*) filter (where e.posting_date <= ${to}::date) as entries
    from subledger_entries e
    where ${isOfKey(tenantId, key)} and ${isWithin(from)}
  `.execute(tx);
  const [row] = rows;
  return {
    opening: BigInt(row?.opening ?? 0),
    moved: BigInt(row?.moved ?? 0),
    entries: row?.entries ?? 0,
  };
}

/** By subscriptions, and by the party itself. */
function owedNow(tenantId: number, key: StatementKey): Sql {
  const ofSubscriptions = sql`(
    select coalesce(sum(s.receivable), 0) from subscription_balances s
    where s.tenant_id = ${tenantId} and s.party_id = ${key.partyId} ${isOfSome(key, 's')}
  )`;
  if (key.subscriptionIds !== null) return ofSubscriptions;
  return sql`(${ofSubscriptions} + (
    select coalesce(sum(w.receivable), 0) from party_wallets w
    where w.tenant_id = ${tenantId} and w.party_id = ${key.partyId}
  ))`;
}

function isWithin(from: string | null): Sql {
  return from === null ? sql`true` : sql`e.posting_date >= ${from}::date`;
}

export type StatementRow = {
  entry_id: number;
  posting_date: string;
  created_at: Temporal.Instant;
  kind: string;
  amount: string;
  /** Of the entries of the days up to this one. */
  running: string;
  reference: string | null;
  description: string | null;
  bill_number: string | null;
};

export type StatementWindow = { after?: StatementRow | undefined; offset: number; limit: number };

/** In the order of days, a page at a time, or the entries after one. */
export async function listStatement(
  tx: Tx,
  tenantId: number,
  key: StatementKey,
  { from, to }: StatementDays,
  { after, offset, limit }: StatementWindow,
): Promise<StatementRow[]> {
  const first = after?.posting_date ?? from;
  const isAfter = after
    ? sql`and (e.posting_date, e.created_at, e.entry_id)
        > (${after.posting_date}::date, ${after.created_at}, ${after.entry_id}::bigint)`
    : sql``;
  const { rows } = await sql<StatementRow>`
    select e.entry_id, e.posting_date, e.created_at, e.kind, e.amount::text as amount,
      (${after?.running ?? '0'}::numeric + e.running)::text as running, e.reference,
      e.description, b.bill_number
    from (
      select e.entry_id, e.posting_date, e.kind, e.amount, e.reference, e.description, e.bill_id,
        e.created_at,
        sum(e.amount) over (order by e.posting_date, e.created_at, e.entry_id) as running
      from subledger_entries e
      where ${isOfKey(tenantId, key)} and e.posting_date <= ${to}::date and ${isWithin(first)}
        ${isAfter}
      order by e.posting_date, e.created_at, e.entry_id
      limit ${limit} offset ${offset}
    ) e
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = e.bill_id
    order by e.posting_date, e.created_at, e.entry_id
  `.execute(tx);
  return rows;
}

export type OpenRow = { due_date: string; open: string };

/**
 * What was open at the end of a day, by bill or item, with its due date. It is what is open now
 * without what came after the day.
 */
export async function listOpenAt(
  tx: Tx,
  tenantId: number,
  key: StatementKey,
  to: string,
): Promise<OpenRow[]> {
  const { rows } = await sql<OpenRow>`
    select coalesce(i.due_date, b.due_date, ${to}::date) as due_date, o.open::text as open
    from (
      select n.bill_id, n.item_id, sum(n.open) as open
      from (
        ${openNow(tenantId, key)}
        union all
        select e.tenant_id, e.bill_id, e.item_id, -e.amount from subledger_entries e
        where ${isOfKey(tenantId, key)} and e.posting_date > ${to}::date
      ) n
      where n.tenant_id = ${tenantId}
      group by n.bill_id, n.item_id
      having sum(n.open) <> 0
    ) o
    left join open_items i on i.tenant_id = ${tenantId} and i.item_id = o.item_id
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = o.bill_id
  `.execute(tx);
  return rows;
}

/** What is open now, signed like an entry: what the workspace owes is below zero. */
function openNow(tenantId: number, key: StatementKey): Sql {
  const { partyId, subscriptionIds } = key;
  const side = sql`case when c.context_type = 'Sale' then 1 else -1 end`;
  const isOpenBill = sql`b.party_id = ${partyId} and not b.is_settled
    and b.status in ('Posted', 'Published')`;
  const parts =
    subscriptionIds === null
      ? sql``
      : sql`union all
        select p.tenant_id, b.bill_id, null::bigint, ${side} * ${openOfPart}
        from bill_parts p
        join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
        where p.tenant_id = ${tenantId} ${isOfSome(key, 'p')} and b.subscription_id is null
          and ${isOpenBill}`;
  return sql`
    select b.tenant_id, b.bill_id, null::bigint as item_id, ${side} * ${openOfBill} as open
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where b.tenant_id = ${tenantId} and ${isOpenBill} ${isOfSome(key, 'b')}
    ${parts}
    union all
    select i.tenant_id, i.bill_id, i.item_id, case
        when i.ledger_account_id = ${ledgerAccounts.receivable} then 1 else -1
      end * ${openOfItem}
    from open_items i
    where i.tenant_id = ${tenantId} and i.party_id = ${partyId} and not i.is_settled
      ${isOfSome(key, 'i')}`;
}

/** What the party has in its wallet now. */
export async function findWallet(tx: Tx, tenantId: number, partyId: number): Promise<bigint> {
  const { rows } = await sql<{ balance: string }>`
    select balance::text as balance from party_wallets
    where tenant_id = ${tenantId} and party_id = ${partyId}
  `.execute(tx);
  return BigInt(rows[0]?.balance ?? 0);
}

/** What is in dispute now. */
export async function findDisputed(tx: Tx, tenantId: number, key: StatementKey): Promise<bigint> {
  const { rows } = await sql<{ disputed: string }>`
    select coalesce(sum(s.disputed), 0)::text as disputed from subscription_balances s
    where s.tenant_id = ${tenantId} and s.party_id = ${key.partyId} ${isOfSome(key, 's')}
  `.execute(tx);
  return BigInt(rows[0]?.disputed ?? 0);
}

export type StatementOwner = { partyId: number; subscriptionId: number | null };

/** The owner of a subscription, or the party of a number. */
export async function findStatementOwner(
  tx: Tx,
  tenantId: number,
  wanted: { partyNumber: number | null; connectionNumber: string | null },
): Promise<StatementOwner | undefined> {
  const { rows } = await sql<StatementOwner>`
    select p.party_id as "partyId", s.subscription_id as "subscriptionId"
    from parties p
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_number = ${wanted.connectionNumber}
    where p.tenant_id = ${tenantId} and case when ${wanted.connectionNumber}::text is null
      then p.party_number = ${wanted.partyNumber}
      else p.party_id = s.party_id
        and coalesce(p.party_number = ${wanted.partyNumber}, true) end
    limit 1
  `.execute(tx);
  return rows[0];
}

/** The subscriptions that are in a billing account of the party now; undefined: no such account. */
export async function findSubscriptionsOfAccount(
  tx: Tx,
  tenantId: number,
  { partyId, label }: { partyId: number; label: string },
): Promise<number[] | undefined> {
  const { rows } = await sql<{ subscription_id: number | null }>`
    select s.subscription_id
    from billing_accounts a
    left join subscriptions s on s.tenant_id = ${tenantId} and s.account_id = a.account_id
    where a.tenant_id = ${tenantId} and a.party_id = ${partyId} and a.label = ${label}
    order by s.subscription_id
  `.execute(tx);
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) => row.subscription_id ?? []);
}
