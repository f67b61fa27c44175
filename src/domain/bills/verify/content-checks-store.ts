// Whether bills have what they say, and what they say as it was hashed.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { withContents } from '../contents-store.ts';
import { type Counts, runCheck } from './checks-store.ts';

/** Every bill has its contents, and no contents exist without a bill. */
export function checkContents(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from bill_contents where tenant_id = ${tenantId}`,
    wrong: sql`
      select case when k.bill_id is null then 'bill ' || b.bill_id || ' has no contents'
        else 'contents ' || k.bill_id || ' have no bill' end as what
      from (select bill_id from bills where tenant_id = ${tenantId}) b
      full join (select bill_id from bill_contents where tenant_id = ${tenantId}) k
        on k.bill_id = b.bill_id
      where b.bill_id is null or k.bill_id is null`,
  });
}

/** A posted bill as it was hashed, also one that was cancelled since. */
export type CheckedBill = {
  bill_id: number;
  /** Of a cancelled bill the readings may be corrected and taken by another term. */
  is_cancelled: boolean;
  term_id: number;
  first_run: number;
  unit_id: number;
  subscription_id: number | null;
  account_id: number | null;
  party_id: number;
  plan_id: number | null;
  due_date: string;
  billed_from: string | null;
  billed_to: string | null;
  days: number;
  current_charges: number;
  tax_amount: number;
  rounding_adjustment: number;
  bill_amount: number;
  previous_balance: number;
  payments_received: number;
  adjustments: number;
  arrears: number;
  payable: number;
  credit_balance: number;
  late_surcharge: number;
  previously_billed_to: string | null;
  hash: string;
  document: string;
  frozen: string;
  /** What posting took of the document; it is not hashed. */
  charges: string;
  usage: string | null;
};

export async function listStoredBills(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<CheckedBill[]> {
  const { rows } = await sql<CheckedBill>`
    select b.bill_id, b.status = 'Cancelled' as is_cancelled, b.term_id, b.first_run,
      b.unit_id, b.subscription_id, b.account_id,
      b.party_id, b.plan_id, b.due_date, b.billed_from, b.billed_to, b.days, b.current_charges,
      b.tax_amount, b.rounding_adjustment, b.bill_amount, b.previous_balance, b.payments_received,
      b.adjustments, b.arrears, b.payable, b.credit_balance, b.late_surcharge,
      b.previously_billed_to,
      encode(b.hash, 'hex') as hash, k.document::text as document, k.frozen::text as frozen,
      b.charges::text as charges, b.usage::text as usage
    from bills b
    ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and (b.status in ('Posted', 'Published')
        or (b.status = 'Cancelled' and b.bill_number is not null))
      and b.bill_id > ${options.afterId}
    order by b.bill_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

/** A reading that a term has taken of a register of a bill. */
export type TakenReading = {
  bill_id: number;
  number: number;
  register: string;
  /** DD/MM/YYYY */
  date: string;
  value: string;
};

/**
 * By bill, of bills of one subscription or of several: what its own term has taken or, because a
 * bill may catch up on others, what any term has.
 */
export async function listTakenReadings(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  by: 'its own term' | 'any term',
): Promise<Map<number, TakenReading[]>> {
  if (billIds.length === 0) return new Map();
  const { rows } = await sql<TakenReading>`
    select p.bill_id, m.number, g.register, to_char(e.date, 'DD/MM/YYYY') as date,
      e.value::text as value
    from (${partsOf(tenantId, billIds)}) p
    cross join lateral (${by === 'any term' ? takenByAny(tenantId) : takenByOwn(tenantId)}) t
    cross join lateral (
      select meter_id from meter_assignments
      where tenant_id = ${tenantId} and assignment_id = t.assignment_id
      offset 0
    ) a
    cross join lateral (
      select number, meter_type_id from meters
      where tenant_id = ${tenantId} and meter_id = a.meter_id
      offset 0
    ) m
    join meter_registers g on g.tenant_id = ${tenantId} and g.meter_type_id = m.meter_type_id
      and g.position = t.position
    cross join lateral (values
      (t.reading_date, case when t.is_stand_in and g.kind <> 'Cumulative' then 0 else t.value end)
      ${by === 'any term' ? sql`, (t.previous_date, t.previous_value)` : sql``}
    ) as e (date, value)
    where e.date is not null
  `.execute(tx);
  return Map.groupBy(rows, (row) => row.bill_id);
}

/** Of part `p`. */
function takenByOwn(tenantId: number): Sql {
  return sql`
    select * from term_readings
    where tenant_id = ${tenantId} and term_id = p.term_id and subscription_id = p.subscription_id
    offset 0`;
}

function takenByAny(tenantId: number): Sql {
  return sql`
    select o.* from assignment_registers r
    cross join lateral (
      select * from term_readings
      where tenant_id = ${tenantId} and assignment_id = r.assignment_id and position = r.position
      offset 0
    ) o
    where r.tenant_id = ${tenantId} and r.subscription_id = p.subscription_id`;
}

function partsOf(tenantId: number, billIds: readonly number[]): Sql {
  return sql`
    select bill_id, term_id, subscription_id from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      and subscription_id is not null
    union all
    select b.bill_id, b.term_id, o.subscription_id
    from bills b
    join bill_parts o on o.tenant_id = ${tenantId} and o.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])`;
}

/** What terms have taken of readings is what the readings say, and each of them was accepted. */
export function checkReadings(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from term_readings where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'reading ' || t.reading_id || ' of term ' || t.term_id as what
      from term_readings t
      left join readings r on r.tenant_id = ${tenantId} and r.reading_id = t.reading_id
      where t.tenant_id = ${tenantId}
        and (r.assignment_id, r.position, r.reading_date, r.value, r.reading_type, r.status)
          is distinct from (t.assignment_id, t.position, t.reading_date, t.value, t.reading_type,
            'Accepted')`,
  });
}
