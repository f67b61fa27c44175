// Which worker tries which chunk of a job, and which workers died while trying.

import type { Tx } from '../base/db/pool.ts';
import { sql } from '../base/db/sql.ts';

/** A chunk of a job by its number; 0 is the beginning of the job, -1 its end. */
export type ChunkKey = { jobId: number; chunk: number };
export type Attempt = ChunkKey & { attempt: number };

/** Earlier attempts that did not succeed, newest first. */
export async function listAttempts(
  tx: Tx,
  tenantId: number,
  key: ChunkKey,
): Promise<{ attempt: number; error: string | null }[]> {
  const { rows } = await sql<{ attempt: number; error: string | null }>`
    select attempt, error from chunk_attempts
    where tenant_id = ${tenantId} and job_id = ${key.jobId} and chunk = ${key.chunk}
    order by attempt desc
  `.execute(tx);
  return rows;
}

/**
 * Makes the transaction a quick one. It need not survive a crash of the database. A worker that
 * stops inside it loses it soon: its locked row would block the worker that continues.
 */
function beQuick(tx: Tx): Promise<unknown> {
  return sql`
    select set_config('synchronous_commit', 'off', true),
      set_config('idle_in_transaction_session_timeout', '3s', true)
  `.execute(tx);
}

/**
 * Noted by a connection of its own before the work begins. A crash of the database ends the work
 * too, and is no fault of the chunk.
 */
export async function insertAttempt(
  tx: Tx,
  tenantId: number,
  attempt: Attempt,
  by: { worker: string; backendPid: number },
): Promise<void> {
  const inserted = sql`
    insert into chunk_attempts (tenant_id, job_id, chunk, attempt, worker, backend_pid)
    values (${tenantId}, ${attempt.jobId}, ${attempt.chunk}, ${attempt.attempt}, ${by.worker},
      ${by.backendPid})
  `;
  await Promise.all([beQuick(tx), inserted.execute(tx)]);
}

/** All attempts at a chunk that is done. False where this one is not among them any more. */
export async function deleteAttempts(tx: Tx, tenantId: number, attempt: Attempt): Promise<boolean> {
  const { rows } = await sql<{ attempt: number }>`
    delete from chunk_attempts
    where tenant_id = ${tenantId} and job_id = ${attempt.jobId} and chunk = ${attempt.chunk}
    returning attempt
  `.execute(tx);
  return rows.some((row) => row.attempt === attempt.attempt);
}

/** Deletes an attempt that ended for a reason outside of the chunk, so that it does not count. */
export async function deleteAttempt(tx: Tx, tenantId: number, attempt: Attempt): Promise<void> {
  await sql`
    delete from chunk_attempts
    where tenant_id = ${tenantId} and job_id = ${attempt.jobId} and chunk = ${attempt.chunk}
      and attempt = ${attempt.attempt}
  `.execute(tx);
}

export async function updateAttemptError(
  tx: Tx,
  tenantId: number,
  attempt: Attempt,
  error: string,
): Promise<void> {
  await sql`
    update chunk_attempts set error = ${error}
    where tenant_id = ${tenantId} and job_id = ${attempt.jobId} and chunk = ${attempt.chunk}
      and attempt = ${attempt.attempt}
  `.execute(tx);
}

/** By the clock of the database, which all workers share. */
export async function renewAttempts(
  tx: Tx,
  tenantId: number,
  attempts: readonly Attempt[],
): Promise<void> {
  const renewed = sql`
    update chunk_attempts a set seen_at = now()
    from unnest(
      ${attempts.map((one) => one.jobId)}::bigint[],
      ${attempts.map((one) => one.chunk)}::integer[],
      ${attempts.map((one) => one.attempt)}::integer[]
    ) as l (job_id, chunk, attempt)
    where a.tenant_id = ${tenantId} and a.job_id = l.job_id and a.chunk = l.chunk
      and a.attempt = l.attempt
  `;
  await Promise.all([beQuick(tx), renewed.execute(tx)]);
}

/**
 * Frees the chunks of workers of the workspace that is entered, without a heartbeat for so long;
 * returns the jobs of these chunks.
 */
export async function endLostAttempts(tx: Tx, leaseSeconds: number): Promise<number[]> {
  const { rows } = await sql<{ job_id: number }>`
    select end_lost_attempts(make_interval(secs => ${leaseSeconds}::double precision)) as job_id
  `.execute(tx);
  return rows.map((row) => row.job_id);
}
