// The subscriptions chosen for an OffCycle or Final term.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type Chosen = { subscription_number: string; subscription_id: number; batch_code: string };

/** By number, those subscriptions of the context that exist. */
export async function findChosen(
  tx: Tx,
  tenantId: number,
  wanted: { contextId: number; numbers: readonly string[] },
): Promise<Map<string, Chosen>> {
  const { rows } = await sql<Chosen>`
    select s.subscription_number, s.subscription_id, b.code as batch_code
    from subscriptions s
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
    where s.tenant_id = ${tenantId} and s.context_id = ${wanted.contextId}
      and s.subscription_number = any(${[...wanted.numbers]}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_number, row]));
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
    select own.tenant_id, ${termId}, chosen.id
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(${[...subscriptionIds]}::bigint[]) as chosen (id)
    on conflict do nothing
  `.execute(tx);
}

/** One more for a term that is there: what was generated of it before lacks a bill. */
export async function addChosen(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionId: number,
  at: Temporal.Instant,
): Promise<void> {
  const { count } = await sql`
    insert into term_subscriptions (tenant_id, term_id, subscription_id)
    values (${tenantId}, ${termId}, ${subscriptionId})
    on conflict do nothing
  `.execute(tx);
  if (count === 0) return;
  await sql`
    update terms
    set is_stale = true, ts = greatest(ts + 1, ${at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${termId} and not is_stale
      and stage in ('Generating', 'Generated')
  `.execute(tx);
}
