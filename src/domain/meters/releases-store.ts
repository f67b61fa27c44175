import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { RegisterInPlace } from '../readings/judge.ts';
import { isReplaceable } from '../readings/past-store.ts';
import type { MeterHealth } from './meter.ts';

/** An installed meter. Days are counted from 01/01/1970. */
export type InstalledMeter = {
  meter_id: number;
  number: number;
  assignment_id: number;
  subscription_id: number;
  context_id: number;
  install_day: number;
  /** The day of its last reading there that was not rejected. */
  last_read_day: number | null;
  /** Whether the subscription takes nothing at present. */
  is_disconnected: boolean;
  registers: (RegisterInPlace & { input: string | null })[];
};

/**
 * The named meters that are installed at the subscriptions, or all of them. They and their
 * installations are locked in the order of ids, without others, so that no deadlock can arise.
 */
export async function lockInstalledMeters(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
  numbers: readonly number[] | null,
): Promise<InstalledMeter[]> {
  const wanted = sql`a.subscription_id = any(${subscriptionIds}::bigint[]) and a.remove_date is null
    and (${numbers}::bigint[] is null or a.meter_id = any(array(
      select n.meter_id from meters n
      where n.tenant_id = ${tenantId} and n.number = any(${numbers}::bigint[])
    )))`;
  const [, , { rows }] = await Promise.all([
    sql`
      select m.meter_id
      from meters m
      where m.tenant_id = ${tenantId} and m.meter_id in (
        select a.meter_id from meter_assignments a
        where a.tenant_id = ${tenantId} and ${wanted}
      )
      order by m.meter_id
      for no key update
    `.execute(tx),
    sql`
      select a.assignment_id from meter_assignments a
      where a.tenant_id = ${tenantId} and ${wanted}
      order by a.assignment_id
      for no key update
    `.execute(tx),
    sql<InstalledMeter>`
      select m.meter_id, m.number, a.assignment_id, a.subscription_id, s.context_id,
        a.install_date - date '1970-01-01' as install_day, (
          select max(r.reading_date) - date '1970-01-01' from readings r
          where r.tenant_id = ${tenantId} and r.assignment_id = a.assignment_id
            and r.status <> 'Rejected' and not ${isReplaceable(tenantId)}
        ) as last_read_day,
        s.status = 'Disconnected' as is_disconnected, (
          select json_agg(json_build_object(
              'assignmentId', a.assignment_id, 'position', r.position, 'meterNumber', m.number,
              'register', t.register, 'kind', t.kind, 'digits', t.digits, 'decimals', t.decimals,
              'mf', a.mf, 'highFactor', null, 'lowFactor', null, 'input', r.input)
            order by r.position)
          from assignment_registers r
          join meter_registers t on t.tenant_id = ${tenantId}
            and t.meter_type_id = m.meter_type_id and t.position = r.position
          where r.tenant_id = ${tenantId} and r.assignment_id = a.assignment_id
        ) as registers
      from meter_assignments a
      join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
      join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = a.subscription_id
      where a.tenant_id = ${tenantId} and ${wanted}
      order by a.assignment_id
    `.execute(tx),
  ]);
  return rows;
}

export async function closeAssignments(
  tx: Tx,
  tenantId: number,
  released: readonly (InstalledMeter & {
    removeDate: Temporal.PlainDate;
    reason: string | null;
    health: MeterHealth | null;
  })[],
  stamp: Stamp,
): Promise<void> {
  const rows = released.map((one) => ({
    meter_id: one.meter_id,
    assignment_id: one.assignment_id,
    remove_date: one.removeDate.toString(),
    reason: one.reason,
    health: one.health,
  }));
  const json = JSON.stringify(rows);
  await Promise.all([
    sql`
      update meter_assignments a
      set remove_date = r.remove_date, removal_reason = r.reason, modified_at = ${stamp.at},
        modified_by = ${stamp.by}, ts = greatest(a.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
      from json_to_recordset(${json}::json)
        as r (assignment_id bigint, remove_date date, reason text)
      where a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
    `.execute(tx),
    sql`
      update meters m
      set status = 'InActive', health = coalesce(r.health, m.health), modified_at = ${stamp.at},
        modified_by = ${stamp.by}, ts = greatest(m.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
      from json_to_recordset(${json}::json) as r (meter_id bigint, health text)
      where m.tenant_id = ${tenantId} and m.meter_id = r.meter_id
    `.execute(tx),
  ]);
  const subscriptionIds = [...new Set(released.map((one) => one.subscription_id))];
  await updateMetered(tx, tenantId, subscriptionIds, stamp);
}

/** Says of subscriptions whose meters changed whether any measures what they are billed for. */
export async function updateMetered(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    update subscriptions s
    set is_metered = exists (
        select from meter_assignments a
        join assignment_registers r on r.tenant_id = ${tenantId}
          and r.assignment_id = a.assignment_id and r.input is not null
        where a.tenant_id = ${tenantId} and a.subscription_id = s.subscription_id
          and a.remove_date is null
      ),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where s.tenant_id = ${tenantId} and s.subscription_id = any(${subscriptionIds}::bigint[])
  `.execute(tx);
}
