import { rethrowViolation } from '../../base/db/faults.ts';
import { countFound, searchCall } from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { folded } from '../parties/party.ts';
import type { MeterHealth, MeterStatus, NewMeter } from './meter.ts';

export type MeterRow = {
  meter_id: number;
  number: number;
  brand: string;
  /** The name of its type. */
  meter_type: string;
  /** YYYY-MM-DD */
  purchase_date: string;
  mf: number;
  status: MeterStatus;
  health: MeterHealth;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const columns = sql.raw(`m.meter_id, m.number, m.brand, t.name as meter_type, m.purchase_date, m.mf,
  m.status, m.health, m.created_at, m.created_by, m.modified_at, m.modified_by, m.ts`);

/** Those of the numbers that meters have already. */
export async function findTakenNumbers(
  tx: Tx,
  tenantId: number,
  numbers: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ number: number }>`
    select number from meters
    where tenant_id = ${tenantId} and number = any(${numbers}::bigint[])
  `.execute(tx);
  return new Set(rows.map((row) => row.number));
}

export async function insertMeters(
  tx: Tx,
  tenantId: number,
  firstId: number,
  meters: readonly NewMeter[],
  { stamp, status }: { stamp: Stamp; status: MeterStatus },
): Promise<void> {
  const rows = meters.map((meter, index) => ({
    meter_id: firstId + index,
    number: meter.number,
    brand: meter.brand,
    meter_type_id: meter.meterTypeId,
    purchase_date: meter.purchaseDate.toString(),
    mf: meter.mf,
    search_text: searchText(meter),
  }));
  await sql`
    insert into meters (
      tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf, status, search_text,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.meter_id, r.number, r.brand, r.meter_type_id, r.purchase_date, r.mf,
      ${status}, r.search_text, ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by},
      ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      meter_id bigint, number bigint, brand text, meter_type_id bigint, purchase_date date,
      mf integer, search_text text
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        meters_number_key: () =>
          new AppError('DUPLICATE', { message: 'A meter has this number', field: 'meters' }),
      }),
    );
  const numbers = meters.map((meter) => meter.number);
  await insertEvents(tx, tenantId, eventsOf('meter.registered', 'meterNumber', numbers), stamp.at);
}

/** What a search looks at, one piece a line. */
function searchText(meter: { number: number; brand: string }): string {
  return `${meter.number}\n${folded(meter.brand)}`;
}

export async function lockMeter(
  tx: Tx,
  tenantId: number,
  number: number,
): Promise<MeterRow | undefined> {
  const { rows } = await sql<MeterRow>`
    select ${columns}
    from meters m
    join meter_types t on t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
    where m.tenant_id = ${tenantId} and m.number = ${number}
    for no key update of m
  `.execute(tx);
  return rows[0];
}

export async function updateMeter(
  tx: Tx,
  tenantId: number,
  meter: { meter_id: number; number: number; brand: string; health: MeterHealth; mf: number },
  stamp: Stamp,
): Promise<MeterRow> {
  const { rows } = await sql<MeterRow>`
    update meters m
    set brand = ${meter.brand}, health = ${meter.health}, mf = ${meter.mf},
      search_text = ${searchText(meter)}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(m.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from meter_types t
    where m.tenant_id = ${tenantId} and m.meter_id = ${meter.meter_id}
      and t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
    returning ${columns}
  `.execute(tx);
  const updated = rows[0];
  if (!updated) throw new Error('the locked meter is gone');
  return updated;
}

/** At most this many brands are listed: more would not fit a choice. */
const brandsMax = 1_000;

/** Goes from each brand to the next one in the index: a million meters have few brands. */
export async function listBrands(tx: Tx, tenantId: number): Promise<string[]> {
  const { rows } = await sql<{ brand: string }>`
    with recursive brands (brand) as (
      select min(brand) from meters where tenant_id = ${tenantId}
      union all
      select (
        select min(m.brand) from meters m
        where m.tenant_id = ${tenantId} and m.brand > b.brand
      )
      from brands b
      where b.brand is not null
    )
    select brand from brands where brand is not null limit ${brandsMax}
  `.execute(tx);
  return rows.map((row) => row.brand);
}

export type MeterFilter = {
  number: number | null;
  status: MeterStatus | null;
  mf: number | null;
  search: string | null;
  updatedSince: number | null;
};

const sortColumns = {
  meterID: 'meter_id',
  number: 'number',
  purchaseDate: 'purchase_date',
  mf: 'mf',
  ts: 'ts',
} as const;
export type MeterSort = { by: keyof typeof sortColumns; descending: boolean };
export const meterSortNames = ['meterID', 'number', 'purchaseDate', 'mf', 'ts'] as const;

export async function listMetersAt(
  tx: Tx,
  tenantId: number,
  filter: MeterFilter,
  sort: MeterSort,
  window: { offset: number; limit: number },
): Promise<MeterRow[]> {
  if (isByStatusOnly(filter) && sort.by === 'meterID' && !sort.descending) {
    return listByIds(tx, tenantId, idsByBlock(tenantId, filter.status, window), sort);
  }
  const search = onlySearch(filter);
  if (search && sort.by === 'meterID') {
    return listByIds(tx, tenantId, idsFound(search, sort, window), sort);
  }
  const ids = sql`
    select meter_id from meters
    where ${matches(tenantId, filter)}
    order by ${ordering(sort)}
    limit ${window.limit} offset ${window.offset}
  `;
  return listByIds(tx, tenantId, ids, sort);
}

/** The chunk that follows a row in the list's order. */
export async function listMetersAfter(
  tx: Tx,
  tenantId: number,
  filter: MeterFilter,
  sort: MeterSort,
  options: Following,
): Promise<MeterRow[]> {
  return listByIds(tx, tenantId, idsAfter(tenantId, filter, sort, options), sort);
}

/** The ids of the same, for many chunks at once. */
export async function listMeterIdsAfter(
  tx: Tx,
  tenantId: number,
  filter: MeterFilter,
  sort: MeterSort,
  options: Following,
): Promise<number[]> {
  const { rows } = await idsAfter(tenantId, filter, sort, options).execute(tx);
  return rows.map((row) => row.meter_id);
}

export function listMetersByIds(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<MeterRow[]> {
  const sort = { by: 'meterID', descending: false } as const;
  const known = sql`
    select meter_id from meters
    where tenant_id = ${tenantId} and meter_id = any(${ids}::bigint[])
  `;
  return listByIds(tx, tenantId, known, sort);
}

type Following = { after: MeterRow | undefined; limit: number };

function idsAfter(
  tenantId: number,
  filter: MeterFilter,
  sort: MeterSort,
  { after, limit }: Following,
): Sql<{ meter_id: number }> {
  const column = sortColumns[sort.by];
  const beyond = sql.raw(sort.descending ? '<' : '>');
  const rest = after
    ? sql`(${sql.ref(column)}, meter_id) ${beyond} (${after[column]}, ${after.meter_id})`
    : sql`true`;
  return sql`
    select meter_id from meters
    where ${matches(tenantId, filter)} and ${rest}
    order by ${ordering(sort)}
    limit ${limit}
  `;
}

/** The ids come from an index alone; rows are fetched for those that are shown, and no others. */
async function listByIds(tx: Tx, tenantId: number, ids: Sql, sort: MeterSort): Promise<MeterRow[]> {
  const { rows } = await sql<MeterRow>`
    select ${columns}
    from meters m
    join meter_types t on t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
    where m.tenant_id = ${tenantId} and m.meter_id = any(array(${ids}))
    order by ${ordering(sort, 'm.')}
  `.execute(tx);
  return rows;
}

/** Finds the block in which the page begins, then walks inside that block only. */
function idsByBlock(
  tenantId: number,
  status: MeterStatus | null,
  window: { offset: number; limit: number },
): Sql {
  return sql`
    with start as (
      select block, rows_before
      from (
        select block, ${countedBy(status)} as block_rows,
          sum(${countedBy(status)}) over (order by block) - ${countedBy(status)} as rows_before
        from row_blocks
        where tenant_id = ${tenantId} and kind = 'meter'
      ) counted_blocks
      where rows_before + block_rows > ${window.offset}
      order by block
      limit 1
    )
    select meter_id from meters
    where tenant_id = ${tenantId}
      and meter_id >= (select block * 1000 from start)
      and ${status === null ? sql`true` : sql`status = ${status}`}
    order by meter_id
    limit ${window.limit}
    offset ${window.offset}::bigint - (select rows_before from start)::bigint
  `;
}

/** Sorts and cuts what was found by its ids alone. */
function idsFound(search: Sql, sort: MeterSort, window: { offset: number; limit: number }): Sql {
  return sql`
    select found.meter_id from ${search} as found (meter_id)
    order by ${ordering(sort, 'found.')}
    limit ${window.limit} offset ${window.offset}
  `;
}

/** Of a block, the rows that are counted as live are the Active ones. */
function countedBy(status: MeterStatus | null): Sql {
  if (status === null) return sql`all_rows`;
  return status === 'Active' ? sql`live_rows` : sql`(all_rows - live_rows)`;
}

export async function countMeters(tx: Tx, tenantId: number, filter: MeterFilter): Promise<number> {
  const search = onlySearch(filter);
  if (search) return countFound(tx, tenantId, search);
  const { rows } = isByStatusOnly(filter)
    ? await sql<{ count: number }>`
        select coalesce(sum(${countedBy(filter.status)}), 0)::bigint as count from row_blocks
        where tenant_id = ${tenantId} and kind = 'meter'
      `.execute(tx)
    : await sql<{ count: number }>`
        select count(*) as count from meters where ${matches(tenantId, filter)}
      `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isByStatusOnly(filter: MeterFilter): boolean {
  const { status: _, ...narrowing } = filter;
  return Object.values(narrowing).every((value) => value === null);
}

function ordering(sort: MeterSort, alias: '' | 'm.' | 'found.' = ''): Sql {
  const direction = sort.descending ? ' desc' : '';
  const id = `${alias}meter_id${direction}`;
  if (sort.by === 'meterID') return sql.raw(id);
  return sql.raw(`${alias}${sortColumns[sort.by]}${direction}, ${id}`);
}

function matches(tenantId: number, filter: MeterFilter): Sql {
  const conditions = [sql`tenant_id = ${tenantId}`];
  if (filter.number !== null) conditions.push(sql`number = ${filter.number}`);
  if (filter.status !== null) conditions.push(sql`status = ${filter.status}`);
  // A number that no factor can be matches nothing; as an integer it would be an error.
  if (filter.mf !== null) conditions.push(sql`mf = ${filter.mf}::bigint`);
  if (filter.updatedSince !== null) conditions.push(sql`ts >= ${filter.updatedSince}`);
  if (filter.search !== null) {
    conditions.push(sql`meter_id in (select ${searching(filter.search, filter.status)})`);
  }
  return sql.join(conditions, sql` and `);
}

/** The call of the function that finds words among the meters of a status. */
function searching(words: string, status: MeterStatus | null): Sql {
  return searchCall('meters', folded(words), [sql`${status}`]);
}

/** The search that is all of a filter; undefined when the filter asks for more, or for none. */
function onlySearch(filter: MeterFilter): Sql | undefined {
  const { search, status, ...others } = filter;
  if (search === null || Object.values(others).some((value) => value !== null)) return undefined;
  return searching(search, status);
}
