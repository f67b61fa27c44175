// Checks of what is written down of bills elsewhere: histories of subscriptions, totals of runs,
// the ledger by component.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { ledgerAccounts } from '../../ledger/accounts.ts';
import { historyTerms } from '../../terms/usage-history-store.ts';
import { type Counts, reversalsOf, runCheck } from './checks-store.ts';

/** Every subscription has its posted bills in its history, with its state at the newest. */
export function checkHistories(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from usage_histories where tenant_id = ${tenantId}`,
    wrong: sql`
      with billed as materialized (
        select p.*, row_number() over
          (partition by subscription_id order by billed_to desc, bill_id desc) as place
        from (${billedParts(tenantId)}) p
      ),
      remembered as (
        select subscription_id, (term ->> 'termId')::bigint as term_id,
          (term ->> 'days')::integer as days,
          (term ->> 'amount')::bigint + coalesce((term ->> 'rounding')::bigint, 0) as amount,
          (term -> 'usage')::jsonb as usage,
          row_number() over (partition by subscription_id order by number) as place
        from usage_histories h
        cross join unnest(h.terms) with ordinality as e (term, number)
        where h.tenant_id = ${tenantId} and term ->> 'termId' is not null
      )
      select what from (
        select coalesce(r.subscription_id, b.subscription_id) as subscription_id,
          'subscription ' || coalesce(r.subscription_id, b.subscription_id) || ' term '
            || coalesce(r.term_id, b.term_id) as what
        from (select * from billed where place <= ${historyTerms}) b
        full join (select * from remembered where place <= ${historyTerms}) r
          on r.subscription_id = b.subscription_id and r.place = b.place
        where (r.term_id, r.days, r.amount) is distinct from (b.term_id, b.days, b.amount)
          or r.usage <> b.usage
        union all
        select b.subscription_id, 'subscription ' || b.subscription_id || ' brought forward'
        from billed b
        left join usage_histories h
          on h.tenant_id = ${tenantId} and h.subscription_id = b.subscription_id
        where b.place = 1 and (h.brought_forward, h.received)
          is distinct from (b.brought_forward, b.received)
      ) q
      where not ${hasCancelled(tenantId)}`,
  });
}

/**
 * True if the subscription of `q` has a cancelled bill, whose effect on the history is not checked
 * here.
 */
function hasCancelled(tenantId: number): Sql {
  return sql`(exists (
    select from bills c
    where c.tenant_id = ${tenantId} and c.subscription_id = q.subscription_id
      and c.status = 'Cancelled'
  ) or exists (
    select from bill_parts o
    join bills c on c.tenant_id = ${tenantId} and c.bill_id = o.bill_id and c.status = 'Cancelled'
    where o.tenant_id = ${tenantId} and o.subscription_id = q.subscription_id
  ))`;
}

/** What posting writes into the histories; the use of a bill of several is in its document. */
function billedParts(tenantId: number): Sql {
  return sql`
    select subscription_id, bill_id, term_id, billed_to, days, current_charges as amount,
      usage::jsonb as usage, arrears + bill_amount as brought_forward, received
    from bills
    where tenant_id = ${tenantId} and status in ('Posted', 'Published')
      and subscription_id is not null
    union all
    select p.subscription_id, p.bill_id, b.term_id, p.billed_to, p.days, p.amount, null,
      p.arrears + p.amount, p.received
    from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and b.status in ('Posted', 'Published')
      and b.subscription_id is null`;
}

/** A run has the totals of its bills, and the ledger has each component as it was billed. */
export function checkSums(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from bill_runs where tenant_id = ${tenantId}`,
    wrong: sql`
      with newest as materialized (${newestRuns(tenantId)})
      select 'term ' || n.term_id || ' run ' || n.run_number as what
      from newest n
      left join (
        select term_id, count(*) filter (where status <> 'Error') as bills,
          count(*) filter (where status = 'Error') as errors, sum(current_charges) as charges,
          sum(tax_amount) as tax, sum(arrears) as arrears, sum(payable + wallet_applied) as payable
        from bills
        where tenant_id = ${tenantId} and ${isCounted}
        group by term_id
      ) b on b.term_id = n.term_id
      where (coalesce(b.bills, 0), coalesce(b.errors, 0), coalesce(b.charges, 0),
          coalesce(b.tax, 0), coalesce(b.arrears, 0), coalesce(b.payable, 0))
        is distinct from ((n.totals ->> 'bills')::bigint, (n.totals ->> 'errors')::bigint,
          (n.totals ->> 'currentCharges')::numeric, (n.totals ->> 'taxAmount')::numeric,
          (n.totals ->> 'arrears')::numeric, (n.totals ->> 'payable')::numeric)
      union all
      select 'term ' || term_id || ' ' || component
      from (${componentSums(tenantId)}) s
      group by term_id, component
      having sum(posted) <> sum(booked) or sum(made) <> sum(total)`,
  });
}

/** Of a bill that was cancelled after it was posted, what it came to was made all the same. */
const isCounted = sql`(status <> 'Cancelled' or bill_number is not null)`;

/** The last run of each term whose bills are still those that it made. */
function newestRuns(tenantId: number): Sql {
  return sql`
    select t.term_id, r.run_number, r.totals
    from terms t
    join bill_runs r on r.tenant_id = ${tenantId} and r.term_id = t.term_id
      and r.run_number = t.run_number
    where t.tenant_id = ${tenantId} and t.status <> 'Cancelled' and not t.is_stale
      and t.stage <> 'Generating' and r.totals is not null`;
}

/** Each component of each term: of its bills, of those that are posted, booked, and as totalled. */
function componentSums(tenantId: number): Sql {
  return sql`
    select b.term_id, substr(c.key, strpos(c.key, ' ') + 1) as component,
      case when n.term_id is null then 0 else sum(c.value::bigint) end as made,
      coalesce(sum(c.value::bigint) filter (where b.bill_number is not null), 0) as posted,
      0 as booked, 0 as total
    from bills b
    left join newest n on n.term_id = b.term_id
    cross join lateral json_each_text(b.charges) c
    where b.tenant_id = ${tenantId} and ${isCounted}
    group by b.term_id, n.term_id, c.key
    union all
    select j.term_id, l.component, 0, 0,
      case when o.is_payable then l.amount else -l.amount end, 0
    from (
      select journal_id, term_id from journals
      where tenant_id = ${tenantId} and source_type = 'Bills' and term_id is not null
      union all
      ${reversalsOf(tenantId, 'Bills')}
    ) j
    cross join lateral (
      select exists (
        select from journal_lines p
        where p.tenant_id = ${tenantId} and p.journal_id = j.journal_id
          and p.ledger_account_id = ${ledgerAccounts.payable}
      ) as is_payable
    ) o
    join journal_lines l on l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
    where l.component is not null
    union all
    select n.term_id, t.key, 0, 0, 0, (t.value ->> 'amount')::numeric
    from newest n
    cross join jsonb_each(n.totals -> 'components') t`;
}
