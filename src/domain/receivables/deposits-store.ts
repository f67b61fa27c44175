import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { ContextType } from '../ledger/accounts.ts';
import { openOfItem } from '../ledger/open-amounts-store.ts';

/** A subscription that a deposit is demanded for, or paid back. */
export type DepositSubscription = {
  subscription_id: number;
  party_id: number;
  status: string;
  context_type: ContextType;
  business_unit_id: number;
  cash_account_id: number;
};

export async function findDepositSubscription(
  tx: Tx,
  tenantId: number,
  connectionNumber: string,
): Promise<DepositSubscription | undefined> {
  const { rows } = await sql<DepositSubscription>`
    select s.subscription_id, s.party_id, s.status, c.context_type, c.business_unit_id,
      c.cash_account_id
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and s.subscription_number = ${connectionNumber}
  `.execute(tx);
  return rows[0];
}

export type KnownDeposit = { item_id: number; subscription_id: number; amount: number };

export async function findDemanded(
  tx: Tx,
  tenantId: number,
  reference: string,
): Promise<KnownDeposit | undefined> {
  const { rows } = await sql<KnownDeposit>`
    select item_id, subscription_id, amount from open_items
    where tenant_id = ${tenantId} and reference = ${reference} and kind = 'Deposit'
  `.execute(tx);
  return rows[0];
}

/** What was demanded and paid, and not applied or paid back since. */
export async function findHeld(
  tx: Tx,
  tenantId: number,
  { subscription_id, party_id }: Pick<DepositSubscription, 'subscription_id' | 'party_id'>,
): Promise<number> {
  const { rows } = await sql<{ held: number }>`
    select coalesce(sum(o.amount), 0)::bigint as held
    from (
      select b.tenant_id, b.deposit as amount from subscription_balances b
      where b.tenant_id = ${tenantId} and b.subscription_id = ${subscription_id}
        and b.party_id = ${party_id}
      union all
      select i.tenant_id, -${openOfItem} from open_items i
      where i.tenant_id = ${tenantId} and i.subscription_id = ${subscription_id}
        and i.party_id = ${party_id} and i.kind = 'Deposit' and not i.is_settled
    ) o
    where o.tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.held ?? 0;
}

export type DepositFilter = {
  depositId: number | null;
  connectionNumber: string | null;
  partyId: number | null;
  partyNumber: number | null;
};

export type DepositRow = {
  item_id: number;
  subscription_number: string;
  party_id: number;
  party_number: number;
  party_name: string;
  amount: string;
  paid: string;
  credited: string;
  open: string;
  /** Of the subscription, with other deposits of it. */
  held: string;
  issue_date: string;
  due_date: string;
  description: string;
  reference: string | null;
  created_at: Temporal.Instant;
  created_by: string;
};

function matches(tenantId: number, filter: DepositFilter): Sql {
  const { depositId, connectionNumber, partyId, partyNumber } = filter;
  const conditions = [sql`i.tenant_id = ${tenantId} and i.kind = 'Deposit'`];
  if (depositId !== null) conditions.push(sql`i.item_id = ${depositId}`);
  if (partyId !== null) conditions.push(sql`i.party_id = ${partyId}`);
  if (partyNumber !== null) {
    conditions.push(sql`i.party_id = (select o.party_id from parties o
      where o.tenant_id = ${tenantId} and o.party_number = ${partyNumber})`);
  }
  if (connectionNumber !== null) {
    conditions.push(sql`i.subscription_id = (select x.subscription_id from subscriptions x
      where x.tenant_id = ${tenantId} and x.subscription_number = ${connectionNumber})`);
  }
  return sql.join(conditions, sql` and `);
}

export async function countDeposits(
  tx: Tx,
  tenantId: number,
  filter: DepositFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from open_items i where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Demands, the newest first. */
export async function listDeposits(
  tx: Tx,
  tenantId: number,
  filter: DepositFilter,
  { offset, limit, beforeId }: { offset: number; limit: number; beforeId: number | null },
): Promise<DepositRow[]> {
  const isBefore = beforeId === null ? sql`` : sql`and i.item_id < ${beforeId}`;
  const { rows } = await sql<DepositRow>`
    select i.item_id, s.subscription_number, i.party_id, p.party_number, p.name as party_name,
      i.amount::text as amount, i.paid_amount::text as paid, i.credited::text as credited,
      ${openOfItem}::text as open, (coalesce(b.deposit, 0) - coalesce((
        select sum(o.amount - o.paid_amount - o.credited - o.written_off - o.transferred
          - o.disputed)
        from open_items o
        where o.tenant_id = ${tenantId} and o.subscription_id = i.subscription_id
          and o.party_id = i.party_id and o.kind = 'Deposit' and not o.is_settled
      ), 0))::text as held, i.issue_date, i.due_date, i.description, i.reference, i.created_at,
      i.created_by
    from open_items i
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = i.subscription_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = i.party_id
    left join subscription_balances b on b.tenant_id = ${tenantId}
      and b.subscription_id = i.subscription_id and b.party_id = i.party_id
    where ${matches(tenantId, filter)} ${isBefore}
    order by i.item_id desc
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}
