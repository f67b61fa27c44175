// Whose money lines may be, looked up for all lines of a chunk at once.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { openOfBill } from '../ledger/open-amounts-store.ts';

/** Bills by id and by number. */
export type FoundBill = {
  bill_id: number;
  bill_number: string;
  party_id: number;
  subscription_id: number | null;
};

export async function listNamedBills(
  tx: Tx,
  tenantId: number,
  { billIds, numbers }: { billIds: readonly number[]; numbers: readonly string[] },
): Promise<FoundBill[]> {
  const { rows: numbered } = await sql<{ bill_id: number }>`
    select bill_id from bill_numbers
    where tenant_id = ${tenantId} and bill_number = any(${numbers}::text[]) and retired_at is null
  `.execute(tx);
  const ids = [...billIds, ...numbered.map((row) => row.bill_id)];
  if (ids.length === 0) return [];
  const { rows } = await sql<FoundBill>`
    select bill_id, bill_number, party_id, subscription_id from bills
    where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
      and status in ('Posted', 'Published', 'Cancelled') and bill_number is not null
  `.execute(tx);
  return rows;
}

/** With the rules of its context for what its payer pays. */
export type FoundSubscription = {
  subscription_id: number;
  subscription_number: string;
  party_id: number;
  is_closed: boolean;
  is_sale: boolean;
  settlement_method: string | null;
  cash_account_id: number | null;
  business_unit_id: number | null;
};

/** By number, or by id. */
export async function listNamedSubscriptions(
  tx: Tx,
  tenantId: number,
  wanted: { numbers: readonly string[] } | { ids: readonly number[] },
): Promise<FoundSubscription[]> {
  const isWanted =
    'ids' in wanted
      ? sql`s.subscription_id = any(${wanted.ids}::bigint[])`
      : sql`s.subscription_number = any(${wanted.numbers}::text[])`;
  const { rows } = await sql<FoundSubscription>`
    select s.subscription_id, s.subscription_number, s.party_id, s.status = 'Closed' as is_closed,
      c.context_type = 'Sale' as is_sale, c.settlement_method, c.cash_account_id,
      c.business_unit_id
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and ${isWanted}
  `.execute(tx);
  return rows;
}

export type FoundParty = {
  party_id: number;
  party_number: number;
  name: string;
  is_archived: boolean;
  is_customer: boolean;
};

export async function listNamedParties(
  tx: Tx,
  tenantId: number,
  wanted: { numbers: readonly number[] } | { ids: readonly number[] },
): Promise<FoundParty[]> {
  const isWanted =
    'ids' in wanted
      ? sql`party_id = any(${wanted.ids}::bigint[])`
      : sql`party_number = any(${wanted.numbers}::bigint[])`;
  const { rows } = await sql<FoundParty>`
    select party_id, party_number, name, archived as is_archived, kind = 'Customer' as is_customer
    from parties
    where tenant_id = ${tenantId} and ${isWanted}
  `.execute(tx);
  return rows;
}

/** Parties whose names have both words, a few for each pair; `place` counts the pairs from 1. */
export async function findPartiesNamed(
  tx: Tx,
  tenantId: number,
  pairs: readonly (readonly [string, string])[],
): Promise<{ place: number; party_id: number }[]> {
  if (pairs.length === 0) return [];
  const { rows } = await sql<{ place: number; party_id: number }>`
    select f.place, f.party_id
    from tenants own
    cross join lateral find_parties_named(
      tenant_id => own.tenant_id, words => ${pairs.map(([first]) => first)}::text[],
      others => ${pairs.map(([, second]) => second)}::text[]
    ) f
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}

export type OpenBillRow = {
  bill_id: number;
  party_id: number;
  subscription_id: number | null;
  open: number;
};

/** Open bills of parties that have one of the amounts. */
export async function listOpenBillsOf(
  tx: Tx,
  tenantId: number,
  { partyIds, amounts }: { partyIds: readonly number[]; amounts: readonly number[] },
): Promise<OpenBillRow[]> {
  if (partyIds.length === 0) return [];
  const { rows } = await sql<OpenBillRow>`
    select b.bill_id, b.party_id, b.subscription_id, ${openOfBill} as open
    from bills b
    where b.tenant_id = ${tenantId} and b.party_id = any(${partyIds}::bigint[])
      and not b.is_settled and b.status in ('Posted', 'Published')
      and ${openOfBill} = any(${amounts}::bigint[])
  `.execute(tx);
  return rows;
}

export type LearntKey = { kind: 'Account' | 'Name'; key: string };
export type LearntRow = LearntKey & { party_id: number; subscription_id: number | null };

export async function listLearnt(
  tx: Tx,
  tenantId: number,
  keys: readonly LearntKey[],
): Promise<LearntRow[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<LearntRow>`
    select l.kind, l.key, l.party_id, l.subscription_id
    from unnest(
      ${keys.map((one) => one.kind)}::text[], ${keys.map((one) => one.key)}::text[]
    ) as k (kind, key)
    join bank_payers l on l.tenant_id = ${tenantId} and l.kind = k.kind and l.key = k.key
  `.execute(tx);
  return rows;
}

export async function saveLearnt(
  tx: Tx,
  tenantId: number,
  keys: readonly LearntKey[],
  to: { partyId: number; subscriptionId: number | null },
  stamp: Stamp,
): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    insert into bank_payers (tenant_id, kind, key, party_id, subscription_id, decided_at,
      decided_by)
    select own.tenant_id, k.kind, k.key, ${to.partyId}, ${to.subscriptionId}, ${stamp.at},
      ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${keys.map((one) => one.kind)}::text[], ${keys.map((one) => one.key)}::text[]
    ) as k (kind, key)
    order by k.kind, k.key
    on conflict (tenant_id, kind, key) do update
      set party_id = excluded.party_id, subscription_id = excluded.subscription_id,
        decided_at = excluded.decided_at, decided_by = excluded.decided_by
  `.execute(tx);
}
