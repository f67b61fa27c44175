// Daily jobs disconnect subscriptions, and connect them again.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { newRequestId } from '../../base/request-id.ts';
import { insertAuditEntries } from '../audit/store.ts';
import { disconnect, reconnect } from '../subscriptions/lifecycle.ts';
import type { DunningDay } from './move.ts';

type Workspace = Parameters<typeof reconnect>[1];

/** Returns why it could not be done, such as a day that is billed already: a person decides. */
export async function switchSupply(
  tx: Tx,
  workspace: Workspace,
  wanted: { number: string; to: 'Active' | 'Disconnected'; reason: string; job: string },
  { today, now, realNow }: DunningDay,
): Promise<string | null> {
  const { number, to, reason, job } = wanted;
  const change = { number, seenTs: undefined, date: today, dateField: 'date', today, readings: [] };
  const stamp = { at: now, by: 'daily job' };
  try {
    const { before, after } =
      to === 'Active'
        ? await reconnect(tx, workspace, { ...change, meterNumber: null, isForced: true }, stamp)
        : await disconnect(
            tx,
            workspace.tenantId,
            { ...change, kind: 'Temporary', reason, removeMeter: false },
            stamp,
          );
    const context = {
      requestId: newRequestId(),
      at: realNow,
      actor: 'daily job',
      actorKind: 'System',
      address: null,
      operation: `daily job ${job}`,
    } as const;
    const [from, then] = [{ status: before.status }, { status: after.status }];
    const entry = { subject: 'subscription', subjectId: number, before: from, after: then };
    await insertAuditEntries(tx, workspace.tenantId, context, [entry]);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.message;
  }
}
