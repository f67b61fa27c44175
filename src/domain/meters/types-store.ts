import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { NewMeterType, RegisterFacts } from './meter.ts';

export type MeterTypeRow = {
  meter_type_id: number;
  name: string;
  utility: string;
  phases: number | null;
  prepaid: boolean;
  registers: RegisterFacts[];
};

export async function listMeterTypes(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<MeterTypeRow[]> {
  const { rows } = await sql<MeterTypeRow>`
    select t.meter_type_id, t.name, t.utility, t.phases, t.prepaid, (
        select jsonb_agg(jsonb_build_object(
            'register', r.register, 'unit', r.unit, 'kind', r.kind, 'timeOfUse', r.time_of_use,
            'digits', r.digits, 'decimals', r.decimals) order by r.position)
        from meter_registers r
        where r.tenant_id = ${tenantId} and r.meter_type_id = t.meter_type_id
      ) as registers
    from meter_types t
    where t.tenant_id = ${tenantId} and t.meter_type_id > ${options.afterId}
    order by t.meter_type_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countMeterTypes(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from meter_types where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Those of the ids that name a type, each with the name. */
export async function findMeterTypeNames(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await sql<{ meter_type_id: number; name: string }>`
    select meter_type_id, name from meter_types
    where tenant_id = ${tenantId} and meter_type_id = any(${ids}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.meter_type_id, row.name]));
}

/** The places of the names that types have already, in any case. */
export async function findTakenTypeNames(
  tx: Tx,
  tenantId: number,
  names: readonly string[],
): Promise<Set<number>> {
  const { rows } = await sql<{ position: number }>`
    select n.position
    from unnest(${names}::text[]) with ordinality as n (name, position)
    join meter_types t on t.tenant_id = ${tenantId} and lower(t.name) = lower(n.name)
  `.execute(tx);
  return new Set(rows.map((row) => row.position - 1));
}

export async function insertMeterTypes(
  tx: Tx,
  tenantId: number,
  firstId: number,
  types: readonly NewMeterType[],
  stamp: Stamp,
): Promise<void> {
  const rows = types.map(({ registers: _, ...type }, index) => ({
    meter_type_id: firstId + index,
    ...type,
  }));
  await sql`
    insert into meter_types (
      tenant_id, meter_type_id, name, utility, phases, prepaid, created_at, created_by
    )
    select own.tenant_id, r.meter_type_id, r.name, r.utility, r.phases, r.prepaid,
      ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (meter_type_id bigint, name text, utility text, phases smallint, prepaid boolean)
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        meter_types_name_key: () =>
          new AppError('DUPLICATE', {
            message: 'Two meter types have the same name',
            field: 'meterTypes',
          }),
      }),
    );
  const registers = types.flatMap((type, index) =>
    type.registers.map(({ timeOfUse, ...register }, at) => ({
      meter_type_id: firstId + index,
      position: at + 1,
      time_of_use: timeOfUse,
      ...register,
    })),
  );
  await insertRegisters(tx, tenantId, registers);
}

async function insertRegisters(
  tx: Tx,
  tenantId: number,
  registers: readonly object[],
): Promise<void> {
  await sql`
    insert into meter_registers (
      tenant_id, meter_type_id, position, register, unit, kind, time_of_use, digits, decimals
    )
    select own.tenant_id, r.meter_type_id, r.position, r.register, r.unit, r.kind, r.time_of_use,
      r.digits, r.decimals
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(registers)}::jsonb) as r (
      meter_type_id bigint, position smallint, register text, unit text, kind text,
      time_of_use text, digits smallint, decimals smallint
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        meter_registers_register_key: () =>
          new AppError('DUPLICATE', {
            message: 'Two registers of a meter type have the same name',
            field: 'meterTypes',
          }),
      }),
    );
}
