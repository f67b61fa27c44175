import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { Term } from '../terms/store.ts';
import type { BillStatus } from './list-store.ts';

export type BillKey = {
  bill_id: number;
  term_id: number;
  unit_id: number;
  status: BillStatus;
  is_held: boolean;
  hold_reason: string | null;
  ts: number;
};

export async function findBillKey(
  tx: Tx,
  tenantId: number,
  billId: number,
  options: { lock?: boolean } = {},
): Promise<BillKey | undefined> {
  const { rows } = await sql<BillKey>`
    select bill_id, term_id, unit_id, status, is_held, hold_reason, ts
    from bills
    where tenant_id = ${tenantId} and bill_id = ${billId}
    ${options.lock ? sql`for no key update` : sql``}
  `.execute(tx);
  return rows[0];
}

export function billNotFound(billId: number, field: string): AppError {
  return new AppError('BILL_NOT_FOUND', { message: `No bill has the id ${billId}`, field });
}

/** The single bill of a term for which a step was requested. */
export async function getBillOfTerm(
  tx: Tx,
  tenantId: number,
  term: Term,
  billId: number,
): Promise<BillKey> {
  const bill = await findBillKey(tx, tenantId, billId);
  if (!bill) throw billNotFound(billId, 'billId');
  if (bill.term_id === term.term_id) return bill;
  const message = `Bill ${billId} is not of term ${term.label}`;
  throw new AppError('BILL_NOT_IN_TERM', { message, field: 'billId' });
}

/** In the order of their ids, in which they are locked. */
export async function listBillKeys(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  options: { lock?: boolean } = {},
): Promise<BillKey[]> {
  const { rows } = await sql<BillKey>`
    select bill_id, term_id, unit_id, status, is_held, hold_reason, ts
    from bills
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
    order by bill_id
    ${options.lock ? sql`for no key update` : sql``}
  `.execute(tx);
  return rows;
}

/** Holds drafts back, or releases them, whatever rule held them. An error stays one. */
export async function updateHolds(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  hold: { isHeld: boolean; reason: string | null },
  stamp: Stamp,
): Promise<void> {
  const { isHeld, reason } = hold;
  await sql`
    update bills
    set is_held = ${isHeld}, hold_reason = ${isHeld ? reason : null},
      status = case when status = 'Error' then status
        when ${isHeld}::boolean then 'Hold' else 'Draft' end,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and status in ('Draft', 'Hold', 'Error')
  `.execute(tx);
}

/** Bills that are not ready to be posted. */
export async function countOpenBills(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<{ errors: number; holds: number }> {
  const { rows } = await sql<{ errors: number; holds: number }>`
    select count(*) filter (where review_status = 'Error') as errors,
      count(*) filter (where review_status = 'Hold') as holds
    from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and review_status is not null
  `.execute(tx);
  return rows[0] ?? { errors: 0, holds: 0 };
}

/** Whether any bill of the term asks for money. */
export async function hasAmountToPay(
  tx: Tx,
  tenantId: number,
  termId: number,
  status: 'Draft' | 'Posted',
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from bills
      where tenant_id = ${tenantId} and term_id = ${termId} and status = ${status}
        and bill_amount > 0
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/** Of the whole term, or of bills with these ids. */
export async function countPosted(
  tx: Tx,
  tenantId: number,
  termId: number,
  range?: { firstId: number; lastId: number },
): Promise<number> {
  const isInRange = range && sql`and bill_id between ${range.firstId} and ${range.lastId}`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Posted'
      ${isInRange ?? sql``}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Whether readings were locked for the term after an instant. */
export async function hasReadSince(
  tx: Tx,
  tenantId: number,
  termId: number,
  since: Temporal.Instant,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from term_readings
      where tenant_id = ${tenantId} and term_id = ${termId} and locked_at > ${since}
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}
