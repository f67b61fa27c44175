import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/**
 * By party, what was written off of its debts and is not recovered yet. What was written off of a
 * bill that was cancelled later is no debt. The wallets of the parties must be locked.
 */
export async function findRecoverable(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ party_id: number; amount: number }>`
    select party_id, sum(amount)::bigint as amount
    from (
      select b.tenant_id, b.party_id, b.written_off as amount from bills b
      where b.tenant_id = ${tenantId} and b.party_id = any(${partyIds}::bigint[])
        and b.written_off > 0 and b.status in ('Posted', 'Published')
      union all
      select i.tenant_id, i.party_id, i.written_off from open_items i
      where i.tenant_id = ${tenantId} and i.party_id = any(${partyIds}::bigint[])
        and i.written_off > 0
      union all
      select p.tenant_id, p.party_id, -p.recovered_amount from payments p
      where p.tenant_id = ${tenantId} and p.party_id = any(${partyIds}::bigint[])
        and p.recovered_amount > 0 and not exists (
          select from payment_reversals r
          where r.tenant_id = ${tenantId} and r.payment_id = p.payment_id
        )
    ) o
    where o.tenant_id = ${tenantId}
    group by party_id
    having sum(amount) > 0
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_id, row.amount]));
}
