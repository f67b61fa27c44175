// A term that will not be billed: what it took is free again.

import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { deleteDrafts, deleteInputs } from '../domain/terms/inputs-store.ts';
import { unlockReadings } from '../domain/terms/readings-store.ts';
import { cancelTerm, getTerm, hasBills } from '../domain/terms/store.ts';
import { rejectEstimates } from '../domain/terms/substitute-readings-store.ts';
import { invalidState } from '../domain/terms/term.ts';
import { auditTerm } from '../jobs/audit-step.ts';
import { cancelScheduledJobs } from '../jobs/jobs-store.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import { wholeStep } from '../jobs/whole-step.ts';
import { retireReserved } from './bill-numbers.ts';

export const cancelTermStep = wholeStep({ operation: 'cancel-term', check, run });

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  if (term.status === 'Cancelled') throw invalidState(term, ['Open']);
  // At any stage: also where posting was begun without result, or nothing was there to post.
  if (!(await hasBills(tx, tenantId, term.term_id, 'Posted'))) return;
  throw new AppError('INVALID_STATE', {
    message:
      `Term ${term.label} has posted bills, and cannot be cancelled. ` +
      (term.status === 'Published'
        ? 'Cancel single bills with cancel-bill.'
        : 'Unpost them with unpost-bills first.'),
    current: term.status,
    allowed: ['Open'],
  });
}

async function run(tx: Tx, job: StepJob): Promise<Finish> {
  const { tenantId } = job.tenant;
  const { reason } = job.parameters as { reason: string };
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  const stamp = { at: job.now, by: job.requestedBy };
  const { unlocked, standIns } = await unlockReadings(tx, tenantId, term.term_id, null);
  await rejectEstimates(tx, tenantId, term.term_id, standIns, stamp);
  await deleteInputs(tx, tenantId, term.term_id);
  if (term.stage === 'Posting') await retireReserved(tx, tenantId, term, reason, stamp);
  const drafts = await deleteDrafts(tx, tenantId, term.term_id);
  const jobs = await cancelScheduledJobs(tx, tenantId, term.term_id, job.now);
  await cancelTerm(tx, tenantId, term.term_id, reason, stamp);
  await auditTerm(tx, job, term, { status: 'Cancelled', stage: 'Cancelled', reason });
  const events = eventsOf('term.cancelled', 'termID', [term.term_id]);
  await insertEvents(tx, tenantId, events, job.now);
  return { message: `Term ${term.label} is cancelled`, unlocked, drafts, cancelledJobs: jobs };
}
