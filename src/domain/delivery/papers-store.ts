// What papers show of parties.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { PaperParty } from '../documents/paper.ts';

export async function findPaperParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<Omit<PaperParty, 'connectionNumber'>> {
  const { rows } = await sql<Omit<PaperParty, 'connectionNumber'>>`
    select name, party_number as number, address from parties
    where tenant_id = ${tenantId} and party_id = ${partyId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`party ${partyId} is gone`);
  return row;
}
