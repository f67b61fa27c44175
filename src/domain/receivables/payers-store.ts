// Payers of payments, found for all rows of a call at once.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import type { Payer, PayerKey } from './payment.ts';

/**
 * In the order of the keys; undefined where a key names no payer. A subscription is paid by its
 * owner, a bill by the party that it was made for.
 */
export async function listPayers(
  tx: Tx,
  tenantId: number,
  keys: readonly PayerKey[],
): Promise<(Payer | undefined)[]> {
  const { rows } = await sql<Payer & { place: number }>`
    select k.place, p.party_id as "partyId", p.archived as "isArchived",
      k.subscription_id as "subscriptionId",
      coalesce(c.settlement_method, o.settlement_method, 'Chronology') as "settlementMethod",
      coalesce(c.cash_account_id, o.cash_account_id, ${ledgerAccounts.cash}) as "cashAccountId",
      coalesce(c.business_unit_id, o.business_unit_id, 1) as "businessUnitId",
      coalesce(c.context_type <> 'Sale', o.is_paid, false) as "isPaidByWorkspace"
    from (${named(tenantId, keys)}) k
    join parties p on p.tenant_id = ${tenantId} and p.party_id = k.party_id
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = k.subscription_id
    left join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    left join lateral (${sharedRules(tenantId)}) o on true
    order by k.place
  `.execute(tx);
  const byPlace = new Map(rows.map(({ place, ...payer }) => [Number(place), payer]));
  return keys.map((_, index) => byPlace.get(index + 1));
}

/**
 * The party and the subscription of each key, with its place. The limit or offset keeps PostgreSQL
 * from joining by the expressions themselves: behind a policy it uses no index for a `coalesce`,
 * and would read all parties for one payment. With a limit of one it expects one key, and keeps the
 * plan of a clerk's call; otherwise it would plan each call anew, which takes longer than the rest.
 */
function named(tenantId: number, keys: readonly PayerKey[]): Sql {
  return sql`
    select n.place, coalesce(i.party_id, p.party_id, s.party_id, b.party_id) as party_id,
      coalesce(s.subscription_id, b.subscription_id) as subscription_id
    from unnest(
      ${keys.map((key) => key.partyId)}::bigint[], ${keys.map((key) => key.partyNumber)}::bigint[],
      ${keys.map((key) => key.connectionNumber)}::text[],
      ${keys.map((key) => key.billId)}::bigint[]
    ) with ordinality as n (party_id, party_number, connection_number, bill_id, place)
    left join parties i on i.tenant_id = ${tenantId} and i.party_id = n.party_id
    left join parties p on p.tenant_id = ${tenantId} and p.party_number = n.party_number
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_number = n.connection_number
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
      and b.status in ('Posted', 'Published', 'Cancelled')
    ${keys.length === 1 ? sql`limit 1` : sql`offset 0`}`;
}

/** What the contexts of all subscriptions of party `p` have in common. */
function sharedRules(tenantId: number): Sql {
  const shared = (column: string) =>
    sql.raw(`case when min(x.${column}) = max(x.${column}) then min(x.${column}) end`);
  return sql`
    select ${shared('settlement_method')} as settlement_method,
      ${shared('cash_account_id')} as cash_account_id,
      ${shared('business_unit_id')} as business_unit_id,
      bool_and(x.context_type <> 'Sale') as is_paid
    from subscriptions t
    join pricing_contexts x on x.tenant_id = ${tenantId} and x.context_id = t.context_id
    where t.tenant_id = ${tenantId} and t.party_id = p.party_id and k.subscription_id is null`;
}
