// Requests a step: checks its conditions, and stores a job with the time at which it begins.
import { formatLocalDateTime, instantOf, parseLocalDateTime } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { alreadyRunning, hasRunningJob, insertJob } from './jobs-store.ts';
import type { Step, StepRequest } from './step.ts';

const scheduleDaysMax = 366;

export type Schedule = { jobId: number; dueAt: Temporal.Instant; isImmediate: boolean };

/**
 * Stores a job for the step, or refuses it. From here on, a job that is due occupies its term:
 * until it has ended, no second one can be requested.
 */
export async function scheduleStep(
  tx: Tx,
  step: Step,
  request: StepRequest,
  scheduleTime: string | null | undefined,
): Promise<Schedule> {
  const { tenant, now } = request;
  const dueAt = dueInstant(scheduleTime, now, tenant.timezone);
  const isImmediate = Temporal.Instant.compare(dueAt, now) <= 0;
  // Before the guards, which lock the term: a job may hold it for as long as a chunk takes.
  if (isImmediate) await assertNoneRuns(tx, request);
  await step.check(tx, request);
  if (!isImmediate) await step.checkAhead?.(tx, request);
  const jobId = await takeNumbers(tx, tenant.tenantId, 'job', 1);
  const job = {
    jobId,
    operation: step.operation,
    termId: request.termId,
    billId: request.billId,
    isImmediate,
    parameters: request.parameters,
    scheduleTime: inOneForm(scheduleTime),
    dueAt,
  };
  await insertJob(tx, tenant.tenantId, job, { at: now, by: request.requestedBy });
  return { jobId, dueAt, isImmediate };
}

async function assertNoneRuns(tx: Tx, { tenant, termId }: StepRequest): Promise<void> {
  if (termId === null) return;
  if (await hasRunningJob(tx, tenant.tenantId, termId)) throw alreadyRunning(termId);
}

/** Accepted with a T or a space, kept with the T that the contract shows. */
function inOneForm(scheduleTime: string | null | undefined): string | null {
  const local = scheduleTime ? parseLocalDateTime(scheduleTime) : undefined;
  return local ? formatLocalDateTime(local) : null;
}

/** A time that is left out, or in the past, means now. */
export function dueInstant(
  scheduleTime: string | null | undefined,
  now: Temporal.Instant,
  timezone: string,
): Temporal.Instant {
  if (!scheduleTime) return now;
  const local = parseLocalDateTime(scheduleTime);
  if (!local) throw new AppError('INVALID_DATETIME', { field: 'data.sheduleTime' });
  const due = instantOf(local, timezone);
  if (Temporal.Instant.compare(due, now) <= 0) return now;
  const last = now.toZonedDateTimeISO(timezone).add({ days: scheduleDaysMax }).toInstant();
  if (Temporal.Instant.compare(due, last) > 0) {
    throw new AppError('SCHEDULE_TOO_FAR', {
      message: `${scheduleTime} is more than ${scheduleDaysMax} days ahead`,
      field: 'data.sheduleTime',
    });
  }
  return due;
}
