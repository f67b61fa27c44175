// New bills as COPY takes them, and how they are copied in.
import { sql } from 'kysely';
import { binaryCopy, binaryRows } from '../../base/db/binary-rows.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../ledger/store.ts';
import type { BilledTerm } from './billed-terms-store.ts';
import type { MadeBill } from './made-bill.ts';

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

export type BillRows = {
  bills: Buffer;
  /** What they say, in the binary format. */
  contents: Buffer;
};

type CopiedTable = { table: string; columns: string; format: 'text' | 'binary' };

const billsTable: CopiedTable = {
  table: 'bills',
  columns: `bill_id, term_id, first_run, context_id, batch_id, subject_id, subscription_id,
    account_id, party_id, plan_id, bill_type, status, is_held, hold_reason, posting, due_date,
    billed_from, billed_to, days, current_charges, tax_amount, rounding_adjustment, bill_amount,
    previous_balance, payments_received, adjustments, arrears, payable, credit_balance,
    late_surcharge, billed_through, entry_id, subject_ts, hash, usage, charges, created_at,
    created_by, modified_at, modified_by, ts`,
  format: 'text',
};

const contentsTable: CopiedTable = {
  table: 'bill_contents',
  columns: 'bill_id, document, facts',
  format: 'binary',
};

/**
 * COPY is refused to a role that row-level security binds. The role it is done as is bound by
 * having no right to name a tenant: the column's default is that of the transaction. Where the
 * database has no such role, rows go through temporary tables, which costs half as much again.
 */
export async function copyBills(
  tx: Tx,
  tenantId: number,
  rows: readonly BillRows[],
): Promise<void> {
  const bills = rows.map((one) => one.bills);
  const contents = binaryCopy(rows.map((one) => one.contents));
  const role = await takeCopyingRole(tx);
  if (role === null) {
    await copyAside(tx, tenantId, billsTable, bills);
    await copyAside(tx, tenantId, contentsTable, contents);
    return;
  }
  await copyInto(tx, billsTable, bills);
  await copyInto(tx, contentsTable, contents);
  await sql`select set_config('role', ${role}, true)`.execute(tx);
}

/** The role that was left for it; null where there is none that may copy. */
async function takeCopyingRole(tx: Tx): Promise<string | null> {
  const { rows } = await sql<{ role: string; is_free: boolean }>`
    select current_user as role, r.rolbypassrls as is_free,
      set_config('role', case when r.rolbypassrls then r.rolname::text else current_user end, true)
    from pg_roles r
    where r.rolname = 'billwright_bulk'
  `.execute(tx);
  const [as] = rows;
  if (!as) throw new Error('the role that copies does not exist');
  return as.is_free ? as.role : null;
}

function copyInto(tx: Tx, to: CopiedTable, rows: readonly Buffer[]): Promise<number> {
  return tx.copyIn(`copy ${to.table} (${to.columns}) from stdin (format ${to.format})`, rows);
}

async function copyAside(
  tx: Tx,
  tenantId: number,
  to: CopiedTable,
  rows: readonly Buffer[],
): Promise<void> {
  const aside = { ...to, table: `copied_${to.table}` };
  const [table, copied, columns] = [sql.raw(to.table), sql.raw(aside.table), sql.raw(to.columns)];
  await sql`create temporary table if not exists ${copied} (like ${table}) on commit drop`.execute(
    tx,
  );
  await sql`alter table ${copied} alter tenant_id drop not null`.execute(tx);
  await copyInto(tx, aside, rows);
  await sql`
    insert into ${table} (tenant_id, ${columns}) select ${tenantId}, ${columns} from ${copied}
  `.execute(tx);
  await sql`truncate ${copied}`.execute(tx);
}

export function copyRows(
  run: { term: BilledTerm; number: number },
  bills: readonly NewBill[],
  stamp: Stamp,
): BillRows {
  const contents = bills.map(({ billId, made }) => ({
    id: billId,
    texts: [made.document, made.facts],
  }));
  return { bills: billLines(run, bills, stamp), contents: binaryRows(contents) };
}

/** A line for each, in the order of the columns above. */
function billLines(
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
      `${escapedJson(made.booking.charges)}\t${createdText}\t${tail}`;
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
