// Checks of the states of bills and terms: what goes together whatever happened, also while jobs
// run and after one was killed.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { openItems } from '../../ledger/accounts-store.ts';
import { billedAmount, type Counts, reversalsOf, runCheck } from './checks-store.ts';

/**
 * A bill is of the context, batch and type of its term and due with it, says of payments what the
 * ledger does, was issued when its document was made, and knew of no entry that came after it. One
 * that was cancelled is credited in full. A term is as far as its bills are.
 */
export function checkStates(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from bills where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'bill ' || b.bill_id || ' is not as its term ' || b.term_id as what
      from bills b
      left join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
      where b.tenant_id = ${tenantId}
        and (b.context_id, b.batch_id, b.bill_type)
          is distinct from (t.context_id, t.batch_id, t.term_type)
      union all
      ${wronglyPaid(tenantId)}
      union all
      ${wronglyIssued(tenantId)}
      union all
      ${wronglyBooked(tenantId)}
      union all
      ${wronglyCancelled(tenantId)}
      union all
      ${wrongTerms(tenantId)}`,
  });
}

/** A posted bill is due with its term or, where it is prepaid, when it was booked. */
function wronglyBooked(tenantId: number): Sql {
  return sql`
    select 'bill ' || b.bill_id || ' is due on ' || b.due_date
    from bills b
    join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
    join (
      select bill_id, posting, min(posting_date) as posting_date
      from subledger_entries
      where tenant_id = ${tenantId} and kind = 'Bill' and bill_id is not null
      group by bill_id, posting
    ) e on e.bill_id = b.bill_id and e.posting = b.posting
    where b.tenant_id = ${tenantId} and b.status in ('Posted', 'Published')
      and b.due_date not in (t.due_date, e.posting_date)`;
}

/** By a credit note, of which the ledger has on each subscription and account what the bill had. */
function wronglyCancelled(tenantId: number): Sql {
  return sql`
    select distinct 'bill ' || b.bill_id || ' is cancelled and not credited'
    from bills b
    left join credit_notes c on c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
    left join (
      select n.bill_id, n.subscription_id, sum(n.amount) as amount
      from subledger_entries n
      left join (${reversalsOf(tenantId, 'Bills')}) r on r.journal_id = n.journal_id
      where n.tenant_id = ${tenantId} and n.bill_id is not null
        and n.ledger_account_id in ${openItems}
        and (n.kind in ('Bill', 'CreditNote') or (n.kind = 'Reversal' and r.journal_id is not null))
      group by n.bill_id, n.subscription_id, n.ledger_account_id
    ) e on e.bill_id = b.bill_id and e.amount <> 0
    where b.tenant_id = ${tenantId} and b.status = 'Cancelled' and b.bill_number is not null
      and (c.credit_note_id is null or c.amount <> b.bill_amount or e.bill_id is not null)
    union all
    select 'credit note ' || c.credit_note_id || ' is not for the party of bill ' || c.bill_id
    from credit_notes c
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = c.bill_id
    where c.tenant_id = ${tenantId} and b.party_id is distinct from c.party_id`;
}

/**
 * A bill has no payment before it is posted. After that it has what wallets and payments paid, and
 * nothing once it is cancelled.
 */
function wronglyPaid(tenantId: number): Sql {
  return sql`
    select 'bill ' || b.bill_id || ' is ' || b.payment_status || ' with ' || b.paid_amount
    from bills b
    left join (
      select n.bill_id, -sum(${billedAmount}) as amount
      from subledger_entries n
      left join journals j on j.tenant_id = ${tenantId} and j.journal_id = n.journal_id
      left join journals o on o.tenant_id = ${tenantId}
        and o.journal_id = j.reverses_journal_id
      where n.tenant_id = ${tenantId} and n.bill_id is not null
        and n.ledger_account_id in ${openItems}
        and (n.kind = 'Payment' or (n.kind = 'Reversal' and o.source_type = 'Payment'))
      group by n.bill_id
    ) p on p.bill_id = b.bill_id
    where b.tenant_id = ${tenantId}
      and (b.paid_amount <> case b.status when 'Cancelled' then 0
          else b.wallet_applied + coalesce(p.amount, 0) end
        or not ${paymentStatusFits})`;
}

/**
 * A bill cannot be overdue until its due date has passed in every time zone. The ledger has no
 * write-offs, so no bill has that status.
 */
const paymentStatusFits = sql`case
  when b.status not in ('Posted', 'Published') then b.payment_status = 'Unpaid'
  when b.paid_amount >= b.bill_amount then b.payment_status = 'Paid'
  when b.payment_status = 'Unpaid' then b.paid_amount = 0
  when b.payment_status = 'PartiallyPaid' then b.paid_amount > 0
  when b.payment_status = 'Overdue' then b.status = 'Published'
    and b.due_date < (b.modified_at at time zone 'Pacific/Kiritimati')::date
  else false end`;

/** Published is what has a document, on the day for which that was made. */
function wronglyIssued(tenantId: number): Sql {
  return sql`
    select 'bill ' || b.bill_id || ' is issued on ' || coalesce(b.issue_date::text, 'no day')
    from bills b
    left join (
      select d.bill_id, s.issue_date
      from bill_documents d
      join document_settings s on s.tenant_id = ${tenantId} and s.term_id = d.term_id
        and s.version = d.setting_version
      where d.tenant_id = ${tenantId} and d.format = 'PDF' and d.error is null
    ) d on d.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and case b.status when 'Cancelled' then false
      when 'Published' then d.issue_date is null or b.issue_date is distinct from d.issue_date
      else b.issue_date is not null end`;
}

/** Bills are ahead of their term only while a step runs, or where one was broken off. */
function wrongTerms(tenantId: number): Sql {
  return sql`
    select 'term ' || t.term_id || ' is ' || t.status || ' and ' || t.stage
    from terms t
    left join (
      select term_id, count(*) filter (where status = 'Draft') as drafts,
        count(*) filter (where status = 'Posted') as posted,
        count(*) filter (where status = 'Published') as published,
        count(*) filter (where status <> 'Cancelled') as live,
        min(issue_date) filter (where status = 'Published') as issue_date
      from bills
      where tenant_id = ${tenantId}
      group by term_id
    ) b on b.term_id = t.term_id
    where t.tenant_id = ${tenantId} and (
      case t.status
        when 'Open' then t.stage in ('Posted', 'Publishing', 'Published', 'Distributing',
          'Distributed', 'Cancelled') or b.published > 0 or (b.posted > 0 and t.stage <> 'Posting')
        when 'Posted' then t.stage not in ('Posted', 'Publishing') or b.drafts > 0
          or (b.published > 0 and t.stage <> 'Publishing')
        when 'Published' then t.stage not in ('Published', 'Distributing', 'Distributed')
          or b.drafts > 0 or b.posted > 0
        else t.stage <> 'Cancelled' or b.live > 0 end
      or (b.published > 0 and t.issue_date is distinct from b.issue_date))`;
}
