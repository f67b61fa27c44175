import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** The meter types that every workspace begins with; those it makes itself have later ids. */
export async function insertFirstMeterTypes(
  tx: Tx,
  tenantId: number,
  stamp: { at: Temporal.Instant; by: string },
): Promise<void> {
  await sql`
    insert into meter_types (
      tenant_id, meter_type_id, name, utility, phases, prepaid, created_at, created_by
    )
    select own.tenant_id, t.id, t.name, t.utility, t.phases, false, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join (
      values
        (1, 'Electric single phase', 'Electricity', 1),
        (2, 'Electric three phase TOU', 'Electricity', 3),
        (3, 'Water', 'Water', null),
        (4, 'Gas', 'Gas', null),
        (5, 'Heat / BTU', 'Heat', null)
    ) as t (id, name, utility, phases)
  `.execute(tx);
  await sql`
    insert into meter_registers (
      tenant_id, meter_type_id, position, register, unit, kind, time_of_use, digits, decimals
    )
    values
      (${tenantId}, 1, 1, 'kWh', 'kWh', 'Cumulative', null, 6, 0),
      (${tenantId}, 2, 1, 'kWhPeak', 'kWh', 'Cumulative', 'Peak', 6, 0),
      (${tenantId}, 2, 2, 'kWhOffPeak', 'kWh', 'Cumulative', 'OffPeak', 6, 0),
      (${tenantId}, 2, 3, 'kW', 'kW', 'Demand', null, 5, 2),
      (${tenantId}, 3, 1, 'm3', 'm3', 'Cumulative', null, 5, 1),
      (${tenantId}, 4, 1, 'm3', 'm3', 'Cumulative', null, 5, 0),
      (${tenantId}, 5, 1, 'kWhT', 'kWh', 'Cumulative', null, 6, 0)
  `.execute(tx);
}
