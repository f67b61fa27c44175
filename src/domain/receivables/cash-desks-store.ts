import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';

export type CashDesk = {
  cash_desk_id: number;
  code: string;
  name: string;
  cash_account_id: number;
};

/** All of a workspace, which has some dozens. */
export async function listCashDesks(tx: Tx, tenantId: number): Promise<CashDesk[]> {
  const { rows } = await sql<CashDesk>`
    select cash_desk_id, code, name, cash_account_id from cash_desks
    where tenant_id = ${tenantId}
    order by code
  `.execute(tx);
  return rows;
}

export async function insertCashDesks(
  tx: Tx,
  tenantId: number,
  desks: readonly { code: string; name: string; cashAccountId: number }[],
  stamp: Stamp,
): Promise<number[]> {
  const first = await takeNumbers(tx, tenantId, 'cash-desk', desks.length);
  const rows = desks.map((desk, index) => ({ ...desk, id: first + index }));
  await sql`
    insert into cash_desks (tenant_id, cash_desk_id, code, name, cash_account_id, created_at,
      created_by)
    select own.tenant_id, r.id, r.code, r.name, r."cashAccountId", ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      id bigint, code text, name text, "cashAccountId" bigint
    )
  `.execute(tx);
  return rows.map((row) => row.id);
}

/**
 * The desks among these whose day is closed. Until the transaction ends no day of theirs is closed;
 * alone, no payment is taken there either.
 */
export async function lockDesks(
  tx: Tx,
  tenantId: number,
  deskIds: readonly number[],
  { day, alone }: { day: Temporal.PlainDate; alone: boolean },
): Promise<Set<number>> {
  const strength = alone ? sql`for no key update` : sql`for share`;
  const [, { rows }] = await Promise.all([
    sql`
      select cash_desk_id from cash_desks
      where tenant_id = ${tenantId} and cash_desk_id = any(${deskIds}::bigint[])
      order by cash_desk_id
      ${strength}
    `.execute(tx),
    sql<{ cash_desk_id: number }>`
      select cash_desk_id from cash_desk_days
      where tenant_id = ${tenantId} and cash_desk_id = any(${deskIds}::bigint[])
        and desk_date = ${day.toString()}::date
    `.execute(tx),
  ]);
  return new Set(rows.map((row) => row.cash_desk_id));
}

export type NewReceipt = {
  paymentId: number;
  deskId: number;
  receiptNumber: string;
  seriesId: number;
  seriesNumber: number;
};

export async function insertReceipts(
  tx: Tx,
  tenantId: number,
  day: Temporal.PlainDate,
  receipts: readonly NewReceipt[],
): Promise<void> {
  await sql`
    insert into receipts (tenant_id, payment_id, cash_desk_id, desk_date, receipt_number,
      series_id, series_number)
    select own.tenant_id, r."paymentId", r."deskId", ${day.toString()}::date, r."receiptNumber",
      r."seriesId", r."seriesNumber"
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(receipts)}::jsonb) as r (
      "paymentId" bigint, "deskId" bigint, "receiptNumber" text, "seriesId" integer,
      "seriesNumber" bigint
    )
  `.execute(tx);
}

export type DeskTotal = {
  cash_desk_id: number;
  payment_method: string;
  amount: number;
  payments: number;
};

/** What desks took on a day, without what was reversed on the same day. */
export async function listDeskTotals(
  tx: Tx,
  tenantId: number,
  deskIds: readonly number[],
  day: Temporal.PlainDate,
): Promise<DeskTotal[]> {
  const { rows } = await sql<DeskTotal>`
    select r.cash_desk_id, p.payment_method, sum(p.amount)::bigint as amount, count(*) as payments
    from receipts r ${withPayments(tenantId)}
    where r.tenant_id = ${tenantId} and ${takenAt(deskIds, day)}
    group by r.cash_desk_id, p.payment_method
    order by r.cash_desk_id, p.payment_method
  `.execute(tx);
  return rows;
}

export type CashierTotal = DeskTotal & { created_by: string };

/** The same for each login that took payments. */
export async function listCashierTotals(
  tx: Tx,
  tenantId: number,
  deskIds: readonly number[],
  day: Temporal.PlainDate,
): Promise<CashierTotal[]> {
  const { rows } = await sql<CashierTotal>`
    select r.cash_desk_id, p.created_by, p.payment_method, sum(p.amount)::bigint as amount,
      count(*) as payments
    from receipts r ${withPayments(tenantId)}
    where r.tenant_id = ${tenantId} and ${takenAt(deskIds, day)}
    group by r.cash_desk_id, p.created_by, p.payment_method
    order by r.cash_desk_id, p.created_by, p.payment_method
  `.execute(tx);
  return rows;
}

/** Payments `p` of receipts `r`, with their reversals of the same day. */
function withPayments(tenantId: number): Sql {
  return sql`
    join payments p on p.tenant_id = ${tenantId} and p.payment_id = r.payment_id
    left join payment_reversals v on v.tenant_id = ${tenantId} and v.payment_id = r.payment_id
      and v.reversal_date = r.desk_date`;
}

function takenAt(deskIds: readonly number[], day: Temporal.PlainDate): Sql {
  return sql`r.cash_desk_id = any(${deskIds}::bigint[]) and r.desk_date = ${day.toString()}::date
    and v.payment_id is null`;
}

export type ClosedDay = {
  deskId: number;
  day: Temporal.PlainDate;
  counted: readonly { paymentMethod: string; expected: number; counted: number }[];
  difference: number;
  journalId: number | null;
  reason: string | null;
};

export async function insertClosedDay(
  tx: Tx,
  tenantId: number,
  closed: ClosedDay,
  stamp: Stamp,
): Promise<void> {
  const { deskId, day, counted, difference, journalId, reason } = closed;
  await sql`
    insert into cash_desk_days (tenant_id, cash_desk_id, desk_date, counted, difference,
      journal_id, reason, closed_at, closed_by)
    values (${tenantId}, ${deskId}, ${day.toString()}::date, ${JSON.stringify(counted)}::jsonb,
      ${difference}, ${journalId}, ${reason}, ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export type ClosedDayRow = {
  cash_desk_id: number;
  desk_date: string;
  difference: string;
  reason: string | null;
  closed_by: string;
};

/** The last day of each desk that was closed. */
export async function listLastClosedDays(tx: Tx, tenantId: number): Promise<ClosedDayRow[]> {
  const { rows } = await sql<ClosedDayRow>`
    select l.cash_desk_id, l.desk_date, l.difference::text as difference, l.reason, l.closed_by
    from cash_desks d
    cross join lateral (
      select c.cash_desk_id, c.desk_date, c.difference, c.reason, c.closed_by
      from cash_desk_days c
      where c.tenant_id = ${tenantId} and c.cash_desk_id = d.cash_desk_id
      order by c.desk_date desc
      limit 1
    ) l
    where d.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}
