// Drafts as they are written: in bulk, and only those that changed.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../ledger/store.ts';
import type { BilledTerm } from './billed-terms-store.ts';
import type { BillPart, MadeBill } from './made-bill.ts';
import type { SubjectRange } from './subjects-store.ts';

export type KnownBill = {
  subject_id: number;
  bill_id: number;
  first_run: number;
  /** Hexadecimal. */
  hash: string;
  subject_ts: string;
  status: string;
  is_held: boolean;
  hold_reason: string | null;
  posting: number;
  created_at: Temporal.Instant;
  created_by: string;
};

export async function listKnownBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: SubjectRange,
): Promise<KnownBill[]> {
  const { rows } = await sql<KnownBill>`
    select subject_id, bill_id, first_run, encode(hash, 'hex') as hash,
      subject_ts::text as subject_ts, status, is_held, hold_reason, posting, created_at,
      created_by
    from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
      and subject_id between ${range.firstId} and ${range.lastId}
  `.execute(tx);
  return rows;
}

/** Takes bills away; what earlier runs knew of them is kept for comparison. */
export async function supersedeBills(
  tx: Tx,
  tenantId: number,
  run: number,
  billIds: readonly number[],
): Promise<void> {
  if (billIds.length === 0) return;
  await sql`
    delete from bill_parts where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
  `.execute(tx);
  await sql`
    with gone as (
      delete from bills where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      returning *
    )
    insert into superseded_bills (tenant_id, term_id, bill_id, first_run, last_run, subject_id,
      subscription_id, status, current_charges, bill_amount, hash, document, facts)
    select tenant_id, term_id, bill_id, first_run, ${run - 1}, subject_id, subscription_id, status,
      current_charges, bill_amount, hash, document, facts
    from gone
    where first_run < ${run}
  `.execute(tx);
}

export type TouchedBill = { billId: number; subjectTs: bigint; parts: readonly BillPart[] };

/** The subscription was touched, and the bill is the same as before. */
export async function refreshBills(
  tx: Tx,
  tenantId: number,
  touched: readonly TouchedBill[],
): Promise<void> {
  if (touched.length === 0) return;
  await sql`
    update bills b set subject_ts = n.subject_ts
    from unnest(
      ${touched.map((one) => one.billId)}::bigint[],
      ${touched.map((one) => String(one.subjectTs))}::bigint[]
    ) as n (bill_id, subject_ts)
    where b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
  `.execute(tx);
  const parts = touched.flatMap(({ billId, parts }) => parts.map((part) => ({ billId, part })));
  if (parts.length === 0) return;
  await sql`
    update bill_parts p set subject_ts = n.subject_ts
    from unnest(
      ${parts.map(({ billId }) => billId)}::bigint[],
      ${parts.map(({ part }) => part.subscriptionId)}::bigint[],
      ${parts.map(({ part }) => part.subjectTs)}::bigint[]
    ) as n (bill_id, subscription_id, subject_ts)
    where p.tenant_id = ${tenantId} and p.bill_id = n.bill_id
      and p.subscription_id = n.subscription_id
  `.execute(tx);
}

/** A bill with what it has besides its rating. */
export type NewBill = {
  billId: number;
  made: MadeBill;
  entryId: number;
  isHeld: boolean;
  holdReason: string | null;
  /** How often it was posted, and taken back, before. */
  posting: number;
  /** Of the version before, where there was one. */
  created: Stamp | null;
};

const copied = `bill_id, term_id, first_run, context_id, batch_id, subject_id, subscription_id,
  account_id, party_id, plan_id, bill_type, status, is_held, hold_reason, posting, due_date,
  billed_from, billed_to, days, current_charges, tax_amount, rounding_adjustment, bill_amount,
  previous_balance, payments_received, adjustments, arrears, payable, credit_balance,
  late_surcharge, billed_through, entry_id, subject_ts, hash, usage, charges, document, facts,
  created_at, created_by, modified_at, modified_by, ts`;

/** A subscription of a bill that has several. */
export type NewPart = { billId: number; part: BillPart };

export function partsOf(bills: readonly NewBill[]): NewPart[] {
  return bills.flatMap(({ billId, made }) => made.parts.map((part) => ({ billId, part })));
}

export async function insertBills(
  tx: Tx,
  tenantId: number,
  rows: readonly Buffer[],
  parts: readonly NewPart[],
): Promise<void> {
  const filled = rows.filter((bytes) => bytes.length > 0);
  if (filled.length > 0) await copyBills(tx, tenantId, filled);
  if (parts.length > 0) await insertParts(tx, tenantId, parts);
}

/**
 * COPY is refused to a role that row-level security binds. The role it is done as is bound by
 * having no right to name a tenant: the column's default is that of the transaction. Where the
 * database has no such role, rows go through a temporary table, which costs half as much again.
 */
async function copyBills(tx: Tx, tenantId: number, bills: readonly Buffer[]): Promise<void> {
  const { rows } = await sql<{ role: string; is_free: boolean }>`
    select current_user as role, r.rolbypassrls as is_free,
      set_config('role', case when r.rolbypassrls then r.rolname::text else current_user end, true)
    from pg_roles r
    where r.rolname = 'billwright_bulk'
  `.execute(tx);
  const [as] = rows;
  if (!as) throw new Error('the role that copies does not exist');
  if (as.is_free) {
    await tx.copyIn(`copy bills (${copied}) from stdin`, bills);
    await sql`select set_config('role', ${as.role}, true)`.execute(tx);
    return;
  }
  await sql`create temporary table if not exists copied_bills (like bills) on commit drop`.execute(
    tx,
  );
  await sql`alter table copied_bills alter tenant_id drop not null`.execute(tx);
  await tx.copyIn(`copy copied_bills (${copied}) from stdin`, bills);
  await sql`
    insert into bills (tenant_id, ${sql.raw(copied)})
    select ${tenantId}, ${sql.raw(copied)} from copied_bills
  `.execute(tx);
  await sql`truncate copied_bills`.execute(tx);
}

/** Bills as COPY takes them: a line for each, in the order of the columns above. */
export function copyRows(
  run: { term: BilledTerm; number: number },
  bills: readonly NewBill[],
  stamp: Stamp,
): Buffer {
  const { term } = run;
  const head = `${term.term_id}\t${run.number}\t${term.context_id}\t${term.batch_id}`;
  const at = stamp.at.toString();
  const by = escaped(stamp.by);
  const tail = `${at}\t${by}\t${stamp.at.epochMilliseconds}\n`;
  let text = '';
  for (const { billId, made, entryId, isHeld, holdReason, posting, created } of bills) {
    const status = made.status === 'Draft' && isHeld ? 'Hold' : made.status;
    const reason = holdReason === null ? none : escaped(holdReason);
    const createdText = created ? `${created.at}\t${escaped(created.by)}` : `${at}\t${by}`;
    text +=
      `${billId}\t${head}\t${made.subjectId}\t${made.subscriptionId ?? none}\t` +
      `${made.accountId ?? none}\t${made.partyId}\t${made.planId ?? none}\t${term.term_type}\t` +
      `${status}\t${isHeld ? 't' : 'f'}\t${reason}\t${posting}\t${made.dueDate}\t` +
      `${made.billedFrom ?? none}\t${made.billedTo ?? none}\t${made.days}\t` +
      `${made.currentCharges}\t${made.taxAmount}\t${made.roundingAdjustment}\t` +
      `${made.billAmount}\t${made.previousBalance}\t${made.paymentsReceived}\t` +
      `${made.adjustments}\t${made.arrears}\t${made.payable}\t${made.creditBalance}\t` +
      `${made.lateSurcharge}\t${made.billedThrough ?? none}\t${entryId}\t` +
      `${made.subjectTs}\t\\\\x${made.hash}\t` +
      `${made.booking.usage === null ? none : escapedJson(made.booking.usage)}\t` +
      `${escapedJson(made.booking.charges)}\t${escapedJson(made.document)}\t` +
      `${escapedJson(made.facts)}\t` +
      `${createdText}\t${tail}`;
  }
  return Buffer.from(text);
}

const none = '\\N';

/** JSON has no tabs and line ends of its own, only backslashes. */
function escapedJson(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
}

/** As COPY wants text. */
function escaped(text: string): string {
  if (!/[\\\t\n\r]/.test(text)) return text;
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}

async function insertParts(tx: Tx, tenantId: number, parts: readonly NewPart[]): Promise<void> {
  const rows = parts.map(({ billId, part }) => ({
    bill_id: billId,
    subscription_id: part.subscriptionId,
    amount: part.amount,
    arrears: part.arrears,
    days: part.days,
    billed_to: part.billedTo,
    billed_through: part.billedThrough,
    subject_ts: part.subjectTs,
  }));
  await sql`
    insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days, billed_to,
      billed_through, subject_ts)
    select ${tenantId}, r.bill_id, r.subscription_id, r.amount, r.arrears, r.days, r.billed_to,
      r.billed_through, r.subject_ts
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (
      bill_id bigint, subscription_id bigint, amount bigint, arrears bigint, days integer,
      billed_to date, billed_through date, subject_ts bigint
    )
  `.execute(tx);
}
