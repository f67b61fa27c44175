import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { isPayment, type Journal, type JournalLine, type SummedLine } from './journal.ts';

/**
 * Posts one journal with its entries. That it balances, that entries are never changed and that
 * balances follow is held by the database.
 */
export async function postJournal(
  tx: Tx,
  tenantId: number,
  journal: Journal,
  stamp: Stamp,
): Promise<number> {
  const journalId = await takeIds(tx, tenantId, 'journal', 1);
  const { entries } = journal;
  const firstEntry =
    entries.length === 0 ? 0 : await takeIds(tx, tenantId, 'entry', entries.length);
  await insertJournal(tx, tenantId, journal, { journalId, firstEntry }, stamp);
  return journalId;
}

/** With numbers that were set aside before. */
export async function insertJournal(
  tx: Tx,
  tenantId: number,
  journal: Journal,
  { journalId, firstEntry }: { journalId: number; firstEntry: number },
  stamp: Stamp,
): Promise<void> {
  await insertHead(tx, tenantId, journalId, journal, stamp);
  await insertLines(tx, tenantId, journalId, journal.lines);
  await insertEntries(tx, tenantId, journal, { journalId, firstEntry }, stamp);
}

/** For a journal whose lines follow from entries that name it. */
export async function insertHead(
  tx: Tx,
  tenantId: number,
  journalId: number,
  journal: Omit<Journal, 'lines' | 'entries'>,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into journals (tenant_id, journal_id, source_type, source_id, term_id, business_unit_id,
      posting_date, description, reverses_journal_id, created_at, created_by)
    values (${tenantId}, ${journalId}, ${journal.source}, ${journal.sourceId},
      ${journal.termId ?? null}, ${journal.businessUnitId}, ${journal.postingDate.toString()}::date,
      ${journal.description}, ${journal.reverses ?? null}, ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export async function insertLines(
  tx: Tx,
  tenantId: number,
  journalId: number,
  lines: readonly (JournalLine | SummedLine)[],
): Promise<void> {
  if (lines.length === 0) return;
  await sql`
    insert into journal_lines
      (tenant_id, journal_id, line_number, ledger_account_id, component, amount)
    select own.tenant_id, ${journalId}::bigint, l.line_number, l.account_id, l.component, l.amount
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${lines.map((line) => line.accountId)}::bigint[],
      ${lines.map((line) => line.component ?? null)}::text[],
      ${lines.map((line) => String(line.amount))}::bigint[]
    ) with ordinality as l (account_id, component, amount, line_number)
  `.execute(tx);
}

async function insertEntries(
  tx: Tx,
  tenantId: number,
  { entries, postingDate }: Journal,
  { journalId, firstEntry }: { journalId: number; firstEntry: number },
  stamp: Stamp,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry, index) => ({
    entry_id: firstEntry + index,
    ledger_account_id: entry.accountId,
    party_id: entry.partyId,
    subscription_id: entry.subscriptionId,
    kind: entry.kind,
    bill_id: entry.billId ?? null,
    posting: entry.posting ?? 1,
    amount: entry.amount,
    is_payment: isPayment(entry.kind),
    due_date: entry.dueDate ?? null,
    reference: entry.reference ?? null,
    description: entry.description ?? null,
  }));
  await sql`
    insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
      subscription_id, kind, bill_id, posting, amount, is_payment, posting_date, due_date,
      reference, description, created_at, created_by)
    select own.tenant_id, r.entry_id, ${journalId}::bigint, r.ledger_account_id, r.party_id,
      r.subscription_id, r.kind, r.bill_id, r.posting, r.amount, r.is_payment,
      ${postingDate.toString()}::date, r.due_date, r.reference, r.description, ${stamp.at},
      ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      entry_id bigint, ledger_account_id bigint, party_id bigint, subscription_id bigint,
      kind text, bill_id bigint, posting smallint, amount bigint, is_payment boolean, due_date date,
      reference text, description text
    )
  `.execute(tx);
}
