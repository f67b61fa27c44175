// The first few subscriptions that match what was typed into a search: by the beginning of the
// number, then by any part of number, reference and project.

import { beginsWith } from '../../base/db/beginnings.ts';
import { containsPattern } from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { folded } from '../parties/party.ts';

const wordMin = 3;

export type FoundSubscription = {
  subscription_id: number;
  subscription_number: string;
  status: string;
  party_number: number;
  party_name: string;
  plan_code: string;
};

export async function findSubscriptions(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundSubscription[]> {
  const ids = new Set(await findByNumber(tx, tenantId, typed, limit));
  const words = folded(typed);
  if (ids.size < limit && words.length >= wordMin) {
    for (const id of await findByWords(tx, tenantId, words, limit)) ids.add(id);
  }
  return listFound(tx, tenantId, [...ids].slice(0, limit));
}

/** Numbers are mostly written in capitals, and mostly not typed so. */
async function findByNumber(tx: Tx, tenantId: number, typed: string, limit: number) {
  const { rows } = await sql<{ subscription_id: number }>`
    select subscription_id from subscriptions
    where tenant_id = ${tenantId} and (${beginsWith('subscription_number', typed)}
      or ${beginsWith('subscription_number', typed.toUpperCase())})
    order by subscription_number
    limit ${limit}
  `.execute(tx);
  return rows.map((row) => row.subscription_id);
}

async function findByWords(
  tx: Tx,
  tenantId: number,
  words: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select f.id
    from tenants own
    cross join lateral some_subscriptions(${containsPattern(words)}, ${limit}) as f (id)
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows.map((row) => row.id);
}

async function listFound(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<FoundSubscription[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<FoundSubscription>`
    select s.subscription_id, s.subscription_number, s.status, p.party_number,
      p.name as party_name, n.code as plan_code
    from subscriptions s
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    join plans n on n.tenant_id = ${tenantId} and n.plan_id = s.plan_id
    where s.tenant_id = ${tenantId} and s.subscription_id = any(${[...ids]}::bigint[])
    order by array_position(${[...ids]}::bigint[], s.subscription_id)
  `.execute(tx);
  return rows;
}
