import { plainArray, textArray } from '../../base/db/array-text.ts';
import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import type { Remeasured } from './judge.ts';
import type { NewReading } from './reading.ts';

/** Under the ids that begin with the first, in their order. */
export async function insertReadings(
  tx: Tx,
  tenantId: number,
  readings: readonly NewReading[],
  firstId: number,
  stamp: Stamp,
): Promise<void> {
  if (readings.length === 0) return;
  const all = <T>(pick: (reading: NewReading) => T) => readings.map(pick);
  await sql`
    insert into readings (
      tenant_id, reading_id, assignment_id, position, reading_date, reading_time, value,
      reading_type, status, rollover, consumption, days, flags, source, remark, image_url,
      external_reference, created_at, created_by, modified_at, modified_by
    )
    select own.tenant_id, r.reading_id, r.assignment_id, r.position, date '1970-01-01' + r.day,
      r.reading_time, r.value, r.reading_type, r.status, r.rollover, r.consumption, r.days,
      string_to_array(coalesce(r.flags, ''), ' '), r.source, r.remark, r.image_url,
      r.external_reference, ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${plainArray(readings.map((_, index) => firstId + index))}::bigint[],
      ${plainArray(all((one) => one.assignmentId))}::bigint[],
      ${plainArray(all((one) => one.position))}::smallint[],
      ${plainArray(all((one) => one.day))}::integer[],
      ${textArray(all((one) => one.time))}::time[],
      ${plainArray(all((one) => one.value))}::numeric[],
      ${plainArray(all((one) => one.type))}::text[],
      ${plainArray(all((one) => one.status))}::text[],
      ${plainArray(all((one) => one.rollover))}::boolean[],
      ${plainArray(all((one) => one.consumption))}::numeric[],
      ${plainArray(all((one) => one.days))}::integer[],
      ${textArray(all((one) => one.flags.join(' ') || null))}::text[],
      ${textArray(all((one) => one.source))}::text[],
      ${textArray(all((one) => one.remark))}::text[],
      ${textArray(all((one) => one.imageUrl))}::text[],
      ${textArray(all((one) => one.externalReference))}::text[]
    ) as r (
      reading_id, assignment_id, position, day, reading_time, value, reading_type, status,
      rollover, consumption, days, flags, source, remark, image_url, external_reference
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        readings_register_key: () => new AppError('DUPLICATE_ROW', { message: twice }),
        readings_external_key: () => new AppError('DUPLICATE_ROW', { message: twice }),
      }),
    );
  await noteRecorded(tx, tenantId, readings, firstId, stamp);
}

/** One event for each state, whoever recorded them: a reader, a file, an estimate. */
async function noteRecorded(
  tx: Tx,
  tenantId: number,
  readings: readonly NewReading[],
  firstId: number,
  stamp: Stamp,
): Promise<void> {
  const idsOf = (isWanted: (reading: NewReading) => boolean) =>
    readings.flatMap((reading, index) => (isWanted(reading) ? [firstId + index] : []));
  const waiting = idsOf((reading) => reading.status === 'Review');
  const events = [
    ...eventsOf(
      'reading.recorded',
      'readingID',
      idsOf(() => true),
    ),
    ...eventsOf('reading.review_needed', 'readingID', waiting),
  ];
  await insertEvents(tx, tenantId, events, stamp.at);
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
