// Takes step 4 back: unlocks readings, and deletes the drafts that were calculated from them.
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { findRowSubscriptions } from '../domain/terms/eligible-store.ts';
import { deleteReadDrafts } from '../domain/terms/inputs-store.ts';
import { unlockReadings } from '../domain/terms/readings-store.ts';
import { getTerm, noteInputs } from '../domain/terms/store.ts';
import { rejectEstimates } from '../domain/terms/substitute-readings-store.ts';
import { countLocked } from '../domain/terms/taken-readings-store.ts';
import { assertTakesInputs } from '../domain/terms/term.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import { wholeStep } from '../jobs/whole-step.ts';

export const unpostMeterReadingsStep = wholeStep({
  operation: 'unpost-meter-readings',
  check,
  run,
});

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const term = await getTerm(tx, request.tenant.tenantId, request.termId ?? 0, { lock: 'update' });
  assertTakesInputs(term);
  await subscriptionOf(tx, request);
}

/** Null for all of the term. */
async function subscriptionOf(tx: Tx, request: StepRequest): Promise<number | null> {
  const { tenantId } = request.tenant;
  const { connectionNumber: number } = request.parameters as { connectionNumber?: string | null };
  if (!number) return null;
  const term = await getTerm(tx, tenantId, request.termId ?? 0);
  const found = await findRowSubscriptions(tx, tenantId, term, [number]);
  const subscription = found.get(number);
  if (subscription) return subscription.subscription_id;
  throw new AppError('SUBSCRIPTION_NOT_FOUND', {
    message: `No subscription has the number ${number}`,
    field: 'data.connectionNumber',
  });
}

async function run(tx: Tx, job: StepJob): Promise<Finish> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const subscriptionId = await subscriptionOf(tx, job);
  const stamp = { at: job.now, by: job.requestedBy };
  // As long as they are locked, readings tell which drafts were made of them.
  const drafts = await deleteReadDrafts(tx, tenantId, termId, subscriptionId);
  const ids = subscriptionId === null ? null : [subscriptionId];
  const { unlocked, standIns } = await unlockReadings(tx, tenantId, termId, ids);
  await rejectEstimates(tx, tenantId, termId, standIns, stamp);
  const left = await countLocked(tx, tenantId, termId);
  // With none left, step 4 is as if it had not been done.
  const posted = left === 0 ? { readings: null } : {};
  const step = { stage: 'Created' as const, hasChanged: unlocked > 0, ...posted };
  await noteInputs(tx, tenantId, termId, step, stamp);
  const bills = drafts === 0 ? '' : `, ${counted(drafts, 'draft')} deleted`;
  return { message: `${counted(unlocked, 'reading')} unlocked${bills}`, unlocked, drafts };
}
