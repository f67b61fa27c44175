import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { ledgerAccounts } from '../../ledger/accounts.ts';
import { openOfBill, openOfItem } from '../../ledger/open-amounts-store.ts';
import { type Counts, runCheck } from './checks-store.ts';

/** Aging is made of sums by due date and party: they are those of open bills and items. */
export function checkOpenTotals(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from (${openRows(tenantId)}) o where o.tenant_id = ${tenantId}`,
    wrong: sql`
      select 'open amounts of context ' || context_id || ' due on ' || due_date as what
      from (${byDueDate(tenantId)}) d
      where d.tenant_id = ${tenantId}
      group by context_id, due_date
      having sum(owed) <> 0 or sum(items) <> 0
      union all
      select 'open items of party ' || party_id || ' in context ' || context_id
      from (${byParty(tenantId)}) p
      where p.tenant_id = ${tenantId}
      group by party_id, context_id
      having sum(items) <> 0
      union all
      select 'count of parties with open items in context ' || context_id
      from (${countsOfParties(tenantId)}) n
      where n.tenant_id = ${tenantId}
      group by context_id
      having sum(parties) <> 0`,
  });
}

function openRows(tenantId: number): Sql {
  return sql`
    select b.tenant_id, b.context_id, b.due_date, b.party_id, ${openOfBill} as open
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and c.context_type = 'Sale'
    where b.tenant_id = ${tenantId} and not b.is_settled and b.status in ('Posted', 'Published')
    union all
    select i.tenant_id, coalesce(s.context_id, 0), i.due_date, i.party_id, ${openOfItem}
    from open_items i
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = i.subscription_id
    where i.tenant_id = ${tenantId} and not i.is_settled
      and i.ledger_account_id = ${ledgerAccounts.receivable}`;
}

/** What there is, and below zero what was kept of it. */
function byDueDate(tenantId: number): Sql {
  return sql`
    select o.tenant_id, o.context_id, o.due_date, greatest(o.open, 0)::numeric as owed, 1 as items
    from (${openRows(tenantId)}) o
    where o.tenant_id = ${tenantId}
    union all
    select tenant_id, context_id, due_date, -owed, -items from open_totals
    where tenant_id = ${tenantId}
    union all
    select tenant_id, context_id, due_date, -owed, -items from open_changes
    where tenant_id = ${tenantId}`;
}

function byParty(tenantId: number): Sql {
  return sql`
    select o.tenant_id, o.party_id, o.context_id, 1 as items
    from (${openRows(tenantId)}) o
    where o.tenant_id = ${tenantId}
    union all
    select tenant_id, party_id, context_id, -items from open_parties
    where tenant_id = ${tenantId}
    union all
    select c.tenant_id, u.party_id, c.context_id, -u.items
    from open_changes c
    cross join lateral unnest(c.party_ids, c.party_items) as u (party_id, items)
    where c.tenant_id = ${tenantId}`;
}

function countsOfParties(tenantId: number): Sql {
  return sql`
    select tenant_id, 0::bigint as context_id, 1::bigint as parties
    from open_parties
    where tenant_id = ${tenantId}
    group by tenant_id, party_id
    having sum(items) > 0
    union all
    select tenant_id, context_id, count(*)
    from open_parties
    where tenant_id = ${tenantId} and context_id > 0 and items > 0
    group by tenant_id, context_id
    union all
    select tenant_id, context_id, -parties from open_party_counts
    where tenant_id = ${tenantId}`;
}
