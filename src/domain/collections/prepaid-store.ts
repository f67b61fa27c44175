// Prepaid subscriptions, and what is estimated to be left for them.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';

/** Pricing contexts that are prepaid and watch balances. */
export async function listWatchedContexts(tx: Tx, tenantId: number): Promise<number[]> {
  const { rows } = await sql<{ context_id: number }>`
    select c.context_id from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.charging_type = 'Prepaid' and exists (
      select from pricing_context_versions v
      where v.tenant_id = ${tenantId} and v.context_id = c.context_id
        and jsonb_typeof(v.definition -> 'prepaid') = 'object'
    )
  `.execute(tx);
  return rows.map((row) => row.context_id);
}

export type PrepaidSubscription = {
  subscription_id: number;
  subscription_number: string;
  status: string;
  party_id: number;
  party_number: number;
  party_name: string;
  email: string | null;
  context_id: number;
  context_code: string;
  context_name: string;
  billed_through: string | null;
  /** Of the last bills, in minor units and days. */
  billed_amount: number;
  billed_days: number;
  receivable: number;
  low_since: string | null;
  empty_since: string | null;
  is_disconnected: boolean;
};

/** The next subscriptions by id, locked. Those that are disconnected otherwise are left alone. */
export async function lockPrepaid(
  tx: Tx,
  tenantId: number,
  { contextIds, after, limit }: { contextIds: readonly number[]; after: number; limit: number },
): Promise<PrepaidSubscription[]> {
  const { rows } = await sql<PrepaidSubscription>`
    ${watched(tenantId, contextIds)} and s.subscription_id > ${after}
    order by s.subscription_id
    limit ${limit}
    for no key update of s
  `.execute(tx);
  return rows;
}

/** Others of the same parties, which draw on the same wallets. */
export async function listPrepaidBeside(
  tx: Tx,
  tenantId: number,
  wanted: {
    contextIds: readonly number[];
    partyIds: readonly number[];
    chunk: readonly PrepaidSubscription[];
  },
): Promise<PrepaidSubscription[]> {
  const { contextIds, partyIds, chunk } = wanted;
  const { rows } = await sql<PrepaidSubscription>`
    ${watched(tenantId, contextIds)} and s.party_id = any(${[...new Set(partyIds)]}::bigint[])
      and s.subscription_id <> all(${chunk.map((one) => one.subscription_id)}::bigint[])
  `.execute(tx);
  return rows;
}

function watched(tenantId: number, contextIds: readonly number[]): Sql {
  return sql`
    select s.subscription_id, s.subscription_number, s.status, s.party_id, p.party_number,
      p.name as party_name, p.email, s.context_id, c.code as context_code,
      c.name as context_name, s.billed_through, h.amount as billed_amount,
      h.days as billed_days, coalesce(b.receivable, 0) as receivable, l.low_since, l.empty_since,
      coalesce(l.is_disconnected, false) as is_disconnected
    from subscriptions s
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    left join subscription_balances b on b.tenant_id = ${tenantId}
      and b.subscription_id = s.subscription_id and b.party_id = s.party_id
    left join prepaid_balances l on l.tenant_id = ${tenantId}
      and l.subscription_id = s.subscription_id
    left join lateral (
      select coalesce(sum((t.term ->> 'amount')::bigint), 0)::bigint as amount,
        coalesce(sum((t.term ->> 'days')::bigint), 0)::bigint as days
      from usage_histories u
      cross join lateral unnest(u.terms[1:3]) as t (term)
      where u.tenant_id = ${tenantId} and u.subscription_id = s.subscription_id
        and t.term ->> 'isCancelled' is null
    ) h on true
    where s.tenant_id = ${tenantId} and s.context_id = any(${contextIds}::bigint[])
      and (s.status = 'Active' or l.is_disconnected)`;
}

export type PrepaidBalance = {
  subscriptionId: number;
  amountLeft: number;
  lowSince: string | null;
  emptySince: string | null;
  isDisconnected: boolean;
};

export async function saveBalances(
  tx: Tx,
  tenantId: number,
  balances: readonly PrepaidBalance[],
  day: Temporal.PlainDate,
): Promise<void> {
  if (balances.length === 0) return;
  await sql`
    insert into prepaid_balances (tenant_id, subscription_id, amount_left, as_of, low_since,
      empty_since, is_disconnected)
    select own.tenant_id, r."subscriptionId", r."amountLeft", ${day}::date, r."lowSince",
      r."emptySince", r."isDisconnected"
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(balances)}::jsonb) as r (
      "subscriptionId" bigint, "amountLeft" bigint, "lowSince" date, "emptySince" date,
      "isDisconnected" boolean
    )
    on conflict (tenant_id, subscription_id) do update
      set amount_left = excluded.amount_left, as_of = excluded.as_of,
        low_since = excluded.low_since, empty_since = excluded.empty_since,
        is_disconnected = excluded.is_disconnected
  `.execute(tx);
}
