// What a generation that failed for good leaves behind.

import type { Tx } from '../base/db/pool.ts';
import {
  findRun,
  findTotalsBefore,
  findWholeRun,
  finishRun,
} from '../domain/bills/generate/runs-store.ts';
import { getTerm, updateTermStage } from '../domain/terms/store.ts';
import { findJob } from '../jobs/jobs-store.ts';
import type { StepJob } from '../jobs/step.ts';

/**
 * One bill that could not be made anew leaves all as they were, and the term Generated. Of all
 * bills some may be made and some not: then it stays Generating.
 */
export async function generateFailed(tx: Tx, job: StepJob): Promise<void> {
  if (job.billId === null) return;
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const key = { termId: term.term_id, runNumber: term.run_number };
  const run = await findRun(tx, tenantId, key);
  // It may never have begun.
  if (term.stage !== 'Generating' || run?.job_id !== job.jobId) return;
  const whole = await findWholeRun(tx, tenantId, term.term_id);
  if (!whole?.finished_at) return;
  const totals = await findTotalsBefore(tx, tenantId, key);
  const isMade = ((await findJob(tx, tenantId, job.jobId))?.done ?? 0) > 0;
  if (totals && !isMade) await finishRun(tx, tenantId, key, { at: job.now, totals });
  // Made, but in no sum: all of them are to be made again.
  const isStale = isMade ? { isStale: true } : {};
  const stamp = { at: job.now, by: job.requestedBy };
  await updateTermStage(tx, tenantId, term.term_id, { stage: 'Generated', ...isStale }, stamp);
}
