// A party as it is shown: with its balances, its accounts and what it has subscribed to.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { type PartyRow, partyColumns } from './store.ts';

export type PartyView = PartyRow & {
  wallet_balance: string;
  /** Of all that it has subscribed to, also what others own by now. */
  outstanding: string;
  portal_status: string;
  /** Whether the workspace keeps who read this. */
  logs_reads: boolean;
  /** Until when dunning leaves the party alone, as YYYY-MM-DD. */
  held_until: string | null;
  held_because: string | null;
};

/** One row for each subscription of each account; an account without any has one row too. */
export type HoldingRow = {
  account_id: number;
  label: string;
  billing_group_id: number | null;
  billing_group_name: string | null;
  subscription_id: number | null;
  subscription_number: string;
  reference_number: string | null;
  context_code: string;
  plan_code: string;
  status: string;
  receivable: string;
};

/** A party with its accounts and subscriptions. */
export type PartyWithHoldings = { party: PartyView; holdings: HoldingRow[] };

export function findPartyView(
  tx: Tx,
  tenantId: number,
  partyNumber: number,
): Promise<PartyWithHoldings | undefined> {
  return tx.lookUp(listPartyViews, tenantId, partyNumber);
}

/** A party as `listPartyViews` reads it: what other tables have of it is null without a row. */
type FoundParty = Omit<
  PartyView,
  'wallet_balance' | 'outstanding' | 'held_until' | 'held_because'
> & {
  /** What it paid ahead, and what it owes for itself. */
  wallet: [string, string] | null;
  /** What it owes for subscriptions. */
  subscribed: string;
  hold: [string, string] | null;
  holdings: HoldingRow[] | null;
};

/**
 * By party number, by one statement. What a row of another table adds is a query of its own and not
 * a join: several machines plan a statement twice at each call, and joins cost most of that.
 */
async function listPartyViews(
  tx: Tx,
  tenantId: number,
  partyNumbers: readonly number[],
): Promise<Map<number, PartyWithHoldings>> {
  const { rows } = await sql<FoundParty>`
    select ${partyColumns}, (
        select t.logs_party_reads from tenants t where t.tenant_id = ${tenantId}
      ) as logs_reads, portal_status, (
        select array[w.balance::text, w.receivable::text] from party_wallets w
        where w.tenant_id = ${tenantId} and w.party_id = parties.party_id
      ) as wallet, (
        select coalesce(sum(b.receivable), 0)::text from subscription_balances b
        where b.tenant_id = ${tenantId} and b.party_id = parties.party_id
      ) as subscribed, (
        select array[h.until_date::text, h.reason] from dunning_holds h
        where h.tenant_id = ${tenantId}
          and h.holder_kind = 'Party' and h.holder_id = parties.party_id
      ) as hold, (select json_agg(held) from (${holdingsOf(tenantId)}) held) as holdings
    from parties
    where tenant_id = ${tenantId} and party_number = any(${partyNumbers}::bigint[])
  `.execute(tx);
  return new Map(
    rows.map(({ holdings, ...found }) => [
      found.party_number,
      { party: viewOf(found), holdings: holdings ?? [] },
    ]),
  );
}

/** Of one of `parties`. */
function holdingsOf(tenantId: number): Sql {
  return sql`
    select g.account_id, g.label, g.billing_group_id, (
        select bg.name from billing_groups bg
        where bg.tenant_id = ${tenantId} and bg.billing_group_id = g.billing_group_id
      ) as billing_group_name, s.subscription_id, s.subscription_number, s.reference_number, (
        select c.code from pricing_contexts c
        where c.tenant_id = ${tenantId} and c.context_id = s.context_id
      ) as context_code, (
        select l.code from plans l where l.tenant_id = ${tenantId} and l.plan_id = s.plan_id
      ) as plan_code, s.status, coalesce((
        select b.receivable from subscription_balances b
        where b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
          and b.party_id = s.party_id
      ), 0)::text as receivable
    from billing_accounts g
    left join subscriptions s on s.tenant_id = ${tenantId} and s.account_id = g.account_id
    where g.tenant_id = ${tenantId} and g.party_id = parties.party_id
    order by g.account_id, s.subscription_id`;
}

function viewOf({ wallet, subscribed, hold, ...party }: Omit<FoundParty, 'holdings'>): PartyView {
  const [paidAhead, ownDebt] = wallet ?? ['0', '0'];
  const [until, reason] = hold ?? [null, null];
  return {
    ...party,
    wallet_balance: paidAhead,
    outstanding: String(BigInt(ownDebt) + BigInt(subscribed)),
    held_until: until,
    held_because: reason,
  };
}
