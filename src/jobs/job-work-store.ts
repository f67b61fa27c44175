// The statements of workers about jobs: which workspaces have work, which worker has which chunk,
// and what is done.

import { rethrowViolation } from '../base/db/faults.ts';
import type { Tx } from '../base/db/pool.ts';
import { sql } from '../base/db/sql.ts';
import type { JobError } from './job.ts';
import { alreadyRunning, wakeWorkers } from './jobs-store.ts';

/** Workspaces in which a job is due or running, by the clock of the machine. */
export async function listBusyWorkspaces(tx: Tx, now: Temporal.Instant): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from workspace_jobs where next_job_at <= ${now} order by tenant_id
  `.execute(tx);
  return rows.map((row) => row.tenant_id);
}

/**
 * Stores in the registry when the workspace has its next job. Its row is locked first, which waits
 * for a job that is being requested; a job that is requested later changes the time itself.
 */
export async function noteNextJob(
  tx: Tx,
  tenantId: number,
  options: { clockOffsetMs: number; notBefore: Temporal.Instant | null },
): Promise<void> {
  await sql`
    select 1 from workspace_jobs where tenant_id = ${tenantId} for no key update
  `.execute(tx);
  await sql`
    update workspace_jobs w
    set next_job_at = next.at
    from (
      select greatest(min(due.at), case when count(*) > 0
        then ${options.notBefore}::timestamptz end) as at
      from (
        select case when status = 'Running' or is_immediate then '-infinity'::timestamptz else
          due_at - make_interval(secs => ${options.clockOffsetMs}::bigint / 1000.0) end as at
        from jobs
        where tenant_id = ${tenantId} and status in ('Scheduled', 'Running')
      ) due
    ) next
    where w.tenant_id = ${tenantId} and w.next_job_at is distinct from next.at
  `.execute(tx);
}

export type OpenJobRow = { job_id: number; status: 'Scheduled' | 'Running' };

/** Running ones first, then those that are due, in the order in which they fell due. */
export async function listOpenJobs(
  tx: Tx,
  tenantId: number,
  options: { now: Temporal.Instant; limit: number },
): Promise<OpenJobRow[]> {
  const { rows } = await sql<OpenJobRow>`
    select job_id, status from jobs
    where tenant_id = ${tenantId} and status in ('Scheduled', 'Running')
      and (status = 'Running' or is_immediate or due_at <= ${options.now})
    order by status = 'Scheduled', due_at, job_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export type EndedJobRow = {
  job_id: number;
  operation: string;
  term_id: number | null;
  bill_id: number | null;
  parameters: Record<string, unknown>;
  requested_by: string;
  /** If the job was to begin at once: when it was requested. */
  asked_at: Temporal.Instant | null;
  total: number;
};

/** `backend_pid` is the connection that holds the job. */
export type HeldJobRow = EndedJobRow & { backend_pid: number };

const jobColumns = `j.job_id, j.operation, j.term_id, j.bill_id, j.parameters,
  j.requested_by, case when j.is_immediate then j.created_at end as asked_at, j.total`;
const heldColumns = sql.raw(`${jobColumns}, pg_backend_pid() as backend_pid`);

/** A job that may begin now; undefined where another worker has it or its term is taken. */
export async function holdDueJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
  now: Temporal.Instant,
): Promise<HeldJobRow | undefined> {
  const { rows } = await sql<HeldJobRow>`
    select ${heldColumns} from jobs j
    where j.tenant_id = ${tenantId} and j.job_id = ${jobId} and j.status = 'Scheduled'
      and (j.is_immediate or j.due_at <= ${now})
      and not exists (
        select from jobs o
        where o.tenant_id = ${tenantId} and o.term_id = j.term_id and o.job_id <> j.job_id
          and (o.status = 'Running' or (o.status = 'Scheduled' and o.is_immediate))
      )
    for no key update of j skip locked
  `.execute(tx);
  return rows[0];
}

/** A running job of which every chunk is done. */
export async function holdWorkedJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
): Promise<HeldJobRow | undefined> {
  const { rows } = await sql<HeldJobRow>`
    select ${heldColumns} from jobs j
    where j.tenant_id = ${tenantId} and j.job_id = ${jobId} and j.status = 'Running'
      and not exists (
        select from job_chunks k
        where k.tenant_id = ${tenantId} and k.job_id = j.job_id and not k.is_done
      )
    for no key update of j skip locked
  `.execute(tx);
  return rows[0];
}

/** Whether the job has not ended, and does not before the transaction has. */
export async function holdRunningJob(tx: Tx, tenantId: number, jobId: number): Promise<boolean> {
  const { rows } = await sql`
    select from jobs
    where tenant_id = ${tenantId} and job_id = ${jobId} and status = 'Running'
    for share
  `.execute(tx);
  return rows.length > 0;
}

export type HeldChunkRow = HeldJobRow & { chunk: number; first_id: number; last_id: number };

/**
 * Holds the next chunk that no worker holds. The job cannot end while the chunk is held; several
 * chunks of it can be held at once.
 */
export async function holdChunk(
  tx: Tx,
  tenantId: number,
  jobId: number,
): Promise<HeldChunkRow | undefined> {
  const { rows: chunks } = await sql<{ chunk: number; first_id: number; last_id: number }>`
    select chunk, first_id, last_id from job_chunks
    where tenant_id = ${tenantId} and job_id = ${jobId} and not is_done
    order by chunk
    limit 1
    for no key update skip locked
  `.execute(tx);
  const chunk = chunks[0];
  if (!chunk) return undefined;
  const { rows } = await sql<HeldJobRow>`
    select ${heldColumns} from jobs j
    where j.tenant_id = ${tenantId} and j.job_id = ${jobId} and j.status = 'Running'
    for share of j
  `.execute(tx);
  return rows[0] && { ...rows[0], ...chunk };
}

export async function startJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
  start: { at: Temporal.Instant; total: number },
): Promise<void> {
  await sql`
    update jobs set status = 'Running', started_at = ${start.at}, total = ${start.total}
    where tenant_id = ${tenantId} and job_id = ${jobId} and status = 'Scheduled'
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, { jobs_one_per_term: () => alreadyRunning(null) }));
}

/**
 * Notifies the other workers, which found nothing to do while the job was being begun. A single
 * chunk is done by the worker that began the job.
 */
export async function insertChunks(
  tx: Tx,
  tenantId: number,
  jobId: number,
  chunks: readonly { firstId: number; lastId: number }[],
): Promise<void> {
  if (chunks.length === 0) return;
  await sql`
    insert into job_chunks (tenant_id, job_id, chunk, first_id, last_id)
    select own.tenant_id, ${jobId}, c.chunk, c.first_id, c.last_id
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${chunks.map((chunk) => chunk.firstId)}::bigint[],
      ${chunks.map((chunk) => chunk.lastId)}::bigint[]
    ) with ordinality as c (first_id, last_id, chunk)
  `.execute(tx);
  if (chunks.length === 1) return;
  await wakeWorkers(tx);
}

export async function finishChunk(
  tx: Tx,
  tenantId: number,
  key: { jobId: number; chunk: number },
  end: { done: number; outcome: object | null; error: { code: string; message: string } | null },
): Promise<void> {
  await sql`
    update job_chunks
    set is_done = true, done = ${end.done}, outcome = ${json(end.outcome)}::jsonb,
      error = ${json(end.error)}::jsonb
    where tenant_id = ${tenantId} and job_id = ${key.jobId} and chunk = ${key.chunk}
  `.execute(tx);
}

export type WorkedChunkRow = {
  chunk: number;
  done: number;
  outcome: object | null;
  error: { code: string; message: string } | null;
};

export async function listWorkedChunks(
  tx: Tx,
  tenantId: number,
  jobId: number,
): Promise<WorkedChunkRow[]> {
  const { rows } = await sql<WorkedChunkRow>`
    select chunk, done, outcome, error from job_chunks
    where tenant_id = ${tenantId} and job_id = ${jobId}
    order by chunk
  `.execute(tx);
  return rows;
}

/**
 * Ends a job: deletes the rows that it carried, and stores how much its chunks have done. Undefined
 * if it had ended before.
 */
export async function endJob(
  tx: Tx,
  tenantId: number,
  jobId: number,
  end: {
    status: 'Succeeded' | 'Failed';
    at: Temporal.Instant;
    outcome: object | null;
    error: JobError | null;
  },
): Promise<EndedJobRow | undefined> {
  const { rows } = await sql<EndedJobRow>`
    update jobs j
    set status = ${end.status}, started_at = coalesce(started_at, ${end.at}),
      finished_at = ${end.at}, outcome = ${json(end.outcome)}::jsonb,
      error = ${json(end.error)}::jsonb, parameters = parameters - 'rows',
      done = (
        select coalesce(sum(k.done), 0) from job_chunks k
        where k.tenant_id = ${tenantId} and k.job_id = ${jobId}
      )
    where j.tenant_id = ${tenantId} and j.job_id = ${jobId}
      and j.status in ('Scheduled', 'Running')
    returning ${sql.raw(jobColumns)}
  `.execute(tx);
  await sql`
    delete from job_chunks where tenant_id = ${tenantId} and job_id = ${jobId}
  `.execute(tx);
  await sql`
    delete from chunk_attempts
    where tenant_id = ${tenantId} and job_id = ${jobId} and chunk > 0
  `.execute(tx);
  return rows[0];
}

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
