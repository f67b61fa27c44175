// What papers show of parties.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { PaperParty } from '../documents/paper.ts';

/** By party. */
export async function listPaperParties(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<Map<number, Omit<PaperParty, 'connectionNumber'>>> {
  const { rows } = await sql<Omit<PaperParty, 'connectionNumber'> & { id: number }>`
    select party_id as id, name, party_number as number, address from parties
    where tenant_id = ${tenantId} and party_id = any(${[...partyIds]}::bigint[])
  `.execute(tx);
  return new Map(rows.map(({ id, ...party }) => [id, party]));
}

/** By bill. */
export async function listBillNumbers(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Map<number, string | null>> {
  if (billIds.length === 0) return new Map();
  const { rows } = await sql<{ bill_id: number; bill_number: string | null }>`
    select bill_id, bill_number from bills
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.bill_id, row.bill_number]));
}

export async function findPaperParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<Omit<PaperParty, 'connectionNumber'>> {
  const row = (await listPaperParties(tx, tenantId, [partyId])).get(partyId);
  if (!row) throw new Error(`party ${partyId} is gone`);
  return row;
}
