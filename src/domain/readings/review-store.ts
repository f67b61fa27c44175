import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { RegisterInPlace } from './judge.ts';
import type { ReadingFlag, ReadingStatus, ReadingType } from './reading.ts';

export type StoredReading = {
  readingId: number;
  /** Counted from 01/01/1970. */
  day: number;
  time: string | null;
  value: string;
  type: ReadingType;
  status: ReadingStatus;
  rollover: boolean;
  consumption: string | null;
  days: number | null;
  flags: ReadingFlag[];
  remark: string | null;
  /** The term that has taken it. */
  term_id: number | null;
  register: RegisterInPlace;
};

/** Locks its assignment, as entering readings does. */
export async function lockReading(
  tx: Tx,
  tenantId: number,
  readingId: number,
): Promise<StoredReading | undefined> {
  const [, { rows }] = await Promise.all([
    sql`
      select assignment_id from meter_assignments
      where tenant_id = ${tenantId} and assignment_id = (
        select assignment_id from readings
        where tenant_id = ${tenantId} and reading_id = ${readingId}
      )
      for no key update
    `.execute(tx),
    sql<StoredReading>`
      select r.reading_id as "readingId", r.reading_date - date '1970-01-01' as day,
        r.reading_time as time, r.value::text as value, r.reading_type as type, r.status,
        r.rollover, r.consumption::text as consumption, r.days, r.flags, r.remark, (
          select max(l.term_id) from term_readings l
          where l.tenant_id = ${tenantId} and l.reading_id = r.reading_id
        ) as term_id,
        json_build_object(
          'assignmentId', r.assignment_id, 'position', r.position, 'meterNumber', m.number,
          'register', t.register, 'kind', t.kind, 'digits', t.digits, 'decimals', t.decimals,
          'mf', a.mf, 'highFactor', null, 'lowFactor', null) as register
      from readings r
      join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
      join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
      join meter_registers t on t.tenant_id = ${tenantId}
        and t.meter_type_id = m.meter_type_id and t.position = r.position
      where r.tenant_id = ${tenantId} and r.reading_id = ${readingId}
    `.execute(tx),
  ]);
  return rows[0];
}

export async function updateReading(
  tx: Tx,
  tenantId: number,
  reading: StoredReading,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update readings
    set value = ${reading.value}::numeric, status = ${reading.status},
      rollover = ${reading.rollover}, consumption = ${reading.consumption}::numeric,
      days = ${reading.days}::integer, remark = ${reading.remark},
      modified_at = ${stamp.at}, modified_by = ${stamp.by}
    where tenant_id = ${tenantId} and reading_id = ${reading.readingId}
  `.execute(tx);
}
