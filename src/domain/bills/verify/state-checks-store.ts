// Checks of the states of bills and terms: what goes together whatever happened, also while jobs
// run and after one was killed.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { openItems } from '../../ledger/accounts-store.ts';
import { billedAmount, type Counts, reversalsOf, runCheck } from './checks-store.ts';

/**
 * A bill is of the context, batch and type of its term and due with it, says of payments what the
 * ledger does, was issued when its document was made, and knew of no entry that came after it. One
 * that was cancelled is credited in full. Files of documents are those that were published. A term
 * is as far as its bills are.
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
      ${wrongFiles(tenantId)}
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

/**
 * A cancelled bill has a credit note that cancels it, and nothing is left of it. Credit notes of a
 * bill add up to what the ledger credited by them; their lines add up to each.
 */
function wronglyCancelled(tenantId: number): Sql {
  return sql`
    select distinct 'bill ' || b.bill_id || ' is cancelled and not credited'
    from bills b
    left join credit_notes c on c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
      and c.cancels_bill
    left join (
      select n.bill_id, n.subscription_id, sum(n.amount) as amount
      from subledger_entries n
      left join (${reversalsOf(tenantId, 'Bills')}) r on r.journal_id = n.journal_id
      where n.tenant_id = ${tenantId} and n.bill_id is not null and n.item_id is null
        and n.ledger_account_id in ${openItems}
        and (n.kind = 'Bill' or n.effect in ('credited', 'written_off')
          or (n.kind = 'Reversal' and r.journal_id is not null))
      group by n.bill_id, n.subscription_id, n.ledger_account_id
    ) e on e.bill_id = b.bill_id and e.amount <> 0
    where b.tenant_id = ${tenantId} and b.status = 'Cancelled' and b.bill_number is not null
      and (c.credit_note_id is null or e.bill_id is not null)
    union all
    select 'credit notes of bill ' || coalesce(c.bill_id, e.bill_id) || ' are '
      || coalesce(c.amount, 0) || ', booked ' || coalesce(e.amount, 0)
    from (
      select bill_id, sum(amount) as amount from credit_notes
      where tenant_id = ${tenantId}
      group by bill_id
    ) c
    full join (
      select bill_id, sum(settled) as amount from subledger_entries
      where tenant_id = ${tenantId} and kind = 'CreditNote' and effect = 'credited'
      group by bill_id
    ) e on e.bill_id = c.bill_id
    where coalesce(c.amount, 0) <> coalesce(e.amount, 0)
    union all
    select 'credit note ' || c.credit_note_id || ' is not the sum of its lines'
    from credit_notes c
    where c.tenant_id = ${tenantId} and c.amount <> coalesce((
      select sum(l.amount) from credit_note_lines l
      where l.tenant_id = ${tenantId} and l.credit_note_id = c.credit_note_id
    ), 0)
    union all
    select 'credit note ' || c.credit_note_id || ' is not for the party of bill ' || c.bill_id
    from credit_notes c
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = c.bill_id
    where c.tenant_id = ${tenantId} and b.party_id is distinct from c.party_id`;
}

/** Bills, their shares and other items are settled by entries; late is what was due before. */
function wronglyPaid(tenantId: number): Sql {
  return sql`
    select 'bill ' || b.bill_id || ' is ' || b.payment_status || ' with ' || b.paid_amount
    from bills b
    left join (${settledBy(tenantId, 'bill_id')}) e on e.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and (${differs('b')}
      or (b.overdue_on is not null and (b.bill_number is null or b.overdue_on <= b.due_date)))
    union all
    select 'bill ' || p.bill_id || ' is settled for subscription ' || p.subscription_id
    from bill_parts p
    left join (${settledBy(tenantId, 'bill_id, subscription_id')}) e
      on e.bill_id = p.bill_id and e.subscription_id = p.subscription_id
    where p.tenant_id = ${tenantId} and ${differs('p')}
    union all
    select 'open item ' || i.item_id || ' with ' || i.paid_amount
    from open_items i
    left join (${settledBy(tenantId, 'item_id')}) e on e.item_id = i.item_id
    left join (
      select n.item_id, sum(${billedAmount}) as amount from subledger_entries n
      where n.tenant_id = ${tenantId} and n.item_id is not null and n.effect is null
        and n.ledger_account_id in ${openItems}
      group by n.item_id
    ) o on o.item_id = i.item_id
    where i.tenant_id = ${tenantId} and (${differs('i')} or o.amount is distinct from i.amount)`;
}

/** Sums of entries by how they settle: of bills, of their shares, or of other items. */
function settledBy(tenantId: number, key: 'bill_id' | 'bill_id, subscription_id' | 'item_id'): Sql {
  const sums = effects.map(
    (effect) => `sum(settled) filter (where effect = '${effect}') as ${effect}`,
  );
  return sql`
    select ${sql.raw(key)}, ${sql.raw(sums.join(', '))}
    from subledger_entries
    where tenant_id = ${tenantId} and effect is not null
      and item_id is ${sql.raw(key === 'item_id' ? 'not null' : 'null')}
    group by ${sql.raw(key)}`;
}

const effects = ['paid', 'credited', 'written_off', 'transferred', 'disputed'] as const;

/** What row `name` keeps is not what its entries `e` come to. */
function differs(name: string): Sql {
  const kept = effects.map((effect) => `${name}.${effect === 'paid' ? 'paid_amount' : effect}`);
  const booked = effects.map((effect) => `coalesce(e.${effect}, 0)`);
  return sql.raw(`(${kept.join(', ')}) <> (${booked.join(', ')})`);
}

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

/**
 * The file of a document, put together from its own bytes and its parts, is what was published. One
 * that was deleted when its years of retention had passed has none.
 */
function wrongFiles(tenantId: number): Sql {
  return sql`
    select 'the file of document ' || d.document_id || ' is not the one that was published'
    from (
      select document_id, sha256, deleted_on from bill_documents
      where tenant_id = ${tenantId} and error is null
      union all
      select document_id, sha256, deleted_on from further_documents where tenant_id = ${tenantId}
    ) d
    left join document_contents c on c.tenant_id = ${tenantId} and c.document_id = d.document_id
    left join lateral (
      select sha256(string_agg(
        substr(c.own, s.first + 1, s.last - s.first) || coalesce(p.bytes, ''), '' order by s.n
      )) as sha256
      from (
        select n, coalesce(c.part_offsets[n], 0) as first,
          coalesce(c.part_offsets[n + 1], length(c.own)) as last
        from generate_series(0, cardinality(c.part_offsets)) n
      ) s
      left join document_parts p on p.tenant_id = ${tenantId} and p.sha256 = c.part_hashes[s.n + 1]
    ) f on true
    where case when d.deleted_on is null then f.sha256 is distinct from d.sha256
      else c.document_id is not null end`;
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
