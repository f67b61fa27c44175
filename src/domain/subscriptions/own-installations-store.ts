// The meters whose readings a customer may see, and on which days.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { OwnInstallation } from '../readings/list-store.ts';
import { isOwnDay, ownDays } from './own-days.ts';
import type { Transfer } from './subscription.ts';

type Installed = { assignment_id: number; party_id: number; transfers: Transfer[] };

/** Of all subscriptions that the party owns, and of those that it owned and was billed for. */
export async function listOwnInstallations(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<OwnInstallation[]> {
  const { rows } = await sql<Installed>`
    select a.assignment_id, s.party_id, s.transfers
    from subscriptions s
    join meter_assignments a on a.tenant_id = ${tenantId}
      and a.subscription_id = s.subscription_id
    where s.tenant_id = ${tenantId} and s.subscription_id = any(array(
      select o.subscription_id from subscriptions o
      where o.tenant_id = ${tenantId} and o.party_id = ${partyId}
      union
      select b.subscription_id from subscription_balances b
      where b.tenant_id = ${tenantId} and b.party_id = ${partyId}
    ))
  `.execute(tx);
  return rows.flatMap((row) =>
    ownDays(row, partyId).map((days) => ({ assignmentId: row.assignment_id, ...days })),
  );
}

/** The first own day of the time in which a reading was taken. */
export function ownSince(
  own: readonly OwnInstallation[],
  reading: { assignment_id: number; reading_date: string },
): string {
  const found = own.find(
    (one) => one.assignmentId === reading.assignment_id && isOwnDay(one, reading.reading_date),
  );
  return found?.from ?? 'infinity';
}
