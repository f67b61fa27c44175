// The daily job of subscriptions: states that were dated ahead begin, those that are ready are
// served, those that are settled are closed.

import type { Tx } from '../../base/db/pool.ts';
import { newRequestId } from '../../base/request-id.ts';
import { insertAuditEntries } from '../audit/store.ts';
import { insertEvents } from '../events/events-store.ts';
import { closeSettled, type StatusChange, serveReady, takeNextSteps } from './daily-store.ts';
import { statusEvents } from './status-events.ts';

/** More steps than are ever planned ahead for one subscription. */
const stepsMax = 100;

const by = 'daily job';

export async function advanceSubscriptions(
  tx: Tx,
  tenantId: number,
  day: { localDate: Temporal.PlainDate; now: Temporal.Instant; realNow: Temporal.Instant },
): Promise<Record<string, number>> {
  const { localDate, now, realNow } = day;
  const stamp = { at: now, by };
  const changes: StatusChange[] = [];
  for (let step = 1; step <= stepsMax; step += 1) {
    const taken = await takeNextSteps(tx, tenantId, localDate, stamp);
    changes.push(...taken);
    if (taken.length === 0) break;
  }
  changes.push(...(await serveReady(tx, tenantId, localDate, stamp)));
  changes.push(...(await closeSettled(tx, tenantId, localDate, stamp)));
  if (changes.length > 0) {
    const context = {
      requestId: newRequestId(),
      at: realNow,
      actor: by,
      actorKind: 'System',
      address: null,
      operation: 'daily job subscriptions',
    } as const;
    const entries = changes.map((change) => ({
      subject: 'subscription',
      subjectId: change.subscription_number,
      before: { status: change.before },
      after: { status: change.after },
    }));
    await insertAuditEntries(tx, tenantId, context, entries);
    await insertEvents(tx, tenantId, statusEvents(changes), now);
  }
  const count = (after: string) => changes.filter((change) => change.after === after).length;
  return {
    activated: count('Active'),
    disconnected: count('Disconnected'),
    closed: count('Closed'),
  };
}
