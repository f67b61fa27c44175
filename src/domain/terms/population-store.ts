// How many subscriptions a term will bill, for the operator who opens it.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { type EligibleTerm, isEligible } from './eligible-store.ts';

/** Above this many, the exact number is not worth the wait. */
const countedMax = 20_000;
/** Batches to suggest if the batch of a term has no subscriptions. */
const batchesMax = 5;

/**
 * Exact up to a limit. The subscriptions of a batch are walked along their index, and the walk ends
 * at the first one above the limit: of a million, some thousand rows are read. Only a batch in
 * which hardly any subscription is to be billed is read as a whole, as generating its bills does.
 */
export async function countEligible(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
): Promise<{ count: number; isExact: boolean }> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select from subscriptions s
      where s.tenant_id = ${tenantId} and ${isEligible(tenantId, term)}
      limit ${countedMax + 1}
    ) found
  `.execute(tx);
  const count = rows[0]?.count ?? 0;
  return count > countedMax ? { count: countedMax, isExact: false } : { count, isExact: true };
}

/** The first batches of the context that have subscriptions at all. */
export async function listFilledBatches(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select b.code from batches b
    where b.tenant_id = ${tenantId} and b.context_id = ${contextId} and exists (
      select from subscriptions s
      where s.tenant_id = ${tenantId} and s.batch_id = b.batch_id
    )
    order by b.code
    limit ${batchesMax}
  `.execute(tx);
  return rows.map((row) => row.code);
}
