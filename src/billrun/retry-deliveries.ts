// Mails that could not be handed over are tried again, by jobs that schedule each other until
// nothing waits any more.

import { type Tx, tenantTransact } from '../base/db/pool.ts';
import { retrySeconds } from '../base/mail/result.ts';
import {
  failCancelled,
  failUnplanned,
  findNextAttempt,
  putOffPrints,
} from '../domain/delivery/sending-store.ts';
import {
  cutWaiting,
  doubtDeliveries,
  failWaiting,
  listWaitingBills,
} from '../domain/delivery/store.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { getTerm } from '../domain/terms/store.ts';
import { cancelScheduledOperation, insertJob } from '../jobs/jobs-store.ts';
import type {
  Chunk,
  ChunkResult,
  Finish,
  Plan,
  Step,
  StepJob,
  StepRequest,
  Worked,
} from '../jobs/step.ts';
import type { Tools } from '../jobs/tools.ts';
import { printBills } from './print-bills.ts';
import { countsText, type MailCounts, sendMails } from './send-mails.ts';

const operation = 'retry-deliveries';
const chunkSize = 200;

/** After a job that failed: its cause may last, and is not to fill the list of jobs. */
const pauseMinutes = 15;

export const retryDeliveriesStep: Step = {
  operation,
  check,
  prepare,
  work,
  finish,
  setAside,
  failed: scheduleRetryLater,
  cancelled,
};

/** Conditions were checked when the deliveries were requested; only the term must still exist. */
async function check(tx: Tx, request: StepRequest): Promise<void> {
  await getTerm(tx, request.tenant.tenantId, request.termId ?? 0, { lock: 'update' });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  await failCancelled(tx, tenantId, termId, job.now);
  return cutWaiting(tx, tenantId, { termId, now: job.now }, chunkSize);
}

async function work(tx: Tx, job: StepJob, chunk: Chunk, tools: Tools): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const { billIds, uncertain } = await tenantTransact(tools.database, tenantId, async (own) => {
    const waiting = await listWaitingBills(own, tenantId, job.termId ?? 0, chunk);
    return { billIds: waiting, uncertain: await doubtDeliveries(own, tenantId, waiting, job.now) };
  });
  const mails = await sendMails(tx, tools, job, billIds);
  const outcome: MailCounts = { ...mails, uncertain: mails.uncertain + uncertain };
  return { done: billIds.length, outcome };
}

async function setAside(tx: Tx, job: StepJob, chunk: Chunk, reason: string): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const billIds = await listWaitingBills(tx, tenantId, termId, chunk);
  const uncertain = await doubtDeliveries(tx, tenantId, billIds, job.now);
  const given = { termId, range: chunk };
  const failed = await failWaiting(tx, tenantId, given, `Given up: ${reason}`, job.now);
  const outcome: MailCounts = { sent: 0, failed, uncertain, waiting: 0 };
  return { done: 0, outcome };
}

async function finish(tx: Tx, job: StepJob, worked: Worked, tools: Tools): Promise<Finish> {
  const { printed, failed, files } = await printBills(tx, job, tools);
  if (worked.setAside.length === 0) await scheduleRetry(tx, job);
  const outcomes = worked.outcomes as MailCounts[];
  const sum = (pick: keyof MailCounts) => outcomes.reduce((total, one) => total + one[pick], 0);
  const counts = {
    sent: sum('sent'),
    printed,
    failed: sum('failed') + failed,
    uncertain: sum('uncertain'),
    waiting: sum('waiting'),
  };
  return { message: countsText(counts), ...counts, files };
}

/** The job has failed and sends nothing any more. What waits goes with the next. */
export async function scheduleRetryLater(tx: Tx, job: StepJob): Promise<void> {
  await putOffPrints(tx, job.tenant.tenantId, job.termId ?? 0, retrySeconds, job.now);
  await scheduleRetry(tx, job, job.now.add({ minutes: pauseMinutes }));
}

/** No other job would try the waiting deliveries again, so they fail. */
async function cancelled(tx: Tx, job: StepJob): Promise<string | null> {
  const reason = `Job ${job.jobId}, which should send it, was cancelled`;
  const failed = await failUnplanned(tx, job.tenant.tenantId, job.termId ?? 0, reason, job.now);
  return failed === 0 ? null : `${failed} that waited for it will not be sent`;
}

/** Schedules one job for the next mail that is due, in place of the one scheduled before. */
export async function scheduleRetry(
  tx: Tx,
  job: StepJob,
  earliest: Temporal.Instant = job.now,
): Promise<void> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  await cancelScheduledOperation(tx, tenantId, { termId, operation, notId: job.jobId }, job.now);
  const nextAt = await findNextAttempt(tx, tenantId, termId);
  if (nextAt === null) return;
  const dueAt = Temporal.Instant.compare(nextAt, earliest) < 0 ? earliest : nextAt;
  const jobId = await takeNumbers(tx, tenantId, 'job', 1);
  const retry = {
    jobId,
    operation,
    termId,
    billId: null,
    isImmediate: false,
    parameters: {},
    scheduleTime: null,
    dueAt,
  };
  await insertJob(tx, tenantId, retry, { at: job.now, by: job.requestedBy });
}
