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
  const isShared = keys.some((key) => key.connectionNumber === null);
  const of = (column: string) =>
    sql.raw(isShared ? `coalesce(c.${column}, o.${column})` : `c.${column}`);
  const isPaid = isShared
    ? sql`coalesce(c.context_type <> 'Sale', o.is_paid, false)`
    : sql`coalesce(c.context_type <> 'Sale', false)`;
  const { rows } = await sql<Payer & { place: number }>`
    select k.place, p.party_id as "partyId", p.archived as "isArchived",
      k.subscription_id as "subscriptionId",
      coalesce(${of('settlement_method')}, 'Chronology') as "settlementMethod",
      coalesce(${of('cash_account_id')}, ${ledgerAccounts.cash}) as "cashAccountId",
      coalesce(${of('business_unit_id')}, 1) as "businessUnitId",
      ${isPaid} as "isPaidByWorkspace"
    from (${named(tenantId, keys)}) k
    cross join lateral (
      select a.party_id, a.archived from parties a
      where a.tenant_id = ${tenantId} and a.party_id = k.party_id
      offset 0
    ) p
    left join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = k.context_id
    ${isShared ? sql`left join lateral (${sharedRules(tenantId)}) o on true` : sql``}
    order by k.place
  `.execute(tx);
  const byPlace = new Map(rows.map(({ place, ...payer }) => [Number(place), payer]));
  return keys.map((_, index) => byPlace.get(index + 1));
}

type Found = {
  type: 'bigint' | 'text';
  /** Finds what key `n` names. */
  join: Sql;
  party: string;
  subscription?: string;
  context?: string;
};

/** Each row is looked up by an index: a join might read all parties for a thousand payments. */
function lookUps(tenantId: number): Record<keyof PayerKey, Found> {
  return {
    partyId: { type: 'bigint', join: sql``, party: 'n."partyId"' },
    partyNumber: {
      type: 'bigint',
      join: sql`left join lateral (
        select a.party_id from parties a
        where a.tenant_id = ${tenantId} and a.party_number = n."partyNumber"
        offset 0
      ) q on true`,
      party: 'q.party_id',
    },
    connectionNumber: {
      type: 'text',
      join: sql`left join lateral (
        select a.party_id, a.subscription_id, a.context_id from subscriptions a
        where a.tenant_id = ${tenantId} and a.subscription_number = n."connectionNumber"
        offset 0
      ) s on true`,
      ...{ party: 's.party_id', subscription: 's.subscription_id', context: 's.context_id' },
    },
    billId: {
      type: 'bigint',
      join: sql`left join lateral (
        select a.party_id, a.subscription_id, a.context_id from bills a
        where a.tenant_id = ${tenantId} and a.bill_id = n."billId"
          and a.status in ('Posted', 'Published', 'Cancelled')
        offset 0
      ) b on true`,
      ...{ party: 'b.party_id', subscription: 'b.subscription_id' },
      context: 'case when b.subscription_id is not null then b.context_id end',
    },
  };
}

/**
 * The party of each key, its subscription and the context of that, with its place. The limit or
 * offset keeps PostgreSQL from joining by the expressions themselves: behind a policy it uses no
 * index for a `coalesce`. With a limit of one it expects one key, and keeps the plan of a clerk's
 * call; otherwise it would plan each call anew, which takes longer than the rest.
 */
function named(tenantId: number, keys: readonly PayerKey[]): Sql {
  const all = lookUps(tenantId);
  const names = (Object.keys(all) as (keyof PayerKey)[]).filter((name) =>
    keys.some((key) => key[name] !== null),
  );
  const used = names.map((name) => all[name]);
  const arrays = names.map(
    (name) => sql`${keys.map((key) => key[name])}::${sql.raw(all[name].type)}[]`,
  );
  const columns = names.map((name) => `"${name}"`).join(', ');
  const firstOf = (found: (string | undefined)[]) =>
    sql.raw(`coalesce(${['null::bigint', ...found.filter((one) => one)].join(', ')})`);
  return sql`
    select n.place, ${firstOf(used.map((one) => one.party))} as party_id,
      ${firstOf(used.map((one) => one.subscription))} as subscription_id,
      ${firstOf(used.map((one) => one.context))} as context_id
    from unnest(${sql.join(arrays)}) with ordinality as n (${sql.raw(columns)}, place)
    ${sql.join(
      used.map((one) => one.join),
      sql` `,
    )}
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
