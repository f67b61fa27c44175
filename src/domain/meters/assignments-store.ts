import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { FoundMeter, MeterInstallation } from './installation.ts';

/** In the order of ids, so that two calls about the same meters do not wait for each other. */
export async function lockMeters(
  tx: Tx,
  tenantId: number,
  numbers: readonly number[],
): Promise<void> {
  await sql`
    select meter_id from meters
    where tenant_id = ${tenantId} and number = any(${numbers}::bigint[])
    order by meter_id
    for no key update
  `.execute(tx);
}

/** The locked meters, with their last installation and their last reading there. */
export async function findMetersToInstall(
  tx: Tx,
  tenantId: number,
  numbers: readonly number[],
): Promise<FoundMeter[]> {
  const [{ rows }, types] = await Promise.all([
    sql<Omit<FoundMeter, 'registers' | 'meter_type'>>`
      select m.meter_id, m.number, m.meter_type_id, m.mf, m.health,
        p.assignment_id is not null and p.remove_date is null as is_installed,
        p.remove_date as free_from, (
          select json_object_agg(l.position, l.value::text)
          from (
            select distinct on (r.position) r.position, r.value
            from readings r
            where r.tenant_id = ${tenantId} and r.assignment_id = p.assignment_id
              and r.status = 'Accepted'
            order by r.position, r.reading_date desc, r.reading_id desc
          ) l
        ) as last_values
      from meters m
      left join lateral (
        select a.assignment_id, a.remove_date
        from meter_assignments a
        where a.tenant_id = ${tenantId} and a.meter_id = m.meter_id
        order by a.install_date desc, a.assignment_id desc
        limit 1
      ) p on true
      where m.tenant_id = ${tenantId} and m.number = any(${numbers}::bigint[])
    `.execute(tx),
    listTypesOf(tx, tenantId, numbers),
  ]);
  const typeOf = new Map(types.map((type) => [type.meter_type_id, type]));
  return rows.map((row) => {
    const type = typeOf.get(row.meter_type_id);
    if (!type) throw new Error(`meter ${row.number} has no type`);
    return { ...row, meter_type: type.name, registers: type.registers };
  });
}

type TypeRow = {
  meter_type_id: number;
  name: string;
  registers: FoundMeter['registers'];
};

async function listTypesOf(tx: Tx, tenantId: number, numbers: readonly number[]) {
  const { rows } = await sql<TypeRow>`
    select t.meter_type_id, t.name, (
        select json_agg(json_build_object(
            'register', r.register, 'unit', r.unit, 'kind', r.kind, 'timeOfUse', r.time_of_use,
            'digits', r.digits, 'decimals', r.decimals) order by r.position)
        from meter_registers r
        where r.tenant_id = ${tenantId} and r.meter_type_id = t.meter_type_id
      ) as registers
    from meter_types t
    where t.tenant_id = ${tenantId} and t.meter_type_id in (
      select m.meter_type_id from meters m
      where m.tenant_id = ${tenantId} and m.number = any(${numbers}::bigint[])
    )
  `.execute(tx);
  return rows;
}

export type NewAssignment = MeterInstallation & { assignmentId: number; subscriptionId: number };

/** Stores the installations of locked meters, which become Active. */
export async function insertAssignments(
  tx: Tx,
  tenantId: number,
  assignments: readonly NewAssignment[],
  stamp: Stamp,
): Promise<void> {
  const rows = assignments.map((one) => ({
    assignment_id: one.assignmentId,
    meter_id: one.meter.meter_id,
    subscription_id: one.subscriptionId,
    install_date: one.installDate.toString(),
    mf: one.meter.mf,
  }));
  const registers = assignments.flatMap((one) =>
    one.registers.map(({ position, input }) => ({
      assignment_id: one.assignmentId,
      position,
      subscription_id: one.subscriptionId,
      input,
    })),
  );
  await Promise.all([
    insertRows(tx, tenantId, rows, stamp),
    insertRegisters(tx, tenantId, registers),
    markMetersActive(
      tx,
      tenantId,
      assignments.map((one) => one.meter.meter_id),
      stamp,
    ),
  ]).catch((error) => rethrowViolation(error, hangsElsewhere));
}

const hangsElsewhere = {
  meter_assignments_one_place: alreadyAssigned,
  meter_assignments_open_key: alreadyAssigned,
};

function alreadyAssigned(): AppError {
  return new AppError('METER_ALREADY_ASSIGNED', {
    message: 'One of the meters was installed elsewhere in the meantime',
  });
}

async function insertRows(
  tx: Tx,
  tenantId: number,
  rows: readonly object[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into meter_assignments (
      tenant_id, assignment_id, meter_id, subscription_id, install_date, mf,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.assignment_id, r.meter_id, r.subscription_id, r.install_date, r.mf,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${JSON.stringify(rows)}::json) as r (
      assignment_id bigint, meter_id bigint, subscription_id bigint, install_date date, mf integer
    )
  `.execute(tx);
}

async function insertRegisters(tx: Tx, tenantId: number, registers: readonly object[]) {
  await sql`
    insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
    select own.tenant_id, r.assignment_id, r.position, r.subscription_id, r.input
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${JSON.stringify(registers)}::json) as r (
      assignment_id bigint, position smallint, subscription_id bigint, input text
    )
  `.execute(tx);
}

async function markMetersActive(
  tx: Tx,
  tenantId: number,
  meterIds: readonly number[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    update meters
    set status = 'Active', modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and meter_id = any(${meterIds}::bigint[])
      and status <> 'Active'
  `.execute(tx);
}

/** A subscription as far as its meters are concerned. */
export type MeteredSubscription = {
  subscription_id: number;
  subscription_number: string;
  context_id: number;
  status: 'Pending' | 'Active' | 'Disconnected' | 'Closed';
  /** YYYY-MM-DD */
  connection_date: string;
  billed_through: string | null;
};

export async function lockSubscription(
  tx: Tx,
  tenantId: number,
  number: string,
): Promise<MeteredSubscription | undefined> {
  const { rows } = await sql<MeteredSubscription>`
    select subscription_id, subscription_number, context_id, status, connection_date,
      billed_through
    from subscriptions
    where tenant_id = ${tenantId} and subscription_number = ${number}
    for no key update
  `.execute(tx);
  return rows[0];
}

/** Inputs that the meters of a subscription measure, each with the meter's number. */
export async function listMeasuredInputs(
  tx: Tx,
  tenantId: number,
  subscriptionId: number,
): Promise<{ number: number; register: string; input: string }[]> {
  const { rows } = await sql<{ number: number; register: string; input: string }>`
    select m.number, t.register, r.input
    from assignment_registers r
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
      and a.remove_date is null
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_registers t on t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
      and t.position = r.position
    where r.tenant_id = ${tenantId} and r.subscription_id = ${subscriptionId}
      and r.input is not null
  `.execute(tx);
  return rows;
}
