// Whom a term is for that is not Regular.
import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';

/** Ids by number, of those subscriptions of the context that exist. */
export async function findChosen(
  tx: Tx,
  tenantId: number,
  wanted: { contextId: number; numbers: readonly string[] },
): Promise<Map<string, number>> {
  const { rows } = await sql<{ subscription_number: string; subscription_id: number }>`
    select subscription_number, subscription_id from subscriptions
    where tenant_id = ${tenantId} and context_id = ${wanted.contextId}
      and subscription_number = any(${[...wanted.numbers]}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_number, row.subscription_id]));
}

export async function insertChosen(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionIds: readonly number[],
): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await sql`
    insert into term_subscriptions (tenant_id, term_id, subscription_id)
    select ${tenantId}, ${termId}, chosen.id
    from unnest(${[...subscriptionIds]}::bigint[]) as chosen (id)
    on conflict do nothing
  `.execute(tx);
}
