// A party as it is shown: with its balances, its accounts and what it has subscribed to.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
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

/**
 * By party number; two statements are sent at once. Each key is looked up separately inside the
 * statement, so that the plan is the one for a single party, however many there are.
 */
async function listPartyViews(
  tx: Tx,
  tenantId: number,
  partyNumbers: readonly number[],
): Promise<Map<number, PartyWithHoldings>> {
  const [parties, holdings] = await Promise.all([
    sql<PartyView>`
      select p.* from unnest(${partyNumbers}::bigint[]) as wanted (party_number)
      cross join lateral (
        select ${partyColumns}, (
            select t.logs_party_reads from tenants t where t.tenant_id = ${tenantId}
          ) as logs_reads, coalesce(w.paid_ahead, 0)::text as wallet_balance, portal_status, (
            coalesce(w.own_debt, 0) + coalesce((
              select sum(b.receivable) from subscription_balances b
              where b.tenant_id = ${tenantId} and b.party_id = parties.party_id
            ), 0)
          )::text as outstanding,
          h.until_date as held_until, h.reason as held_because
        from parties
        left join lateral (
          select balance as paid_ahead, receivable as own_debt from party_wallets
          where party_wallets.tenant_id = ${tenantId}
            and party_wallets.party_id = parties.party_id
        ) w on true
        left join lateral (
          select until_date, reason from dunning_holds
          where dunning_holds.tenant_id = ${tenantId}
            and holder_kind = 'Party' and holder_id = parties.party_id
        ) h on true
        where tenant_id = ${tenantId} and party_number = wanted.party_number
        limit 1
      ) p
    `.execute(tx),
    sql<HoldingRow & { party_number: number }>`
      select wanted.party_number, h.*
      from unnest(${partyNumbers}::bigint[]) as wanted (party_number)
      cross join lateral (
        select g.account_id, g.label, g.billing_group_id, bg.name as billing_group_name,
          s.subscription_id, s.subscription_number, s.reference_number, c.code as context_code,
          l.code as plan_code, s.status, coalesce(b.receivable, 0)::text as receivable
        from parties p
        join billing_accounts g on g.tenant_id = ${tenantId} and g.party_id = p.party_id
        left join billing_groups bg
          on bg.tenant_id = ${tenantId} and bg.billing_group_id = g.billing_group_id
        left join subscriptions s on s.tenant_id = ${tenantId} and s.account_id = g.account_id
        left join pricing_contexts c
          on c.tenant_id = ${tenantId} and c.context_id = s.context_id
        left join plans l on l.tenant_id = ${tenantId} and l.plan_id = s.plan_id
        left join subscription_balances b
          on b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
          and b.party_id = s.party_id
        where p.tenant_id = ${tenantId} and p.party_number = wanted.party_number
        order by g.account_id, s.subscription_id
      ) h
    `.execute(tx),
  ]);
  const views = new Map<number, PartyWithHoldings>();
  for (const party of parties.rows) views.set(party.party_number, { party, holdings: [] });
  for (const row of holdings.rows) views.get(row.party_number)?.holdings.push(row);
  return views;
}
