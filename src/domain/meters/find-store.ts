// The first few meters whose number begins with what was typed into a search.

import { digitsBeginWith, isDigits } from '../../base/db/beginnings.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type FoundMeter = {
  meter_id: number;
  number: number;
  brand: string;
  status: string;
  /** Where the meter is installed now, with its owner. */
  subscription_number: string | null;
  party_number: number | null;
  party_name: string | null;
};

export async function findMeters(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundMeter[]> {
  if (!isDigits(typed)) return [];
  const { rows } = await sql<FoundMeter>`
    select m.meter_id, m.number, m.brand, m.status, s.subscription_number, p.party_number,
      p.name as party_name
    from (
      select meter_id, number, brand, status from meters
      where tenant_id = ${tenantId} and ${digitsBeginWith('number', typed)}
      order by number
      limit ${limit}
    ) m
    left join meter_assignments a on a.tenant_id = ${tenantId} and a.meter_id = m.meter_id
      and a.remove_date is null
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = a.subscription_id
    left join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    order by m.number
  `.execute(tx);
  return rows;
}
