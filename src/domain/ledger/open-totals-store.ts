// What is open by due date and by party, which triggers keep in step with bills and open items.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** Changes that one statement folds: of a posted chunk, a thousand parties each. */
const foldedAtOnce = 1_000;

/** Statements of one turn; what is left then is folded by the next one. */
const foldsMax = 10_000;

/**
 * Folds what triggers have added to the totals of a workspace, and returns how much. Each part is
 * done as the caller says: in one transaction, or in one of its own.
 */
export async function foldOpenChanges(
  tenantId: number,
  inTransaction: (fold: (tx: Tx) => Promise<number>) => Promise<number>,
): Promise<number> {
  let folded = 0;
  for (let turn = 0; turn < foldsMax; turn += 1) {
    const count = await inTransaction((tx) => foldSome(tx, tenantId));
    folded += count;
    if (count < foldedAtOnce) break;
  }
  return folded;
}

/** Fewer than were asked for: no more are there, or another worker folds them. */
async function foldSome(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select fold_open_changes(${foldedAtOnce}) as count from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
