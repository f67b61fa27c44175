// Joins of tables that are read by long lists of ids.
import { sql } from './sql.ts';
import type { Tx } from './tx.ts';

/**
 * Runs statements with hash joins instead of nested loops. PostgreSQL expects a few ids and gets
 * hundreds, so it would choose nested loops, at several times the cost. `ask` must send all its
 * statements at once. None of them may depend on a join that looks up single rows. `set local`, and
 * not set_config(): of several machines, the one that has the rows learns only of the former.
 */
export async function withHashJoins<Result>(tx: Tx, ask: () => Promise<Result>): Promise<Result> {
  const [, result] = await Promise.all([
    sql`set local enable_nestloop = off`.execute(tx),
    ask(),
    sql`set local enable_nestloop = on`.execute(tx),
  ]);
  return result;
}
