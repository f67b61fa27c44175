import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { jobStatuses, secondsLeft } from '../../jobs/job.ts';
import { countJobs, type JobRow, listJobs } from '../../jobs/jobs-store.ts';
import { fieldsOnly, filterOf, maybe, nullable, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

/** A number that names nothing is no error: it finds nothing. */
const key = maybe(
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-code': 'INVALID_FILTER_VALUE',
  }),
);

const detail = Type.Object({
  field: nullable(Type.String()),
  code: Type.String(),
  message: Type.String(),
  rejectedValue: Type.Optional(Type.Unknown()),
  position: Type.Optional(Type.Integer()),
});

const job = Type.Object({
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

export const getJobs = operation({
  path: '/billing/jobs/get-jobs',
  method: 'Retrieve',
  action: 'Retrieve Jobs',
  access: { permission: 'terms:read' },
  summary: 'Lists the jobs of bill runs, the newest first, with their progress.',
  byKey: ({ jobID }) => Boolean(jobID),
  request: Type.Object({
    jobID: key,
    termID: key,
    status: filterOf(jobStatuses),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ jobs: Type.Array(Type.Partial(job)) }),
  errors: [],
  example: { termID: 1, status: 'Running', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      jobId: body.jobID ?? null,
      termId: body.termID ?? null,
      status: body.status ?? null,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countJobs(tx, tenantId, filter),
      at: (tx, window) => listJobs(tx, tenantId, filter, window),
      after: (tx, { after, limit }) =>
        listJobs(tx, tenantId, filter, {
          offset: 0,
          limit,
          ...(after ? { beforeId: after.job_id } : {}),
        }),
      present: (row: JobRow) => presentJob(row, call),
      wrap: (jobs) => ({ jobs }),
    });
  },
});

function presentJob(row: JobRow, { tenant, now }: Call) {
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
