// Aging: what is open by party and by how long it is overdue. Totals are those that triggers keep
// by due date and party; only parties with open credits are read bill by bill for them.
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { openOfBill, openOfItem } from '../ledger/open-amounts-store.ts';
import {
  isOfService,
  joinService,
  type ReportFilter,
  type ReportRow,
  type ReportWindow,
} from './reports-store.ts';

/** Bills `b` that are open. */
function openBills(tenantId: number, filter: ReportFilter): Sql {
  return sql`from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and c.context_type = 'Sale' and ${isOfService(filter)}
    where b.tenant_id = ${tenantId} and not b.is_settled and b.status in ('Posted', 'Published')`;
}

/** What is open beside bills: items `i`. */
function openOthers(tenantId: number, filter: ReportFilter): Sql {
  return sql`from open_items i ${joinService(tenantId, filter, 'i.subscription_id')}
    where i.tenant_id = ${tenantId} and not i.is_settled
      and i.ledger_account_id = ${ledgerAccounts.receivable}`;
}

/** What these parties have open now. Credits are below zero. */
function openAmounts(tenantId: number, filter: ReportFilter, parties: Sql): Sql {
  return sql`
    select b.tenant_id, b.party_id, b.due_date, ${openOfBill} as open
    ${openBills(tenantId, filter)} and b.party_id in (${parties})
    union all
    select i.tenant_id, i.party_id, i.due_date, ${openOfItem}
    ${openOthers(tenantId, filter)} and i.party_id in (${parties})`;
}

/** The condition that a column names the contexts of the service, if one was chosen. */
function inContexts(tenantId: number, filter: ReportFilter, column: string): Sql {
  if (filter.serviceCode === null) return sql`true`;
  return sql`${sql.raw(column)} = any(array(select c.context_id from pricing_contexts c
    where c.tenant_id = ${tenantId} and ${isOfService(filter)}))`;
}

/**
 * Parties with more or fewer open items by changes that are not folded yet, and what is folded of
 * them. The lists are unfolded in the select list: a join would call a function for each change.
 */
function touchedParties(tenantId: number, filter: ReportFilter): Sql {
  return sql`
    select d.party_id, d.items, coalesce(sum(p.items), 0) as folded
    from (
      select m.party_id, sum(m.items) as items
      from (
        select o.tenant_id, unnest(o.party_ids) as party_id, unnest(o.party_items) as items
        from open_changes o
        where o.tenant_id = ${tenantId} and ${inContexts(tenantId, filter, 'o.context_id')}
      ) m
      where m.tenant_id = ${tenantId}
      group by m.party_id
      having sum(m.items) <> 0
    ) d
    left join open_parties p on p.tenant_id = ${tenantId} and p.party_id = d.party_id
      and ${inContexts(tenantId, filter, 'p.context_id')}
    group by d.party_id, d.items`;
}

/** Parties with something open, by id: of the folded ones, and of those `touched` since. */
function partiesOf(tenantId: number, filter: ReportFilter, window: ReportWindow): Sql {
  const { after, limit, offset } = window;
  return sql`
    select w.tenant_id, w.party_id
    from (
      select distinct p.tenant_id, p.party_id from open_parties p
      where p.tenant_id = ${tenantId} and p.party_id > ${after}
        and ${inContexts(tenantId, filter, 'p.context_id')}
        and p.party_id not in (select t.party_id from touched t where t.folded + t.items <= 0)
      union all
      select own.tenant_id, t.party_id
      from touched t
      join tenants own on own.tenant_id = ${tenantId}
      where t.party_id > ${after} and t.folded <= 0 and t.folded + t.items > 0
    ) w
    where w.tenant_id = ${tenantId}
    order by w.party_id
    limit ${limit} offset ${offset}`;
}

/** Parties with open credits. */
function creditedParties(tenantId: number, filter: ReportFilter): Sql {
  return sql`
    select b.party_id ${openBills(tenantId, filter)} and b.bill_amount < 0
    union
    select i.party_id ${openOthers(tenantId, filter)} and i.amount < 0
      and i.tenant_id = ${tenantId}`;
}

/**
 * By party, with what is open in each bucket of age; credits lessen what is oldest. What is open
 * without regard to credits is beside it.
 */
function agedByParty(tenantId: number, filter: ReportFilter, parties: Sql): Sql {
  return sql`
    select a.party_id, a.current - greatest(a.credit - a.d1 - a.d31 - a.d61 - a.d91, 0) as current,
      a.d1 - least(a.d1, greatest(a.credit - a.d31 - a.d61 - a.d91, 0)) as d1_30,
      a.d31 - least(a.d31, greatest(a.credit - a.d61 - a.d91, 0)) as d31_60,
      a.d61 - least(a.d61, greatest(a.credit - a.d91, 0)) as d61_90,
      a.d91 - least(a.d91, a.credit) as over90,
      a.current + a.d1 + a.d31 + a.d61 + a.d91 - a.credit as total,
      a.current as owed_current, a.d1 as owed_d1_30, a.d31 as owed_d31_60, a.d61 as owed_d61_90,
      a.d91 as owed_over90, a.current + a.d1 + a.d31 + a.d61 + a.d91 as owed_total
    from (
      select o.party_id, ${bucketsOf(filter, 'o.open')},
        coalesce(-sum(o.open) filter (where o.open < 0), 0) as credit
      from (${openAmounts(tenantId, filter, parties)}) o
      where o.tenant_id = ${tenantId}
      group by o.party_id
    ) a`;
}

/** Sums of what is above zero in rows `o`, by the days since their due date. */
function bucketsOf({ to }: ReportFilter, column: string): Sql {
  const late = sql`(${to.toString()}::date - o.due_date)`;
  const open = sql.raw(column);
  const bucket = (condition: Sql) =>
    sql`coalesce(sum(${open}) filter (where ${open} > 0 and ${condition}), 0)`;
  return sql`${bucket(sql`${late} <= 0`)} as current,
        ${bucket(sql`${late} between 1 and 30`)} as d1,
        ${bucket(sql`${late} between 31 and 60`)} as d31,
        ${bucket(sql`${late} between 61 and 90`)} as d61,
        ${bucket(sql`${late} > 90`)} as d91`;
}

const agingBuckets = ['current', 'd1_30', 'd31_60', 'd61_90', 'over90', 'total'];

export async function listAging(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
  window: ReportWindow,
): Promise<ReportRow[]> {
  const shown = agingBuckets.map((name) => `g.${name}::text as ${name}`).join(', ');
  const ofPage = sql`select a.party_id from page a where a.tenant_id = ${tenantId}`;
  const { rows } = await sql<ReportRow>`
    with touched as materialized (${touchedParties(tenantId, filter)}),
      page as materialized (${partiesOf(tenantId, filter, window)})
    select p.party_id as key, p.party_number as "partyNumber", p.name as "partyName",
      ${sql.raw(shown)}
    from (${agedByParty(tenantId, filter, ofPage)}) g
    join parties p on p.tenant_id = ${tenantId} and p.party_id = g.party_id
    order by p.party_id
  `.execute(tx);
  return rows;
}

/** What is owed by age, whatever credits there are. */
function owedByAge(tenantId: number, filter: ReportFilter): Sql {
  return sql`
    select a.current, a.d1 as d1_30, a.d31 as d31_60, a.d61 as d61_90, a.d91 as over90,
      a.current + a.d1 + a.d31 + a.d61 + a.d91 as total
    from (
      select ${bucketsOf(filter, 'o.owed')}
      from (
        select t.due_date, sum(t.owed) as owed
        from (
          select f.tenant_id, f.due_date, f.owed from open_totals f
          where f.tenant_id = ${tenantId} and ${inContexts(tenantId, filter, 'f.context_id')}
          union all
          select n.tenant_id, n.due_date, n.owed from open_changes n
          where n.tenant_id = ${tenantId} and ${inContexts(tenantId, filter, 'n.context_id')}
        ) t
        where t.tenant_id = ${tenantId}
        group by t.due_date
      ) o
    ) a`;
}

/** How many parties have something open. */
function partyCount(tenantId: number, filter: ReportFilter): Sql {
  const ofAll =
    filter.serviceCode === null
      ? sql`k.context_id = 0`
      : sql`k.context_id > 0
          and ${inContexts(tenantId, filter, 'k.context_id')}`;
  return sql`
    select (
      coalesce((
        select sum(k.parties) from open_party_counts k where k.tenant_id = ${tenantId} and ${ofAll}
      ), 0)
      + coalesce(sum(
        (d.folded + d.items > 0)::integer - (d.folded > 0)::integer
      ), 0)
    )::bigint as parties
    from (${touchedParties(tenantId, filter)}) d`;
}

/** One statement, so that everything in it is of the same moment. */
export async function findAgingTotals(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
): Promise<ReportRow> {
  const sums = agingBuckets.map((name) => `(t.${name} + n.${name})::text as ${name}`);
  const netted = agingBuckets.map(
    (name) => `coalesce(sum(g.${name} - g.owed_${name}), 0) as ${name}`,
  );
  const parties = creditedParties(tenantId, filter);
  const { rows } = await sql<ReportRow>`
    select c.parties as key, ${sql.raw(sums.join(', '))}
    from (${owedByAge(tenantId, filter)}) t
    cross join (
      select ${sql.raw(netted.join(', '))} from (${agedByParty(tenantId, filter, parties)}) g
    ) n
    cross join (${partyCount(tenantId, filter)}) c
    join tenants own on own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { key: 0 };
}
