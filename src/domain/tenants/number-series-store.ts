// Gapless numbers that people see: a series for each text that a format prints around its counter.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { takeNumbers } from './numbers-store.ts';

export type SeriesKind = 'Bill' | 'CreditNote' | 'Receipt';

/** Consecutive numbers of one series. */
export type SeriesRange = { seriesId: number; first: number };

/**
 * Takes the next `count` numbers of a series, which begins with its first use. Its row stays locked
 * until the transaction ends: what is rolled back leaves no gap.
 */
export async function takeFromSeries(
  tx: Tx,
  tenantId: number,
  series: { kind: SeriesKind; key: string },
  count: number,
): Promise<SeriesRange> {
  const range = await advance(tx, tenantId, series, count);
  if (range) return range;
  const seriesId = await takeNumbers(tx, tenantId, 'number-series', 1);
  await sql`
    insert into number_series (tenant_id, series_id, kind, series_key, last_number)
    values (${tenantId}, ${seriesId}, ${series.kind}, ${series.key}, 0)
    on conflict (tenant_id, kind, series_key) do nothing
  `.execute(tx);
  const begun = await advance(tx, tenantId, series, count);
  if (!begun) throw new Error(`the number series ${series.key} could not begin`);
  return begun;
}

async function advance(
  tx: Tx,
  tenantId: number,
  { kind, key }: { kind: SeriesKind; key: string },
  count: number,
): Promise<SeriesRange | undefined> {
  const { rows } = await sql<{ series_id: number; last_number: number }>`
    update number_series set last_number = last_number + ${count}
    where tenant_id = ${tenantId} and kind = ${kind} and series_key = ${key}
    returning series_id, last_number
  `.execute(tx);
  const [row] = rows;
  return row && { seriesId: row.series_id, first: row.last_number - count + 1 };
}

export type LastNumber = { kind: SeriesKind; key: string; last: number };

/** The last number that each series has given. */
export async function listLastNumbers(tx: Tx, tenantId: number): Promise<LastNumber[]> {
  const { rows } = await sql<LastNumber>`
    select kind, series_key as key, last_number as last from number_series
    where tenant_id = ${tenantId}
    order by kind, series_key
  `.execute(tx);
  return rows;
}

/** One at a time in a workspace: formats of two series may print the same number. */
export async function lockNumbering(tx: Tx, tenantId: number): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('bill numbers', tenant_id))
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
}
