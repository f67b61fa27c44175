// Meters and readings of the worked scenarios as rows, under the next numbers of their series: for
// `term-rows.ts`, and for tests that read a meter once more.
import type { FrozenMeter, FrozenReading } from '../../src/domain/rating/frozen-inputs.ts';
import type { Scene } from './scene.ts';

export const iso = (wire: string) => `${wire.slice(6)}-${wire.slice(3, 5)}-${wire.slice(0, 2)}`;

export async function next(scene: Scene, tenantId: number, series: string): Promise<number> {
  const { rows } = await scene.sql.query<{ last_number: string }>(
    `insert into counters as c (tenant_id, series, last_number) values ($1, $2, 1)
     on conflict (tenant_id, series) do update set last_number = c.last_number + 1
     returning last_number`,
    [tenantId, series],
  );
  return Number(rows[0]?.last_number);
}

export async function insertMeter(
  scene: Scene,
  tenantId: number,
  termId: number,
  subscriptionId: number,
  meter: FrozenMeter,
): Promise<void> {
  const { sql } = scene;
  const typeId = await next(scene, tenantId, 'meter-type').then((n) => n + 100);
  const meterId = await next(scene, tenantId, 'meter');
  const assignmentId = await next(scene, tenantId, 'assignment');
  const previous = meter.previous as FrozenReading;
  const current = meter.current;
  const isGone = current?.type === 'Removal' || current?.type === 'Final';
  await sql.query(
    `insert into meter_types (tenant_id, meter_type_id, name, utility, created_at, created_by)
     values ($1, $2::bigint, 'Type ' || $2::bigint::text, 'Any', now(), 'test')`,
    [tenantId, typeId],
  );
  await sql.query(
    `insert into meter_registers (tenant_id, meter_type_id, position, register, unit, kind, digits,
       decimals)
     values ($1, $2, 1, $3, 'unit', $4, $5, 3)`,
    [tenantId, typeId, meter.register ?? 'R', meter.kind ?? 'Cumulative', meter.digits ?? 6],
  );
  await sql.query(
    `insert into meters (tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf,
       status, search_text, created_at, created_by, modified_at, modified_by, ts)
     values ($1, $2, $3, 'Brand', $4, '2010-01-01', $5, 'Active', '', now(), 'test', now(), 'test', 1)`,
    [tenantId, meterId, meter.number, typeId, Number(meter.mf ?? 1)],
  );
  await sql.query(
    `insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id,
       install_date, remove_date, mf, created_at, created_by, modified_at, modified_by, ts)
     values ($1, $2, $3, $4, $5, $6, $7, now(), 'test', now(), 'test', 1)`,
    [
      tenantId,
      assignmentId,
      meterId,
      subscriptionId,
      iso(previous.date),
      isGone && current ? iso(current.date) : null,
      Number(meter.mf ?? 1),
    ],
  );
  await sql.query(
    `insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
     values ($1, $2, 1, $3, $4)`,
    [tenantId, assignmentId, subscriptionId, meter.input],
  );
  await insertReadings(scene, tenantId, { termId, subscriptionId, assignmentId }, meter);
}

type MeterOfTerm = { termId: number; subscriptionId: number; assignmentId: number };

/** What the meter was read, and what the term has taken of it. */
async function insertReadings(
  scene: Scene,
  tenantId: number,
  { termId, subscriptionId, assignmentId }: MeterOfTerm,
  meter: FrozenMeter,
): Promise<void> {
  const previous = meter.previous as FrozenReading;
  const { current } = meter;
  await insertReading(scene, tenantId, assignmentId, previous);
  for (const reading of meter.readings ?? []) {
    await insertReading(scene, tenantId, assignmentId, reading);
  }
  if (!current) return;
  const readingId = await insertReading(scene, tenantId, assignmentId, current);
  if (current.status === 'Review') return;
  await scene.sql.query(
    `insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
       previous_date, previous_value, previous_type, reading_id, reading_date, value, reading_type,
       rollover, locked_at, locked_by)
     values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, $11, $12, now(), 'test')`,
    [
      tenantId,
      termId,
      subscriptionId,
      assignmentId,
      iso(previous.date),
      previous.value,
      previous.type ?? 'Actual',
      readingId,
      iso(current.date),
      current.value,
      current.type ?? 'Actual',
      current.rollover ?? false,
    ],
  );
}

async function insertReading(
  scene: Scene,
  tenantId: number,
  assignmentId: number,
  reading: FrozenReading,
): Promise<number> {
  const readingId = await next(scene, tenantId, 'reading');
  await scene.sql.query(
    `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
       reading_type, status, created_at, created_by, modified_at, modified_by)
     values ($1, $2, $3, 1, $4, $5, $6, $7, now(), 'test', now(), 'test')`,
    [
      tenantId,
      readingId,
      assignmentId,
      iso(reading.date),
      reading.value,
      reading.type ?? 'Actual',
      reading.status ?? 'Accepted',
    ],
  );
  return readingId;
}

/** Locks a further reading of a subscription's meter for a term. */
export async function readNext(
  scene: Scene,
  tenantId: number,
  termId: number,
  subscriptionId: number,
  reading: { date: string; use: number },
): Promise<void> {
  const { rows } = await scene.sql.query(
    `select r.assignment_id, r.reading_date::text as date, r.value, r.reading_type as type
     from assignment_registers a
     join readings r on r.tenant_id = a.tenant_id and r.assignment_id = a.assignment_id
     where a.tenant_id = $1 and a.subscription_id = $2
     order by r.reading_date desc, r.reading_id desc limit 1`,
    [tenantId, subscriptionId],
  );
  const [last] = rows;
  const value = String(Number(last.value) + reading.use);
  const wire = reading.date.split('-').reverse().join('/');
  const readingId = await insertReading(scene, tenantId, last.assignment_id, { date: wire, value });
  await scene.sql.query(
    `insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
       previous_date, previous_value, previous_type, reading_id, reading_date, value, reading_type,
       locked_at, locked_by)
     values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, 'Actual', now(), 'test')`,
    [
      tenantId,
      termId,
      subscriptionId,
      last.assignment_id,
      last.date,
      last.value,
      last.type,
      readingId,
      reading.date,
      value,
    ],
  );
}
