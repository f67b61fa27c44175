import type { Tx } from '../../base/db/pool.ts';
import { columnOr } from '../../base/db/searchable.ts';
import { sql } from '../../base/db/sql.ts';
import type { RegisterInPlace } from '../readings/judge.ts';

export type RouteFilter = {
  contextCode: string;
  /** null: all batches. */
  batchCode: string | null;
  /** Readings before this day do not count; null: those that no term has taken do. */
  since: Temporal.PlainDate | null;
  /** Readings that this term has taken count as read; null: a term that is still to come. */
  termId: number | null;
};

/** Whether there is such a context, and such a batch of it. */
export async function findRoute(
  tx: Tx,
  tenantId: number,
  key: Pick<RouteFilter, 'contextCode' | 'batchCode'>,
): Promise<{ hasContext: boolean; hasBatch: boolean }> {
  const { rows } = await sql<{ has_batch: boolean }>`
    select exists (
      select from batches b
      where b.tenant_id = ${tenantId} and b.context_id = c.context_id
        and b.code = ${key.batchCode}
    ) as has_batch
    from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.code = ${key.contextCode}
  `.execute(tx);
  const [row] = rows;
  return { hasContext: row !== undefined, hasBatch: row?.has_batch ?? false };
}

export type RouteStop = { assignmentId: number; position: number };

/**
 * Registers in the order in which one walks past them, of which no reading is there that a term
 * could take: none after the last one that was taken, and none since the day.
 */
export async function listStops(
  tx: Tx,
  tenantId: number,
  filter: RouteFilter,
): Promise<RouteStop[]> {
  const { rows } = await sql<RouteStop>`
    select r.assignment_id as "assignmentId", r.position
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
      and c.code = ${filter.contextCode}
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
      and (${filter.batchCode}::text is null or b.code = ${filter.batchCode})
    join assignment_registers r on r.tenant_id = ${tenantId}
      and r.subscription_id = s.subscription_id and r.input is not null
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
      and a.remove_date is null
    cross join lateral (
      select max(reading_date) as last_date from term_readings
      where tenant_id = ${tenantId} and assignment_id = r.assignment_id and position = r.position
        and (${filter.termId}::bigint is null or term_id <> ${filter.termId}::bigint)
    ) t
    where s.tenant_id = ${tenantId} and s.status = 'Active' and not exists (
      select from readings e
      where e.tenant_id = ${tenantId} and e.assignment_id = r.assignment_id
        and e.position = r.position and e.status <> 'Rejected'
        and e.reading_type <> 'Installation'
        and e.reading_date > ${columnOr('t.last_date', sql`'-infinity'`)}
        and (${filter.since}::date is null or e.reading_date >= ${filter.since}::date)
      offset 0
    )
    order by s.city nulls last, s.society nulls last, s.block nulls last,
      lower(s.address ->> 'street') nulls last,
      substring(s.address ->> 'buildingNo' from '\\d{1,15}')::bigint nulls last,
      lower(s.address ->> 'buildingNo') nulls last, lower(s.address ->> 'buildingName') nulls last,
      substring(s.address ->> 'shopNo' from '\\d{1,15}')::bigint nulls last,
      lower(s.address ->> 'shopNo') nulls last, s.subscription_number, r.position
  `.execute(tx);
  return rows;
}

export type RouteRow = Record<string, string | null> & { number: string };

export type DescribedStop = {
  cells: RouteRow;
  register: RegisterInPlace;
};

/** The details of each stop on the sheet, in the order of the stops. */
export async function describeStops(
  tx: Tx,
  tenantId: number,
  stops: readonly RouteStop[],
): Promise<DescribedStop[]> {
  const assignments = `{${stops.map((stop) => stop.assignmentId).join(',')}}`;
  const positions = `{${stops.map((stop) => stop.position).join(',')}}`;
  const { rows } = await sql<DescribedStop>`
    select json_build_object(
        'connectionNumber', s.subscription_number, 'partyName', p.name,
        'city', s.address ->> 'city', 'society', s.address ->> 'society',
        'block', s.address ->> 'block', 'street', s.address ->> 'street',
        'buildingNo', s.address ->> 'buildingNo', 'buildingName', s.address ->> 'buildingName',
        'shopNo', s.address ->> 'shopNo', 'number', m.number::text,
        'register', case when (
          select count(*) from meter_registers o
          where o.tenant_id = ${tenantId} and o.meter_type_id = m.meter_type_id
        ) > 1 then g.register end, 'unit', g.unit) as cells,
      json_build_object(
        'assignmentId', r.assignment_id, 'position', r.position, 'meterNumber', m.number,
        'register', g.register, 'kind', g.kind, 'digits', g.digits, 'decimals', g.decimals,
        'mf', a.mf, 'highFactor', null, 'lowFactor', null,
        'context', s.context_id, 'input', r.input) as register
    from unnest(${assignments}::bigint[], ${positions}::smallint[])
      with ordinality as w (assignment_id, position, place)
    join assignment_registers r on r.tenant_id = ${tenantId}
      and r.assignment_id = w.assignment_id and r.position = w.position
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_registers g on g.tenant_id = ${tenantId} and g.meter_type_id = m.meter_type_id
      and g.position = r.position
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = r.subscription_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    order by w.place
  `.execute(tx);
  return rows;
}
