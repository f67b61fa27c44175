// The first few meters whose number begins with what was typed into a search.

import { digitsBeginWith, isDigits } from '../../base/db/beginnings.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type FoundMeter = {
  meter_id: number;
  number: number;
  brand: string;
  status: string;
  subscription_number: string | null;
};

export async function findMeters(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundMeter[]> {
  if (!isDigits(typed)) return [];
  const { rows } = await sql<FoundMeter>`
    select m.meter_id, m.number, m.brand, m.status, (
        select s.subscription_number from meter_assignments a
        join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = a.subscription_id
        where a.tenant_id = ${tenantId} and a.meter_id = m.meter_id and a.remove_date is null
      ) as subscription_number
    from meters m
    where m.tenant_id = ${tenantId} and ${digitsBeginWith('m.number', typed)}
    order by m.number
    limit ${limit}
  `.execute(tx);
  return rows;
}
