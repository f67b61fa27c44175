// How bills were delivered, for lists of bills.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type DeliveryRow = {
  bill_id: number;
  channel: string;
  recipient: string | null;
  status: string;
  at: Temporal.Instant;
};

export async function listDeliveries(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select bill_id, channel, recipient, status, coalesce(sent_at, modified_at) as at
    from deliveries
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by bill_id, delivery_id
  `.execute(tx);
  return rows;
}
