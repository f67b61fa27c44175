// Whether bills have what they say, and what they say as it was hashed.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import { withContents } from './contents-store.ts';
import { judge, type Verdict } from './laws-store.ts';

/** Every bill has its contents, and there are none without a bill. */
export function judgeContents(tx: Tx, tenantId: number): Promise<Verdict> {
  return judge(tx, tenantId, {
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
export type StoredBill = {
  bill_id: number;
  term_id: number;
  first_run: number;
  subject_id: number;
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
  billed_through: string | null;
  hash: string;
  document: string;
  facts: string;
  /** What posting took of the document; it is not hashed. */
  charges: string;
  usage: string | null;
};

export async function listStoredBills(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<StoredBill[]> {
  const { rows } = await sql<StoredBill>`
    select b.bill_id, b.term_id, b.first_run, b.subject_id, b.subscription_id, b.account_id,
      b.party_id, b.plan_id, b.due_date, b.billed_from, b.billed_to, b.days, b.current_charges,
      b.tax_amount, b.rounding_adjustment, b.bill_amount, b.previous_balance, b.payments_received,
      b.adjustments, b.arrears, b.payable, b.credit_balance, b.late_surcharge, b.billed_through,
      encode(b.hash, 'hex') as hash, k.document::text as document, k.facts::text as facts,
      b.charges::text as charges, b.usage::text as usage
    from bills b
    ${withContents}
    where b.tenant_id = ${tenantId} and (b.status in ('Posted', 'Published')
        or (b.status = 'Cancelled' and b.bill_number is not null))
      and b.bill_id > ${options.afterId}
    order by b.bill_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}
