import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type CreditNote = {
  creditNoteId: number;
  number: string;
  seriesId: number;
  seriesNumber: number;
  billId: number;
  partyId: number;
  /** Minor units, as the bill had them. */
  amount: number;
  toWallet: number;
  /** YYYY-MM-DD */
  issueDate: string;
  reason: string;
  journalId: number | null;
  rebillTermId: number | null;
};

export async function insertCreditNote(
  tx: Tx,
  tenantId: number,
  note: CreditNote,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into credit_notes (tenant_id, credit_note_id, credit_note_number, series_id,
      series_number, bill_id, party_id, amount, to_wallet, issue_date, reason, journal_id,
      rebill_term_id, created_at, created_by)
    values (${tenantId}, ${note.creditNoteId}, ${note.number}, ${note.seriesId},
      ${note.seriesNumber}, ${note.billId}, ${note.partyId}, ${note.amount}, ${note.toWallet},
      ${note.issueDate}::date, ${note.reason}, ${note.journalId}, ${note.rebillTermId},
      ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export type CreditNoteRow = {
  credit_note_id: number;
  credit_note_number: string;
  bill_id: number;
  bill_number: string | null;
  party_id: number;
  amount: string;
  to_wallet: string;
  issue_date: string;
  reason: string;
  rebill_term_id: number | null;
  created_at: Temporal.Instant;
  created_by: string;
};

export type CreditNoteFilter = {
  creditNoteId: number | null;
  /** The number of the credit note. */
  reference: string | null;
  billId: number | null;
  partyId: number | null;
  subscriptionNumber: string | null;
  fromDate: Temporal.PlainDate | null;
  toDate: Temporal.PlainDate | null;
};

/** In the order in which they were made. */
export async function listCreditNotes(
  tx: Tx,
  tenantId: number,
  filter: CreditNoteFilter,
  window: { afterId: number; offset: number; limit: number },
): Promise<CreditNoteRow[]> {
  // The page is found before the bills are looked at.
  const { rows } = await sql<CreditNoteRow>`
    select n.credit_note_id, n.credit_note_number, n.bill_id, b.bill_number, n.party_id,
      n.amount::text as amount, n.to_wallet::text as to_wallet, n.issue_date, n.reason,
      n.rebill_term_id, n.created_at, n.created_by
    from (
      select * from credit_notes
      where ${matches(tenantId, filter)} and credit_note_id > ${window.afterId}
      order by credit_note_id
      limit ${window.limit} offset ${window.offset}
    ) n
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
    order by n.credit_note_id
  `.execute(tx);
  return rows;
}

export async function countCreditNotes(
  tx: Tx,
  tenantId: number,
  filter: CreditNoteFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from credit_notes where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: CreditNoteFilter): Sql {
  const { creditNoteId, reference, billId, partyId, subscriptionNumber, fromDate, toDate } = filter;
  return sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(creditNoteId === null ? [] : [sql`credit_note_id = ${creditNoteId}`]),
      ...(reference === null ? [] : [sql`credit_note_number = ${reference}`]),
      ...(billId === null ? [] : [sql`bill_id = ${billId}`]),
      ...(partyId === null ? [] : [sql`party_id = ${partyId}`]),
      ...(fromDate === null ? [] : [sql`issue_date >= ${fromDate.toString()}::date`]),
      ...(toDate === null ? [] : [sql`issue_date <= ${toDate.toString()}::date`]),
      ...(subscriptionNumber === null ? [] : [isOf(tenantId, subscriptionNumber)]),
    ],
    sql` and `,
  );
}

/** Bills of a subscription, alone or with others. */
function isOf(tenantId: number, subscriptionNumber: string): Sql {
  const subscription = sql`(
    select s.subscription_id from subscriptions s
    where s.tenant_id = ${tenantId} and s.subscription_number = ${subscriptionNumber})`;
  return sql`bill_id in (
    select b.bill_id from bills b
    where b.tenant_id = ${tenantId} and b.subscription_id = ${subscription}
    union all
    select p.bill_id from bill_parts p
    where p.tenant_id = ${tenantId} and p.subscription_id = ${subscription})`;
}
