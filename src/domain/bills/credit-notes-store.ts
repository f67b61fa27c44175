import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';

export type CreditNote = {
  creditNoteId: number;
  number: string;
  seriesId: number;
  seriesNumber: number;
  /** Of the caller. */
  reference: string | null;
  billId: number;
  partyId: number;
  /** Minor units, as the bill had them. */
  amount: number;
  lines: readonly CreditNoteLine[];
  toWallet: number;
  /** YYYY-MM-DD */
  issueDate: string;
  reason: string;
  journalId: number | null;
  rebillTermId: number | null;
  cancelsBill: boolean;
};

type CreditNoteLine = {
  subscriptionId: number;
  component: string | null;
  amount: number;
};

/** Returns how many references were free. */
export async function insertCreditNotes(
  tx: Tx,
  tenantId: number,
  notes: readonly CreditNote[],
  stamp: Stamp,
): Promise<number> {
  const rows = notes
    .toSorted((a, b) => ((a.reference ?? '') < (b.reference ?? '') ? -1 : 1))
    .map(({ lines: _, ...note }) => note);
  const { count } = await sql`
    insert into credit_notes (tenant_id, credit_note_id, credit_note_number, series_id,
      series_number, reference, bill_id, party_id, amount, to_wallet, issue_date, reason,
      journal_id, rebill_term_id, cancels_bill, created_at, created_by)
    select own.tenant_id, r."creditNoteId", r.number, r."seriesId", r."seriesNumber", r.reference,
      r."billId", r."partyId", r.amount, r."toWallet", r."issueDate", r.reason, r."journalId",
      r."rebillTermId", r."cancelsBill", ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "creditNoteId" bigint, number text, "seriesId" integer, "seriesNumber" bigint,
      reference text, "billId" bigint, "partyId" bigint, amount bigint, "toWallet" bigint,
      "issueDate" date, reason text, "journalId" bigint, "rebillTermId" bigint,
      "cancelsBill" boolean
    )
    on conflict (tenant_id, reference) where reference is not null do nothing
  `.execute(tx);
  // With one missing, the caller takes everything back.
  if (count === notes.length) await insertLines(tx, tenantId, notes);
  const ids = notes.map((note) => note.creditNoteId).sort((a, b) => a - b);
  await insertEvents(tx, tenantId, eventsOf('credit_note.created', 'creditNoteID', ids), stamp.at);
  return count;
}

async function insertLines(tx: Tx, tenantId: number, notes: readonly CreditNote[]): Promise<void> {
  const rows = notes.flatMap(({ creditNoteId, billId, lines }) =>
    lines.map((line, index) => ({ ...line, creditNoteId, billId, lineNumber: index + 1 })),
  );
  await sql`
    insert into credit_note_lines (tenant_id, credit_note_id, line_number, bill_id,
      subscription_id, component, amount)
    select own.tenant_id, r."creditNoteId", r."lineNumber", r."billId", r."subscriptionId",
      r.component, r.amount
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "creditNoteId" bigint, "lineNumber" integer, "billId" bigint, "subscriptionId" bigint,
      component text, amount bigint
    )
  `.execute(tx);
}

/** A reference of a credit note that was made before. */
export type KnownCreditNote = { reference: string; id: number; bill_id: number; amount: number };

export async function listCreditNoteReferences(
  tx: Tx,
  tenantId: number,
  references: readonly string[],
): Promise<Map<string, KnownCreditNote>> {
  const { rows } = await sql<KnownCreditNote>`
    select reference, credit_note_id as id, bill_id, amount from credit_notes
    where tenant_id = ${tenantId} and reference = any(${references}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.reference, row]));
}

export type CreditedRow = { bill_id: number; subscription_id: number; component: string | null };

/** What credit notes took back of the components of bills. */
export async function listCredited(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<(CreditedRow & { amount: string })[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<CreditedRow & { amount: string }>`
    select bill_id, subscription_id, component, sum(amount)::text as amount
    from credit_note_lines
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    group by bill_id, subscription_id, component
  `.execute(tx);
  return rows;
}

export type CreditNoteRow = {
  credit_note_id: number;
  credit_note_number: string;
  reference: string | null;
  cancels_bill: boolean;
  /** By component; null is the rounding of the bill. */
  lines: { component: string | null; amount: number }[];
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
  creditNoteNumber: string | null;
  /** Of the caller; the number, where none was sent. */
  reference: string | null;
  billId: number | null;
  partyId: number | null;
  /** Only of bills that customers see. */
  isPublished: boolean;
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
    select n.credit_note_id, n.credit_note_number, n.reference, n.cancels_bill, n.bill_id,
      b.bill_number, n.party_id, coalesce((
        select json_agg(json_build_object('component', l.component, 'amount', l.amount)
          order by l.line_number)
        from (
          select component, sum(amount) as amount, min(line_number) as line_number
          from credit_note_lines
          where tenant_id = ${tenantId} and credit_note_id = n.credit_note_id
          group by component
        ) l
      ), '[]') as lines,
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

function isOfPublished(tenantId: number): Sql {
  return sql`exists (
    select from bills i
    where i.tenant_id = ${tenantId} and i.bill_id = credit_notes.bill_id
      and i.issue_date is not null
  )`;
}

function matches(tenantId: number, filter: CreditNoteFilter): Sql {
  const { creditNoteId, creditNoteNumber, reference, billId, partyId } = filter;
  const { subscriptionNumber, fromDate, toDate, isPublished } = filter;
  return sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(creditNoteId === null ? [] : [sql`credit_note_id = ${creditNoteId}`]),
      ...(creditNoteNumber === null ? [] : [sql`credit_note_number = ${creditNoteNumber}`]),
      ...(reference === null ? [] : [isReferred(reference)]),
      ...(billId === null ? [] : [sql`bill_id = ${billId}`]),
      ...(partyId === null ? [] : [sql`party_id = ${partyId}`]),
      ...(fromDate === null ? [] : [sql`issue_date >= ${fromDate.toString()}::date`]),
      ...(toDate === null ? [] : [sql`issue_date <= ${toDate.toString()}::date`]),
      ...(subscriptionNumber === null ? [] : [isOf(tenantId, subscriptionNumber)]),
      ...(isPublished ? [isOfPublished(tenantId)] : []),
    ],
    sql` and `,
  );
}

function isReferred(reference: string): Sql {
  return sql`(reference = ${reference}
    or (reference is null and credit_note_number = ${reference}))`;
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
