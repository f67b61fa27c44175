// The first few parties that match what was typed into a search: by number, by the beginning of
// the name, and by words, e-mail address or phone number.

import { digitsBeginWith, endOfBeginning, isDigits } from '../../base/db/beginnings.ts';
import { containsPattern } from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { folded } from './party.ts';

/** Letters of the index by the beginning of names; the trigram index needs three. */
const beginningMax = 60;
const wordMin = 3;
/**
 * Parties that are looked at before the trigram index is, which reads all rows that have the words:
 * the newest ones, then some at places all over the workspace.
 */
const newestMax = 2_000;
const places = { count: 20, lookedAt: 100 };

export type FoundParty = {
  party_id: number;
  party_number: number;
  kind: string;
  name: string;
  email: string | null;
  contact: string | null;
};

export async function findParties(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundParty[]> {
  const words = folded(typed);
  const ids = new Set(isDigits(typed) ? await findByNumber(tx, tenantId, typed, limit) : []);
  if (ids.size < limit && words.length <= beginningMax) {
    for (const id of await findByBeginning(tx, tenantId, words, limit)) ids.add(id);
  }
  if (ids.size < limit && words.length >= wordMin) {
    for (const id of await findByWords(tx, tenantId, words, limit)) ids.add(id);
  }
  return listFound(tx, tenantId, [...ids].slice(0, limit));
}

async function findByNumber(tx: Tx, tenantId: number, digits: string, limit: number) {
  const { rows } = await sql<{ party_id: number }>`
    select party_id from parties
    where tenant_id = ${tenantId} and ${digitsBeginWith('party_number', digits)}
    order by party_number
    limit ${limit}
  `.execute(tx);
  return rows.map((row) => row.party_id);
}

async function findByBeginning(
  tx: Tx,
  tenantId: number,
  words: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ party_id: number }>`
    select f.party_id
    from tenants own
    cross join lateral first_parties(${words}, ${endOfBeginning(words)}, ${limit}) as f (party_id)
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows.map((row) => row.party_id);
}

async function findByWords(
  tx: Tx,
  tenantId: number,
  words: string,
  limit: number,
): Promise<number[]> {
  const pattern = containsPattern(words);
  const newest = await sql<{ party_id: number }>`
    select f.party_id
    from tenants own
    cross join lateral newest_parties(${pattern}, ${newestMax}, ${limit}) as f (party_id)
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  const ids = new Set(newest.rows.map((row) => row.party_id));
  if (ids.size >= limit) return [...ids];
  const spread = await sql<{ party_id: number }>`
    select f.party_id
    from tenants own
    cross join lateral spread_parties(
      ${pattern}, ${places.count}, ${places.lookedAt}, ${limit}
    ) as f (party_id)
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  for (const row of spread.rows) ids.add(row.party_id);
  if (ids.size >= limit) return [...ids];
  const { rows } = await sql<{ party_id: number }>`
    select f.party_id
    from tenants own
    cross join lateral some_parties(${pattern}, ${limit}) as f (party_id)
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows.map((row) => row.party_id);
}

/** In the order of the ids that were found. */
async function listFound(tx: Tx, tenantId: number, ids: readonly number[]): Promise<FoundParty[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<FoundParty>`
    select party_id, party_number, kind, name, email,
      contacts -> 0 ->> 'contactValue' as contact
    from parties
    where tenant_id = ${tenantId} and party_id = any(${[...ids]}::bigint[])
    order by array_position(${[...ids]}::bigint[], party_id)
  `.execute(tx);
  return rows;
}
