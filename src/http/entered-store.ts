import { sql } from 'kysely';
import type { Tx } from '../base/db/pool.ts';
import type { EnteredRow, Token } from './authenticate.ts';

/** Finds a token's principal again, in a call whose cheap opening found that things changed. */
export async function findEntered(tx: Tx, token: Token): Promise<EnteredRow | undefined> {
  const { rows } = await sql<EnteredRow>`
    select * from enter_call(${token.tenantId}, ${token.hash})
  `.execute(tx);
  return rows[0];
}
