import * as Type from 'typebox';
import { jobStatuses } from '../../jobs/job.ts';
import { countJobs, type JobRow, listJobs } from '../../jobs/jobs-store.ts';
import { fieldsOnly, filterOf, maybe, page } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';
import { jobView, presentJob } from './job-fields.ts';

/** A number that does not exist is not an error: the list is empty. */
const key = maybe(
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-code': 'INVALID_FILTER_VALUE',
  }),
);

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
  response: Type.Object({ jobs: Type.Array(Type.Partial(jobView)) }),
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
