// New bills as COPY takes them, and how they are copied in.

import {
  arrayColumn,
  arraySource,
  binaryArrays,
  type ColumnType,
} from '../../../base/db/binary-arrays.ts';
import { BinaryRows, binaryCopy } from '../../../base/db/binary-rows.ts';
import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import type { Term } from '../../terms/store.ts';
import type { MadeBill } from './made-bill.ts';

/** A bill with what it has besides its rating. */
export type NewBill = {
  billId: number;
  made: MadeBill;
  isHeld: boolean;
  holdReason: string | null;
  /** How often it was posted, and taken back, before. */
  posting: number;
  /** Of the version before, where there was one. */
  created: Stamp | null;
};

type CopiedTable = { table: string; columns: readonly (readonly [string, ColumnType])[] };

const billsTable: CopiedTable = {
  table: 'bills',
  columns: columnsOf(`bill_id bigint, term_id bigint, first_run integer, context_id bigint,
    batch_id bigint, unit_id bigint, subscription_id bigint, account_id bigint, party_id bigint,
    plan_id bigint, bill_type text, status text, is_held boolean, hold_reason text,
    posting smallint, due_date date, billed_from date, billed_to date, days integer,
    current_charges bigint, tax_amount bigint, rounding_adjustment bigint, bill_amount bigint,
    previous_balance bigint, payments_received bigint, adjustments bigint, arrears bigint,
    payable bigint, credit_balance bigint, late_surcharge bigint, previously_billed_to date,
    received bigint, unit_ts bigint, hash bytea, usage json, charges json, created_at timestamptz,
    created_by text, modified_at timestamptz, modified_by text, ts bigint`),
};

const contentsTable: CopiedTable = {
  table: 'bill_contents',
  columns: columnsOf('bill_id bigint, document json, frozen json'),
};

function columnsOf(text: string): CopiedTable['columns'] {
  return text.split(/,\s+/).map((one) => one.split(' ') as [string, ColumnType]);
}

/**
 * COPY is refused to a role that row-level security binds. The role it is done as is bound by
 * having no right to name a tenant: the column's default is that of the transaction. Where the
 * database has no such role, the columns go as arrays, which costs half as much again.
 */
export async function copyBills(tx: Tx, tenantId: number, rows: BillRows): Promise<void> {
  const bills = rows.bills.written();
  const contents = rows.contents.written();
  const role = await takeCopyingRole(tx);
  if (role === null) {
    await insertArrays(tx, tenantId, billsTable, bills);
    await insertArrays(tx, tenantId, contentsTable, contents);
    return;
  }
  await copyInto(tx, billsTable, bills);
  await copyInto(tx, contentsTable, contents);
  await sql`select set_config('role', ${role}, true)`.execute(tx);
}

/** The role reserved for copying; null if no role may copy. */
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

function copyInto(tx: Tx, to: CopiedTable, rows: Buffer): Promise<number> {
  const names = to.columns.map(([name]) => name).join();
  const statement = `copy ${to.table} (${names}) from stdin (format binary)`;
  return tx.copyIn(statement, binaryCopy(rows));
}

async function insertArrays(
  tx: Tx,
  tenantId: number,
  to: CopiedTable,
  rows: Buffer,
): Promise<void> {
  const names = sql.raw(to.columns.map(([name]) => name).join());
  const types = to.columns.map(([, type]) => type);
  const sources = binaryArrays(rows, types).map((bytes, index) =>
    arraySource(types[index] as ColumnType, bytes),
  );
  const values = to.columns.map(([name, type]) => arrayColumn(type, name));
  await sql`
    insert into ${sql.raw(to.table)} (tenant_id, ${names})
    select own.tenant_id, ${sql.join(values)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join rows from (${sql.join(sources)}) as n (${names})
  `.execute(tx);
}

/** The bills of a part as COPY takes them, written one by one while they are made. */
export class BillRows {
  readonly bills = new BinaryRows();
  readonly contents = new BinaryRows();
  isEmpty = true;

  add(run: { term: Term; number: number }, bill: NewBill, stamp: Stamp): void {
    this.isEmpty = false;
    writeBill(this.bills, run, bill, stamp);
    this.contents.startRow(contentsTable.columns.length);
    this.contents.bigint(bill.billId);
    this.contents.text(bill.made.document);
    this.contents.text(bill.made.frozenText);
  }
}

/** Memory that was written on before is at hand at once; new memory is cleared first. */
const spare: BillRows[] = [];
const spareBytesMax = 64 * 1024 * 1024;

export function openRows(): BillRows {
  return spare.pop() ?? new BillRows();
}

/** For the rows of the next part, once these are copied. */
export function reuseRows(rows: BillRows): void {
  rows.bills.clear();
  rows.contents.clear();
  rows.isEmpty = true;
  if (rows.bills.capacity + rows.contents.capacity <= spareBytesMax) spare.push(rows);
}

/** In the order of the columns above. */
function writeBill(
  rows: BinaryRows,
  { term, number }: { term: Term; number: number },
  { billId, made, isHeld, holdReason, posting, created }: NewBill,
  stamp: Stamp,
): void {
  rows.startRow(billsTable.columns.length);
  rows.bigint(billId);
  rows.bigint(term.term_id);
  rows.integer(number);
  rows.bigint(term.context_id);
  rows.bigint(term.batch_id);
  rows.bigint(made.unitId);
  rows.bigint(made.subscriptionId);
  rows.bigint(made.accountId);
  rows.bigint(made.partyId);
  rows.bigint(made.planId);
  rows.text(term.term_type);
  rows.text(made.status === 'Draft' && isHeld ? 'Hold' : made.status);
  rows.boolean(isHeld);
  rows.text(holdReason);
  rows.smallint(posting);
  rows.date(made.dueDate);
  rows.date(made.billedFrom);
  rows.date(made.billedTo);
  rows.integer(made.days);
  rows.bigint(made.currentCharges);
  rows.bigint(made.taxAmount);
  rows.bigint(made.roundingAdjustment);
  rows.bigint(made.billAmount);
  rows.bigint(made.previousBalance);
  rows.bigint(made.paymentsReceived);
  rows.bigint(made.adjustments);
  rows.bigint(made.arrears);
  rows.bigint(made.payable);
  rows.bigint(made.creditBalance);
  rows.bigint(made.lateSurcharge);
  rows.date(made.previouslyBilledTo);
  rows.bigint(made.received);
  rows.bigint(made.unitTs);
  rows.bytea(made.hash);
  rows.text(made.booking.usage);
  rows.text(made.booking.charges);
  rows.timestamptz(created?.at ?? stamp.at);
  rows.text(created?.by ?? stamp.by);
  rows.timestamptz(stamp.at);
  rows.text(stamp.by);
  rows.bigint(stamp.at.epochMilliseconds);
}
