// A scheduled step of a bill run: its operation, status and outcome.
import { AppError, type ErrorCode, type ErrorDetail } from '../base/errors.ts';

export const jobStatuses = ['Scheduled', 'Running', 'Succeeded', 'Failed', 'Cancelled'] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** Why a job failed, as it is stored and shown. */
export type JobError = {
  code: ErrorCode;
  message: string;
  field: string | null;
  allowed?: readonly unknown[];
  current?: unknown;
  statusCode: number;
  details: ErrorDetail[];
};

export function jobErrorOf(error: AppError): JobError {
  return {
    code: error.code,
    message: error.message,
    field: error.field,
    ...(error.allowed === null ? {} : { allowed: error.allowed }),
    ...(error.current === undefined ? {} : { current: error.current }),
    statusCode: error.statusCode,
    details: error.details,
  };
}

/** The same error again, for a caller who waits for the job. */
export function refusalOf(error: JobError): AppError {
  const { code, message, field, allowed, current, statusCode, details } = error;
  return new AppError(code, {
    message,
    details,
    statusCode,
    ...(field === null ? {} : { field }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(current === undefined ? {} : { current }),
  });
}

/**
 * The seconds left at the pace so far; null if the pace is not known yet. In the first moments this
 * is a rough estimate.
 */
export function secondsLeft(
  progress: { done: number; total: number },
  elapsedSeconds: number,
): number | null {
  if (progress.done <= 0 || progress.total <= 0) return null;
  const left = Math.max(0, progress.total - progress.done);
  return Math.ceil((left * Math.max(0, elapsedSeconds)) / progress.done);
}
