// Ids cut into ranges, each with as many of them as go into one part of a job.
import { type Sql, sql } from './sql.ts';
import type { Tx } from './tx.ts';

/** Both inclusive. */
export type IdRange = { firstId: number; lastId: number };

/** `ids` selects each of them once: tenant_id and id. */
export async function cutIntoRanges(
  tx: Tx,
  tenantId: number,
  ids: Sql,
  size: number,
): Promise<{ chunks: IdRange[]; total: number }> {
  const { rows } = await sql<{ first_id: number; last_id: number; count: number }>`
    select min(id) as first_id, max(id) as last_id, count(*) as count
    from (
      select id, (row_number() over (order by id) - 1) / ${size}::bigint as part
      from (${ids}) wanted
      where tenant_id = ${tenantId}
    ) numbered
    group by part
    order by part
  `.execute(tx);
  return {
    chunks: rows.map((row) => ({ firstId: row.first_id, lastId: row.last_id })),
    total: rows.reduce((sum, row) => sum + row.count, 0),
  };
}
