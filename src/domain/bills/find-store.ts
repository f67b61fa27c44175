// The first few bills that match what was typed into a search: by the beginning of the number, or
// by the whole payment reference.

import { beginsWith } from '../../base/db/beginnings.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { billIdOf } from './reference.ts';

export type FoundBill = {
  bill_id: number;
  bill_number: string | null;
  status: string;
  /** Minor units as text. */
  bill_amount: string;
  party_number: number;
  party_name: string;
  term_label: string;
};

export async function findBills(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundBill[]> {
  const byReference = billIdOf(typed);
  const referenced =
    byReference === undefined
      ? []
      : await listFound(
          tx,
          tenantId,
          sql`select bill_id from bills
          where tenant_id = ${tenantId} and bill_id = ${byReference}`,
        );
  const numbered = await listFound(
    tx,
    tenantId,
    sql`select n.bill_id from bill_numbers n
      where n.tenant_id = ${tenantId} and n.retired_at is null
        and (${beginsWith('n.bill_number', typed)}
          or ${beginsWith('n.bill_number', typed.toUpperCase())})
      order by n.bill_number
      limit ${limit}`,
  );
  return [...referenced, ...numbered].slice(0, limit);
}

async function listFound(tx: Tx, tenantId: number, ids: Sql): Promise<FoundBill[]> {
  const { rows } = await sql<FoundBill>`
    select b.bill_id, b.bill_number, b.status, b.bill_amount::text as bill_amount,
      p.party_number, p.name as party_name, t.label as term_label
    from (${ids}) f
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = f.bill_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = b.party_id
    join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
    order by b.bill_number
  `.execute(tx);
  return rows;
}
