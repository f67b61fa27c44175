// Takes a Posted term back to Open, unless a later bill, payment or credit note builds on it. One
// chunk: a term is unposted as a whole.

import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { updateReservation } from '../domain/bills/generate/runs-store.ts';
import {
  countToReverse,
  findUnpostObstacles,
  isOutdated,
  lockPosted,
  markUnposted,
  restoreSubscriptions,
  retireNumbers,
  reverseJournals,
} from '../domain/bills/posting/unpost-store.ts';
import { countPosted } from '../domain/bills/store.ts';
import { deleteFailedDocuments, updateIssueDate } from '../domain/delivery/documents-store.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { takeIds } from '../domain/tenants/numbers-store.ts';
import { getTerm, markStale, type Term, updateTermStage } from '../domain/terms/store.ts';
import { auditTerm } from '../jobs/audit-step.ts';
import type {
  ChunkResult,
  Finish,
  Plan,
  Step,
  StepJob,
  StepRequest,
  Worked,
} from '../jobs/step.ts';
import { missingText } from './term-state.ts';

export const unpostBillsStep: Step = { operation: 'unpost-bills', check, prepare, work, finish };

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  // A term that could not be published at all may be taken back too.
  if (term.status !== 'Posted' || !['Posted', 'Publishing'].includes(term.stage)) {
    throw refusal(term, notPosted(term));
  }
  const { moved, touched, followed } = await findUnpostObstacles(tx, tenantId, term.term_id);
  if (moved > 0) {
    const bills = counted(moved, 'published or cancelled bill');
    throw refusal(term, `Term ${term.label} has ${bills}. Correct bills with cancel-bill.`);
  }
  if (touched > 0) {
    const what = 'a payment, a credit note, a surcharge or an adjustment';
    const or = 'or a balance that changed hands or was settled';
    throw refusal(term, `Term ${term.label} has ${counted(touched, 'bill')} with ${what}, ${or}`);
  }
  if (followed > 0) {
    const bills = counted(followed, 'bill');
    const message = `A later term has billed after ${bills} of term ${term.label}. `;
    throw refusal(term, `${message}Unpost the later term first.`);
  }
}

function notPosted(term: Term): string {
  if (term.status !== 'Published') return missingText(term);
  return `Term ${term.label} is published. Correct single bills with cancel-bill.`;
}

function refusal(term: Term, message: string): AppError {
  return new AppError('INVALID_STATE', {
    message,
    current: { status: term.status, stage: term.stage },
    allowed: ['Posted'],
  });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const total = await countPosted(tx, job.tenant.tenantId, job.termId ?? 0);
  return { chunks: [{ firstId: job.termId ?? 0, lastId: job.termId ?? 0 }], total };
}

async function work(tx: Tx, job: StepJob): Promise<ChunkResult> {
  const { tenantId, timezone } = job.tenant;
  // Payments may have come since it was asked for; from here on they wait.
  await lockPosted(tx, tenantId, job.termId ?? 0);
  await check(tx, job);
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const termId = term.term_id;
  const reason = String(job.parameters.reason ?? '');
  const stamp = { at: job.now, by: job.requestedBy };
  const today = dateIn(job.now, timezone).toString();
  const { journals, entries } = await countToReverse(tx, tenantId, termId);
  await reverseJournals(tx, tenantId, termId, {
    jobId: job.jobId,
    firstJournal: journals === 0 ? 1 : await takeIds(tx, tenantId, 'journal', journals),
    firstEntry: entries === 0 ? 1 : await takeIds(tx, tenantId, 'entry', entries),
    postingDate: today,
    description: `Unposted: ${reason}`,
    stamp,
  });
  await deleteFailedDocuments(tx, tenantId, termId);
  await updateIssueDate(tx, tenantId, termId, null);
  const retired = await retireNumbers(tx, tenantId, termId, reason, stamp);
  await restoreSubscriptions(tx, tenantId, { termId }, { today, stamp });
  const done = await markUnposted(tx, tenantId, { termId, dueDate: term.due_date }, stamp);
  if (retired !== done) throw new Error(`${retired} numbers of ${done} bills were found`);
  await updateReservation(tx, tenantId, { termId, runNumber: term.run_number }, null);
  const isStale = await isOutdated(tx, tenantId, termId);
  const step = { stage: 'Generated', status: 'Open', isStale } as const;
  await updateTermStage(tx, tenantId, termId, step, stamp);
  await auditTerm(tx, job, term, { status: 'Open', stage: 'Generated', reason, bills: done });
  const events = eventsOf('term.unposted', 'termID', [termId]);
  await insertEvents(tx, tenantId, events, job.now);
  await markStale(tx, tenantId, termId, 'others', job.now);
  return { done };
}

async function finish(_tx: Tx, _job: StepJob, worked: Worked): Promise<Finish> {
  return { message: `${counted(worked.done, 'bill')} unposted`, unposted: worked.done };
}
