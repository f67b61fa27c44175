import { sql } from 'kysely';
import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../parties/store.ts';
import type { Remeasured } from './judge.ts';
import type { NewReading } from './reading.ts';

export async function insertReadings(
  tx: Tx,
  tenantId: number,
  readings: readonly NewReading[],
  stamp: Stamp,
): Promise<void> {
  if (readings.length === 0) return;
  const rows = readings.map((one) => ({
    reading_id: one.readingId,
    assignment_id: one.assignmentId,
    position: one.position,
    day: one.day,
    reading_time: one.time,
    value: one.value,
    reading_type: one.type,
    status: one.status,
    rollover: one.rollover,
    consumption: one.consumption,
    days: one.days,
    flags: `{${one.flags.join(',')}}`,
    source: one.source,
    remark: one.remark,
    image_url: one.imageUrl,
    external_reference: one.externalReference,
  }));
  await sql`
    insert into readings (
      tenant_id, reading_id, assignment_id, position, reading_date, reading_time, value,
      reading_type, status, rollover, consumption, days, flags, source, remark, image_url,
      external_reference, created_at, created_by, modified_at, modified_by
    )
    select ${tenantId}, r.reading_id, r.assignment_id, r.position, date '1970-01-01' + r.day,
      r.reading_time, r.value, r.reading_type, r.status, r.rollover, r.consumption, r.days, r.flags::text[],
      r.source, r.remark, r.image_url, r.external_reference,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (
      reading_id bigint, assignment_id bigint, position smallint, day integer,
      reading_time time, value numeric, reading_type text, status text, rollover boolean,
      consumption numeric, days integer, flags text, source text, remark text, image_url text,
      external_reference text
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        readings_register_key: () => new AppError('DUPLICATE_ROW', { message: twice }),
        readings_external_key: () => new AppError('DUPLICATE_ROW', { message: twice }),
      }),
    );
}

const twice = 'The register has a reading of this kind on this day already';

/** New intervals of readings before which others were entered, rejected or corrected. */
export async function updateMeasures(
  tx: Tx,
  tenantId: number,
  readings: readonly Remeasured[],
  stamp: Stamp,
): Promise<void> {
  const rows = readings.map((one) => ({ ...one, reading_id: one.readingId }));
  await sql`
    update readings r
    set rollover = m.rollover, consumption = m.consumption, days = m.days,
      modified_at = ${stamp.at}, modified_by = ${stamp.by}
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as m (reading_id bigint, rollover boolean, consumption numeric, days integer)
    where r.tenant_id = ${tenantId} and r.reading_id = m.reading_id
  `.execute(tx);
}
