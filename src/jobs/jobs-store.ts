import { rethrowViolation } from '../base/db/faults.ts';
import type { Tx } from '../base/db/pool.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import type { Stamp } from '../base/stamp.ts';
import type { JobError, JobStatus } from './job.ts';

export type JobRow = {
  job_id: number;
  operation: string;
  term_id: number | null;
  bill_id: number | null;
  status: JobStatus;
  is_immediate: boolean;
  schedule_time: string | null;
  due_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  finished_at: Temporal.Instant | null;
  done: number;
  total: number;
  error: JobError | null;
  outcome: (object & { message?: string }) | null;
  requested_by: string;
  created_at: Temporal.Instant;
};

/**
 * Progress of a running job is counted from its chunks, so that its workers do not all write one
 * row.
 */
const columns = (
  tenantId: number,
) => sql`j.job_id, j.operation, j.term_id, j.bill_id, j.status, j.is_immediate,
  j.schedule_time, j.due_at, j.started_at, j.finished_at, j.total, j.error, j.outcome,
  j.requested_by, j.created_at,
  case when j.status = 'Running' then (
    select coalesce(sum(k.done), 0) from job_chunks k
    where k.tenant_id = ${tenantId} and k.job_id = j.job_id
  ) else j.done end as done`;

export type NewJob = {
  jobId: number;
  operation: string;
  termId: number | null;
  billId: number | null;
  isImmediate: boolean;
  parameters: object;
  scheduleTime: string | null;
  dueAt: Temporal.Instant;
};

export async function insertJob(
  tx: Tx,
  tenantId: number,
  job: NewJob,
  stamp: Stamp,
): Promise<void> {
  const inserted = sql`
    insert into jobs (
      tenant_id, job_id, operation, term_id, bill_id, status, is_immediate, parameters,
      schedule_time, due_at, requested_by, created_at
    )
    values (
      ${tenantId}, ${job.jobId}, ${job.operation}, ${job.termId}, ${job.billId}, 'Scheduled',
      ${job.isImmediate}, ${JSON.stringify(job.parameters)}::jsonb, ${job.scheduleTime},
      ${job.dueAt}, ${stamp.by}, ${stamp.at}
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, { jobs_one_per_term: () => alreadyRunning(job.termId) }),
    );
  await Promise.all([inserted, wakeWorkers(tx)]);
}

/**
 * When the transaction commits. The trigger of the table does so too, but where there are several
 * machines it runs on another one than the workers listen to.
 */
export async function wakeWorkers(tx: Tx): Promise<void> {
  await sql`select pg_notify('billwright_jobs', '')`.execute(tx);
}

/** When a step of a term was last done, and at whose request. */
export async function findLastDone(
  tx: Tx,
  tenantId: number,
  { termId, operation }: { termId: number; operation: string },
): Promise<{ finished_at: Temporal.Instant; requested_by: string } | undefined> {
  const { rows } = await sql<{ finished_at: Temporal.Instant; requested_by: string }>`
    select finished_at, requested_by from jobs
    where tenant_id = ${tenantId} and term_id = ${termId} and operation = ${operation}
      and status = 'Succeeded'
    order by job_id desc
    limit 1
  `.execute(tx);
  return rows[0];
}

export function alreadyRunning(termId: number | null): AppError {
  return new AppError('JOB_ALREADY_RUNNING', {
    message: `A job of term ${termId} is running. Wait for its end; get-jobs shows how far it is.`,
    retryAfterSeconds: 1,
  });
}

/** Whether a job of the term runs, or was requested to begin at once. */
export async function hasRunningJob(tx: Tx, tenantId: number, termId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from jobs
      where tenant_id = ${tenantId} and term_id = ${termId}
        and (status = 'Running' or (status = 'Scheduled' and is_immediate))
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

export async function findJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
): Promise<JobRow | undefined> {
  const { rows } = await sql<JobRow>`
    select ${columns(tenantId)} from jobs j where j.tenant_id = ${tenantId} and j.job_id = ${jobId}
  `.execute(tx);
  return rows[0];
}

/** Whether the job failed through a fault of the server, like a call that ends with 500. */
export async function hasBroken(tx: Tx, tenantId: number, jobId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from jobs
      where tenant_id = ${tenantId} and job_id = ${jobId} and status = 'Failed'
        and coalesce((error ->> 'statusCode')::integer, 500) >= 500
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

export type JobFilter = {
  jobId: number | null;
  termId: number | null;
  status: JobStatus | null;
};

/** Newest first. `beforeId` continues a list after its last row. */
export async function listJobs(
  tx: Tx,
  tenantId: number,
  filter: JobFilter,
  options: { offset: number; limit: number; beforeId?: number },
): Promise<JobRow[]> {
  const rest = options.beforeId === undefined ? sql`true` : sql`j.job_id < ${options.beforeId}`;
  const { rows } = await sql<JobRow>`
    select ${columns(tenantId)} from jobs j
    where ${matches(tenantId, filter)} and ${rest}
    order by j.job_id desc
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countJobs(tx: Tx, tenantId: number, filter: JobFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from jobs j where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: JobFilter) {
  return sql.join(
    [
      sql`j.tenant_id = ${tenantId}`,
      ...(filter.jobId === null ? [] : [sql`j.job_id = ${filter.jobId}`]),
      ...(filter.termId === null ? [] : [sql`j.term_id = ${filter.termId}`]),
      ...(filter.status === null ? [] : [sql`j.status = ${filter.status}`]),
    ],
    sql` and `,
  );
}

/** False where the job has begun, or ended, in the meantime. */
export async function cancelJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
  at: Temporal.Instant,
): Promise<boolean> {
  const { count } = await sql`
    update jobs
    set status = 'Cancelled', finished_at = ${at}, parameters = parameters - 'rows'
    where tenant_id = ${tenantId} and job_id = ${jobId} and status = 'Scheduled'
  `.execute(tx);
  return count === 1;
}

/** Of a term that is no longer billed. */
export async function cancelScheduledJobs(
  tx: Tx,
  tenantId: number,
  termId: number,
  at: Temporal.Instant,
): Promise<number[]> {
  const { rows } = await sql<{ job_id: number }>`
    update jobs
    set status = 'Cancelled', finished_at = ${at}, parameters = parameters - 'rows'
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Scheduled'
      and not is_immediate
    returning job_id
  `.execute(tx);
  return rows.map((row) => row.job_id);
}

/** Jobs of one kind that were planned for a term, in favour of another. */
export async function cancelScheduledOperation(
  tx: Tx,
  tenantId: number,
  of: { termId: number; operation: string; notId: number },
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update jobs set status = 'Cancelled', finished_at = ${at}
    where tenant_id = ${tenantId} and term_id = ${of.termId} and operation = ${of.operation}
      and status = 'Scheduled' and not is_immediate and job_id <> ${of.notId}
  `.execute(tx);
}

/** The outcomes of all jobs of one operation in a term. */
export type StepJobsRow = {
  term_id: number;
  operation: string;
  /** Rows, subscriptions or bills of all jobs that succeeded. */
  done: number;
  /** Of the newest job that succeeded. */
  finished_at: Temporal.Instant | null;
  requested_by: string | null;
  outcome: Record<string, unknown> | null;
  /** Why the newest job failed; null where it did not. */
  error: JobError | null;
};

export async function listStepJobs(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<StepJobsRow[]> {
  if (termIds.length === 0) return [];
  const { rows } = await sql<StepJobsRow>`
    select a.term_id, a.operation, a.done::integer as done, d.finished_at, d.requested_by,
      d.outcome, case when l.status = 'Failed' then l.error end as error
    from (
      select term_id, operation, max(job_id) as last_id,
        max(job_id) filter (where status = 'Succeeded') as done_id,
        coalesce(sum(done) filter (where status = 'Succeeded'), 0) as done
      from jobs
      where tenant_id = ${tenantId} and term_id = any(${[...termIds]}::bigint[])
      group by term_id, operation
    ) a
    join jobs l on l.tenant_id = ${tenantId} and l.job_id = a.last_id
    left join jobs d on d.tenant_id = ${tenantId} and d.job_id = a.done_id
  `.execute(tx);
  return rows;
}

/** The job of each term that runs, or was requested to begin at once. */
export async function listRunningJobs(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<JobRow[]> {
  if (termIds.length === 0) return [];
  const { rows } = await sql<JobRow>`
    select ${columns(tenantId)} from jobs j
    where j.tenant_id = ${tenantId} and j.term_id = any(${[...termIds]}::bigint[])
      and (j.status = 'Running' or (j.status = 'Scheduled' and j.is_immediate))
  `.execute(tx);
  return rows;
}
