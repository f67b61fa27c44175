// A job on the wire, with its progress.
import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { jobStatuses, secondsLeft } from '../../jobs/job.ts';
import type { JobRow } from '../../jobs/jobs-store.ts';
import { nullable, timestamp } from '../fields.ts';
import type { Call } from '../operation.ts';

const detail = Type.Object({
  field: nullable(Type.String()),
  code: Type.String(),
  message: Type.String(),
  rejectedValue: Type.Optional(Type.Unknown()),
  position: Type.Optional(Type.Integer()),
});

export const jobView = Type.Object({
  jobID: Type.Integer(),
  operation: Type.String({ description: 'the last part of the path of the operation' }),
  termID: nullable(Type.Integer()),
  billID: nullable(Type.Integer()),
  status: Type.String({ description: jobStatuses.join(', ') }),
  sheduleTime: nullable(Type.String({ description: 'YYYY-MM-DDTHH:MM:SS' })),
  dueAt: timestamp,
  startedAt: nullable(timestamp),
  finishedAt: nullable(timestamp),
  progress: Type.Object({
    done: Type.Integer(),
    total: Type.Integer(),
    secondsLeft: nullable(Type.Integer({ description: 'at the pace so far' })),
  }),
  message: nullable(Type.String({ description: 'of a job that succeeded' })),
  error: nullable(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      field: nullable(Type.String()),
      details: Type.Array(detail),
    }),
  ),
  requestedBy: Type.String(),
  createdAt: timestamp,
});

export function presentJob(row: JobRow, { tenant, now }: Pick<Call, 'tenant' | 'now'>) {
  const time = (at: Temporal.Instant | null) => at && formatTimestamp(at, tenant.timezone);
  const { done, total } = row;
  const isRunning = row.status === 'Running' && row.started_at !== null;
  const elapsed = isRunning ? (row.started_at?.until(now).total('seconds') ?? 0) : 0;
  const left = isRunning ? secondsLeft({ done, total }, elapsed) : null;
  return {
    jobID: row.job_id,
    operation: row.operation,
    termID: row.term_id,
    billID: row.bill_id,
    status: row.status,
    sheduleTime: row.schedule_time,
    dueAt: formatTimestamp(row.due_at, tenant.timezone),
    startedAt: time(row.started_at),
    finishedAt: time(row.finished_at),
    progress: { done, total, secondsLeft: left },
    message: row.outcome?.message ?? null,
    error: row.error && {
      code: row.error.code,
      message: row.error.message,
      field: row.error.field,
      details: row.error.details,
    },
    requestedBy: row.requested_by,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
  };
}
