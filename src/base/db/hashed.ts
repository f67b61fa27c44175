// How PostgreSQL joins what it looks up by lists of ids.
import { sql } from './sql.ts';
import type { Tx } from './tx.ts';

/**
 * Statements that join tables by hashing, and not by a loop for each row. PostgreSQL plans for a
 * few ids and is given hundreds: it would loop, at several times the cost. All of them have to be
 * sent at once, and none may look up anything for single rows by a join.
 */
export async function hashed<Result>(tx: Tx, ask: () => Promise<Result>): Promise<Result> {
  const [, result] = await Promise.all([
    sql`select set_config('enable_nestloop', 'off', true)`.execute(tx),
    ask(),
    sql`select set_config('enable_nestloop', 'on', true)`.execute(tx),
  ]);
  return result;
}
