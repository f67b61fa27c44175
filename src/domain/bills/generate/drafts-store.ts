// Drafts as they are written: in bulk, and only those that changed.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { UnitRange } from '../inputs/billed-units-store.ts';
import type { BillStatus } from '../list-store.ts';
import { type BillRows, copyBills } from './copy-store.ts';
import type { BillSubscription } from './made-bill.ts';

export type KnownBill = {
  unit_id: number;
  bill_id: number;
  first_run: number;
  /** Hexadecimal. */
  hash: string;
  unit_ts: string;
  status: BillStatus;
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
  range: UnitRange,
): Promise<KnownBill[]> {
  const { rows } = await sql<KnownBill>`
    select unit_id, bill_id, first_run, encode(hash, 'hex') as hash,
      unit_ts::text as unit_ts, status, is_held, hold_reason, posting, created_at,
      created_by
    from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
      and unit_id between ${range.firstId} and ${range.lastId}
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
    insert into superseded_bills (tenant_id, term_id, bill_id, first_run, last_run, unit_id,
      subscription_id, status, current_charges, bill_amount, hash, document, frozen)
    select g.tenant_id, g.term_id, g.bill_id, g.first_run, ${run - 1}, g.unit_id,
      g.subscription_id, g.status, g.current_charges, g.bill_amount, g.hash, k.document, k.frozen
    from bills g
    join bill_contents k on k.tenant_id = ${tenantId} and k.bill_id = g.bill_id
    where g.tenant_id = ${tenantId} and g.bill_id = any(${billIds}::bigint[])
      and g.first_run < ${run}
  `.execute(tx);
  await deleteDrafts(tx, tenantId, billIds);
}

/** Bills go before their contents: a bill is never without them. */
async function deleteDrafts(tx: Tx, tenantId: number, billIds: readonly number[]): Promise<void> {
  await sql`
    delete from bills where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
  `.execute(tx);
  await sql`
    delete from bill_contents
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
  `.execute(tx);
}

export type TouchedBill = {
  billId: number;
  unitTs: bigint;
  parts: readonly BillSubscription[];
  /** Whether nothing holds it back any more. */
  isFreed: boolean;
};

/** The subscription was touched, and the bill is the same as before. */
export async function refreshBills(
  tx: Tx,
  tenantId: number,
  touched: readonly TouchedBill[],
): Promise<void> {
  if (touched.length === 0) return;
  await sql`
    update bills b
    set unit_ts = n.unit_ts,
      status = case when n.is_freed then 'Draft' else b.status end,
      hold_reason = case when n.is_freed then null else b.hold_reason end
    from unnest(
      ${touched.map((one) => one.billId)}::bigint[],
      ${touched.map((one) => String(one.unitTs))}::bigint[],
      ${touched.map((one) => one.isFreed)}::boolean[]
    ) as n (bill_id, unit_ts, is_freed)
    where b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
  `.execute(tx);
  const parts = touched.flatMap(({ billId, parts }) => parts.map((part) => ({ billId, part })));
  if (parts.length === 0) return;
  await sql`
    update bill_parts p set unit_ts = n.unit_ts
    from unnest(
      ${parts.map(({ billId }) => billId)}::bigint[],
      ${parts.map(({ part }) => part.subscriptionId)}::bigint[],
      ${parts.map(({ part }) => part.unitTs)}::bigint[]
    ) as n (bill_id, subscription_id, unit_ts)
    where p.tenant_id = ${tenantId} and p.bill_id = n.bill_id
      and p.subscription_id = n.subscription_id
  `.execute(tx);
}

/** A subscription of a bill that has several. */
export type NewPart = { billId: number; part: BillSubscription };

export async function insertBills(
  tx: Tx,
  tenantId: number,
  rows: BillRows,
  parts: readonly NewPart[],
): Promise<void> {
  if (!rows.isEmpty) await copyBills(tx, tenantId, rows);
  if (parts.length > 0) await insertParts(tx, tenantId, parts);
}

async function insertParts(tx: Tx, tenantId: number, parts: readonly NewPart[]): Promise<void> {
  const rows = parts.map(({ billId, part }) => ({
    bill_id: billId,
    subscription_id: part.subscriptionId,
    amount: part.amount,
    arrears: part.arrears,
    days: part.days,
    billed_to: part.billedTo,
    previously_billed_to: part.previouslyBilledTo,
    received: part.received,
    unit_ts: part.unitTs,
  }));
  await sql`
    insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days, billed_to,
      previously_billed_to, received, unit_ts)
    select own.tenant_id, r.bill_id, r.subscription_id, r.amount, r.arrears, r.days, r.billed_to,
      r.previously_billed_to, r.received, r.unit_ts
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${JSON.stringify(rows)}::json) as r (
      bill_id bigint, subscription_id bigint, amount bigint, arrears bigint, days integer,
      billed_to date, previously_billed_to date, received bigint, unit_ts bigint
    )
  `.execute(tx);
}
