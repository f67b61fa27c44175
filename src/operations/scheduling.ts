// What the operations that ask for a step of the bill run share: the fields of the request, the job
// that is stored, and the wait for its end.
import { setTimeout as sleep } from 'node:timers/promises';
import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { formatTimestamp, parseLocalDateTime } from '../base/calendar.ts';
import { isUnavailable } from '../base/db/faults.ts';
import { AppError, type ErrorCode } from '../base/errors.ts';
import { refusalOf } from '../jobs/job.ts';
import { findJob, type JobRow } from '../jobs/jobs-store.ts';
import { scheduleStep } from '../jobs/schedule-step.ts';
import type { Step } from '../jobs/step.ts';
import { maybe, oneOf } from './fields.ts';
import type { Answer, Call, Settling } from './operation.ts';

Format.Set('schedule-time', (text) => text === '' || parseLocalDateTime(text) !== undefined);

/** The field `operation` of a step's request, whose only value is `schedule`. */
export const scheduleOperation = oneOf(['schedule'], 'INVALID_OPERATION');

/** The API spells it without the c. */
export const sheduleTime = maybe(
  Type.String({
    format: 'schedule-time',
    maxLength: 19,
    'x-code': 'INVALID_DATETIME',
    description:
      'YYYY-MM-DDTHH:MM:SS or YYYY-MM-DD HH:MM:SS ' +
      "in the workspace's time zone; null, '' or the past is now",
  }),
);

/** What any step may answer besides what its own guards say. */
export const stepErrors: readonly ErrorCode[] = [
  'INVALID_OPERATION',
  'TERM_NOT_FOUND',
  'INVALID_STATE',
  'JOB_ALREADY_RUNNING',
  'SCHEDULE_TOO_FAR',
];

export type StepCall = {
  termId: number;
  billId?: number | null;
  parameters?: Record<string, unknown>;
  sheduleTime: string | null | undefined;
  /** Of the parameters, what the trail of changes should tell. */
  audited?: object;
};

/** Stores the job of a step. Its answer is used if the job does not end in time. */
export async function requestStep(
  call: Call,
  step: Step,
  asked: StepCall,
): Promise<Answer<Record<string, never>>> {
  const { tenant, now, principal } = call;
  const request = {
    tenant,
    now,
    requestedBy: principal.name,
    termId: asked.termId,
    billId: asked.billId ?? null,
    parameters: asked.parameters ?? {},
  };
  const { jobId, dueAt, isImmediate } = await scheduleStep(
    call.tx,
    step,
    request,
    asked.sheduleTime,
  );
  const dueTime = formatTimestamp(dueAt, tenant.timezone);
  call.audit({
    subject: 'job',
    subjectId: jobId,
    before: null,
    after: { operation: step.operation, termID: asked.termId, dueAt: dueTime, ...asked.audited },
  });
  const message = isImmediate ? 'accepted' : `scheduled for ${dueTime}`;
  return { message, data: {}, ids: { jobId } };
}

const firstPauseMs = 25;
const pauseMsMax = 250;

/**
 * Waits for the end of a job that is due and answers with its outcome. Undefined when it has not
 * ended in time, or is to begin later.
 */
export async function awaitJob(
  call: Settling,
  jobId: number,
): Promise<Answer<Record<string, never>> | undefined> {
  const deadlineMs = performance.now() + call.waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, pauseMsMax)) {
    const job = await lookAt(call, jobId);
    const outcome = job && outcomeOf(job);
    if (outcome) return outcome;
    if (job && isForLater(job)) return undefined;
    if (call.isClosing() || performance.now() + pauseMs > deadlineMs) return undefined;
    await sleep(pauseMs);
  }
}

/** The job goes on while the database does not answer. */
async function lookAt(call: Settling, jobId: number): Promise<JobRow | undefined> {
  try {
    return await call.read((tx) => findJob(tx, call.tenant.tenantId, jobId));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return undefined;
  }
}

function isForLater(job: JobRow): boolean {
  return job.status === 'Scheduled' && !job.is_immediate;
}

function outcomeOf(job: JobRow): Answer<Record<string, never>> | undefined {
  switch (job.status) {
    case 'Succeeded':
      return { message: job.outcome?.message ?? 'done', data: {} };
    case 'Failed':
      throw job.error ? refusalOf(job.error) : new AppError('INTERNAL_ERROR');
    case 'Cancelled':
      throw new AppError('INVALID_STATE', {
        message: `The job ${job.job_id} was cancelled before it began`,
        current: 'Cancelled',
      });
    default:
      return undefined;
  }
}
