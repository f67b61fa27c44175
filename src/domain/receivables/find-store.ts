// The first few payments whose reference or receipt number begins with what was typed into a
// search.

import { beginsWith } from '../../base/db/beginnings.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type FoundPayment = {
  payment_id: number;
  reference: string;
  receipt_number: string | null;
  /** Minor units as text. */
  amount: string;
  value_date: string;
  party_number: number;
  party_name: string;
};

export async function findPayments(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundPayment[]> {
  const begins = (column: string) =>
    sql`(${beginsWith(column, typed)} or ${beginsWith(column, typed.toUpperCase())})`;
  const { rows } = await sql<FoundPayment>`
    select y.payment_id, y.reference, r.receipt_number, y.amount::text as amount, y.value_date,
      p.party_number, p.name as party_name
    from (
      (
        select payment_id from payments
        where tenant_id = ${tenantId} and ${begins('reference')}
        order by reference
        limit ${limit}
      )
      union
      (
        select payment_id from receipts
        where tenant_id = ${tenantId} and ${begins('receipt_number')}
        order by receipt_number
        limit ${limit}
      )
    ) f
    join payments y on y.tenant_id = ${tenantId} and y.payment_id = f.payment_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = y.party_id
    left join receipts r on r.tenant_id = ${tenantId} and r.payment_id = y.payment_id
    order by y.reference
    limit ${limit}
  `.execute(tx);
  return rows;
}
