// Rows of the exports that accountants and auditors ask for: bills and journals, with their dates.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { valueDateOf } from '../ledger/journals-store.ts';
import { openOfBill } from '../ledger/open-amounts-store.ts';
import type { Days } from './store.ts';

const day = (date: string) => sql.raw(`to_char(${date}, 'DD/MM/YYYY')`);

export type BillExportRow = { bill_id: number } & Record<string, string | number | null>;

/**
 * Bills that were posted, also those that were cancelled since, by id. The days are of the first
 * day of the term, as they are for get-bills.
 */
export async function listPostedBills(
  tx: Tx,
  tenantId: number,
  days: Days,
  { after, limit }: { after: number; limit: number },
): Promise<BillExportRow[]> {
  const { rows } = await sql<BillExportRow>`
    select b.bill_id, b.bill_id as "billID", b.bill_number as "billNumber",
      b.bill_type as "billType", b.status, b.payment_status as "paymentStatus",
      c.code as "serviceCode", x.code as "batchCode", b.term_id as "termID", t.label as "termLabel",
      ${day('t.start_date')} as "startDate", ${day('t.end_date')} as "endDate",
      ${day('b.billed_from')} as "billedFrom",
      case when b.days > 0 then ${day('b.billed_to')} end as "billedTo", b.days,
      ${day('e.posting_date')} as "postingDate", ${day('b.issue_date')} as "issueDate",
      ${day('b.due_date')} as "dueDate", s.subscription_number as "connectionNumber",
      p.party_number as "partyNumber", p.name as "partyName", n.code as "tariffCode",
      b.current_charges::text as "currentCharges", b.tax_amount::text as "taxAmount",
      b.rounding_adjustment::text as "roundingAdjustment", b.bill_amount::text as "billAmount",
      b.arrears::text as arrears, b.wallet_applied::text as "walletApplied",
      b.payable::text as "payableWithinDueDate", b.paid_amount::text as "paidAmount",
      case when b.status = 'Cancelled' then '0' else (${openOfBill})::text end
        as "outstandingAmount",
      k.credit_note_number as "creditNoteNumber", ${day('k.issue_date')} as "creditNoteDate"
    from (
      select b.* from bills b
      where b.tenant_id = ${tenantId} and b.bill_id > ${after} and ${isPosted(tenantId, days)}
      order by b.bill_id
      limit ${limit}
    ) b
    join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    join batches x on x.tenant_id = ${tenantId} and x.batch_id = b.batch_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = b.party_id
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = b.subscription_id
    left join plans n on n.tenant_id = ${tenantId} and n.plan_id = b.plan_id
    left join lateral (
      select e.posting_date from subledger_entries e
      where e.tenant_id = ${tenantId} and e.bill_id = b.bill_id and e.kind = 'Bill'
        and e.posting = b.posting
      limit 1
    ) e on true
    left join lateral (
      select k.credit_note_number, k.issue_date from credit_notes k
      where k.tenant_id = ${tenantId} and k.bill_id = b.bill_id and k.cancels_bill
      limit 1
    ) k on b.status = 'Cancelled'
    order by b.bill_id
  `.execute(tx);
  return rows;
}

export async function countPostedBills(tx: Tx, tenantId: number, days: Days): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bills b
    where b.tenant_id = ${tenantId} and ${isPosted(tenantId, days)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Of bill `b`. A cancelled bill kept its number. */
function isPosted(tenantId: number, { from, to }: Days): Sql {
  const isPosted = sql`b.status in ('Posted', 'Published', 'Cancelled')
    and b.bill_number is not null`;
  if (!from && !to) return isPosted;
  return sql`${isPosted} and b.term_id in (
    select t.term_id from terms t
    where t.tenant_id = ${tenantId}
      and ${from ? sql`t.start_date >= ${from.toString()}::date` : sql`true`}
      and ${to ? sql`t.start_date <= ${to.toString()}::date` : sql`true`}
  )`;
}

/** Where the next chunk of journal lines begins: after this one. */
export type JournalPlace = { posting_date: string; journal_id: number; line_number: number };
export type JournalExportRow = JournalPlace & {
  /** The day from which the money counts. */
  value_date: string;
  source_type: string;
  source_id: number;
  term_id: number | null;
  description: string;
  account_code: string;
  account_name: string;
  component: string | null;
  /** Minor units: a debit is above zero, a credit below. */
  amount: string;
  reverses_journal_id: number | null;
  created_at: Temporal.Instant;
  created_by: string;
};

/** Journal lines by posting date, journal and line. */
export async function listJournalLines(
  tx: Tx,
  tenantId: number,
  { from, to }: Days,
  { after, limit }: { after: JournalPlace | undefined; limit: number },
): Promise<JournalExportRow[]> {
  const { posting_date: date, journal_id: journalId, line_number: line } = after ?? first;
  const begin = from && (!after || from.toString() > date) ? from.toString() : date;
  // Journals are taken from the index by date; each is then read with its lines, until enough are.
  const { rows } = await sql<JournalExportRow>`
    select j.posting_date, j.journal_id, l.line_number, j.source_type, j.source_id, j.term_id,
      j.description, a.code as account_code, a.name as account_name, l.component,
      l.amount::text as amount, j.reverses_journal_id, j.created_at, j.created_by,
      ${valueDateOf(tenantId)} as value_date
    from (
      select * from journals j
      where j.tenant_id = ${tenantId} and j.posting_date >= ${begin}::date
        and (j.posting_date, j.journal_id) >= (${date}::date, ${journalId}::bigint)
        and ${to ? sql`j.posting_date <= ${to.toString()}::date` : sql`true`}
      order by j.posting_date, j.journal_id
      limit ${limit + 1}
    ) j
    cross join lateral (
      select l.line_number, l.ledger_account_id, l.component, l.amount from journal_lines l
      where l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
        and (j.journal_id <> ${journalId}::bigint or l.line_number > ${line}::integer)
      order by l.line_number
    ) l
    join ledger_accounts a on a.tenant_id = ${tenantId}
      and a.ledger_account_id = l.ledger_account_id
    order by j.posting_date, j.journal_id, l.line_number
    limit ${limit}
  `.execute(tx);
  return rows;
}

/** Before every journal. */
const first: JournalPlace = { posting_date: '0001-01-01', journal_id: 0, line_number: 0 };
