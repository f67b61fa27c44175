// Events of deliveries that ended: the bill has gone out, or could not.
import type { Tx } from '../../base/db/pool.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';

export type Outcome = { bill_id: number; status: string };

/** Deliveries that still wait, or may have arrived, have no event yet. */
export async function noteOutcomes(
  tx: Tx,
  tenantId: number,
  outcomes: readonly Outcome[],
  at: Temporal.Instant,
): Promise<void> {
  const billsWith = (...statuses: string[]) =>
    outcomes.filter(({ status }) => statuses.includes(status)).map((one) => one.bill_id);
  const events = [
    ...eventsOf('bill.delivered', 'billID', billsWith('Sent', 'Delivered')),
    ...eventsOf('bill.delivery_failed', 'billID', billsWith('Failed')),
  ];
  await insertEvents(tx, tenantId, events, at);
}
