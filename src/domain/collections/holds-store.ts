// Parties and subscriptions that dunning leaves alone until a date.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type Holder = { kind: 'Party' | 'Subscription'; id: number };

/** YYYY-MM-DD. */
export type DunningHold = { until: string; reason: string };

/** Null ends a hold. */
export async function saveHold(
  tx: Tx,
  tenantId: number,
  { kind, id }: Holder,
  hold: DunningHold | null,
  stamp: Stamp,
): Promise<void> {
  if (hold === null) {
    await sql`
      delete from dunning_holds
      where tenant_id = ${tenantId} and holder_kind = ${kind} and holder_id = ${id}
    `.execute(tx);
    return;
  }
  await sql`
    insert into dunning_holds
      (tenant_id, holder_kind, holder_id, until_date, reason, modified_at, modified_by)
    values (${tenantId}, ${kind}, ${id}, ${hold.until}::date, ${hold.reason}, ${stamp.at},
      ${stamp.by})
    on conflict (tenant_id, holder_kind, holder_id) do update
      set until_date = excluded.until_date, reason = excluded.reason,
        modified_at = excluded.modified_at, modified_by = excluded.modified_by
  `.execute(tx);
}

/** By holder, those of one kind. */
export async function listHolds(
  tx: Tx,
  tenantId: number,
  kind: Holder['kind'],
  ids: readonly number[],
): Promise<Map<number, DunningHold>> {
  const { rows } = await sql<DunningHold & { holder_id: number }>`
    select holder_id, until_date as until, reason from dunning_holds
    where tenant_id = ${tenantId} and holder_kind = ${kind}
      and holder_id = any(${[...new Set(ids)]}::bigint[])
  `.execute(tx);
  return new Map(rows.map(({ holder_id, until, reason }) => [holder_id, { until, reason }]));
}
