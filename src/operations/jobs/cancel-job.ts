import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { steps } from '../../billrun/steps.ts';
import { cancelJob, findJob, type JobRow } from '../../jobs/jobs-store.ts';
import { empty, id } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { scheduleOperation } from '../scheduling.ts';

export const cancelJobOperation = operation({
  path: '/billing/jobs/cancel-job',
  method: 'Update',
  action: 'Cancel Job',
  access: { permission: 'terms:write' },
  summary: 'Cancels a job that has not begun.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({ jobID: id }),
  }),
  response: empty,
  errors: ['INVALID_OPERATION', 'JOB_NOT_FOUND', 'INVALID_STATE'],
  example: { data: { jobID: 1 } },
  async handle(call, { data }) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const isCancelled = await cancelJob(tx, tenantId, data.jobID, call.now);
    const job = await findJob(tx, tenantId, data.jobID);
    if (!job) {
      const message = `No job has the id ${data.jobID}`;
      throw new AppError('JOB_NOT_FOUND', { message, field: 'data.jobID' });
    }
    if (!isCancelled) {
      throw new AppError('INVALID_STATE', {
        message: `Job ${job.job_id} is ${job.status}. Only a Scheduled job can be cancelled`,
        current: job.status,
        allowed: ['Scheduled'],
      });
    }
    const rest = await noteCancelled(call, job);
    call.audit({
      subject: 'job',
      subjectId: job.job_id,
      before: { status: 'Scheduled' },
      after: { status: 'Cancelled' },
    });
    const told = rest === null ? '' : `; ${rest}`;
    return { message: `Job ${job.job_id} is cancelled${told}`, data: {} };
  },
});

async function noteCancelled(
  { tx, tenant, now }: Call,
  { job_id: jobId, operation: name, ...job }: JobRow,
): Promise<string | null> {
  const { requested_by: requestedBy, term_id: termId, bill_id: billId } = job;
  const request = { tenant, now, requestedBy, termId, billId, parameters: {} };
  return (await steps.get(name)?.cancelled?.(tx, { ...request, jobId })) ?? null;
}
