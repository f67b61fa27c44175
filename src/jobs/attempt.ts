// One chunk of a job, tried by one worker: held, worked on and recorded in one transaction, so that
// all of it is done or nothing. A second connection records which worker tries it, because a worker
// that dies cannot report that itself.
import { isOutOfSpace, isRetryable, isUnavailable } from '../base/db/faults.ts';
import { type Database, type Tx, tenantTransact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { traced } from '../base/tracing.ts';
import {
  type Attempt,
  deleteAttempt,
  deleteAttempts,
  insertAttempt,
  listAttempts,
  updateAttemptError,
} from './attempts-store.ts';

/** A chunk that failed or killed its worker this often is given up. */
export const attemptsMax = 3;
const errorLengthMax = 1_000;

export type Crew = {
  database: Database;
  log: Log;
  /** The name of this worker, which operators see. */
  worker: string;
  /** What this worker is trying now, by tenant: renewed as long as it lives. */
  trying: Map<Attempt, number>;
  /**
   * Attempts that ended through a failure of the database, which therefore could not store it. They
   * do not count against the chunk.
   */
  unnoted: Map<Attempt, number>;
};

export type Trial<Held> = {
  tenantId: number;
  jobId: number;
  /** Locks the row of the chunk. Undefined if another worker has it: then nothing is done. */
  hold(tx: Tx): Promise<(Held & HeldPart) | undefined>;
  /** Does the work of the chunk. */
  work(tx: Tx, held: Held): Promise<void>;
  /** Called instead of `work` after `attemptsMax` failed attempts. */
  giveUp(tx: Tx, held: Held, reason: string): Promise<void>;
};

type HeldPart = { backend_pid: number; chunk: number; operation: string };

/**
 * `done`: the chunk is done or given up, and that is stored. `failed`: it is tried again. `away`:
 * the database did not answer, or ended the connection. `nothing`: another worker has the chunk.
 * An AppError of the work is thrown, with nothing left behind.
 */
export type TrialEnd = 'done' | 'failed' | 'away' | 'nothing';

export async function tryChunk<Held>(crew: Crew, trial: Trial<Held>): Promise<TrialEnd> {
  const { tenantId, jobId } = trial;
  let attempt: Attempt | undefined;
  try {
    await noteEnded(crew, tenantId);
    return await tenantTransact(crew.database, tenantId, async (tx) => {
      const held = await trial.hold(tx);
      if (!held) return 'nothing';
      const key = { jobId, chunk: held.chunk };
      const earlier = await listAttempts(tx, tenantId, key);
      const mine = { ...key, attempt: (earlier[0]?.attempt ?? 0) + 1 };
      if (earlier.length >= attemptsMax) {
        const reason = earlier.find((one) => one.error !== null)?.error;
        await trial.giveUp(tx, held, reason ?? 'the worker ended before the chunk was done');
        await deleteAttempts(tx, tenantId, mine);
        return 'done';
      }
      await tenantTransact(crew.database, tenantId, (other) =>
        insertAttempt(other, tenantId, mine, {
          worker: crew.worker,
          backendPid: held.backend_pid,
        }),
      );
      attempt = mine;
      crew.trying.set(mine, tenantId);
      await traced(partOf(trial, held), () => trial.work(tx, held));
      const isMine = await deleteAttempts(tx, tenantId, mine);
      if (!isMine) throw new Error('the chunk was taken away while it was worked on');
      return 'done';
    });
  } catch (error) {
    return await explain(crew, trial, attempt, error);
  } finally {
    if (attempt) crew.trying.delete(attempt);
  }
}

function partOf({ tenantId, jobId }: Trial<unknown>, { operation, chunk }: HeldPart) {
  const attributes = {
    'billwright.tenant_id': tenantId,
    'billwright.job_id': jobId,
    'billwright.chunk': chunk,
  };
  return { name: `job ${operation}`, kind: 'consumer' as const, attributes };
}

async function explain<Held>(
  crew: Crew,
  trial: Trial<Held>,
  attempt: Attempt | undefined,
  error: unknown,
): Promise<TrialEnd> {
  if (isOutOfSpace(error)) return explain(crew, trial, attempt, outOfSpace());
  const { tenantId, jobId } = trial;
  const isPassing = isUnavailable(error) || isRetryable(error);
  if (attempt) {
    const isFaultless = isPassing || error instanceof AppError;
    const note = isFaultless
      ? (tx: Tx) => deleteAttempt(tx, tenantId, attempt)
      : (tx: Tx) => updateAttemptError(tx, tenantId, attempt, textOf(error));
    // Until it is noted it counts as dead, which is what others see of it.
    await tenantTransact(crew.database, tenantId, note).catch(() => {
      if (isFaultless) crew.unnoted.set(attempt, tenantId);
    });
  }
  if (error instanceof AppError) throw error;
  const about = { err: error, tenantId, jobId, chunk: attempt?.chunk, worker: crew.worker };
  if (isPassing) {
    const fenced = isConnectionLost(error);
    crew.log.warn({ ...about, fenced }, fenced ? 'fenced: the chunk is no longer held' : 'put off');
    return 'away';
  }
  crew.log.error(about, 'a chunk of a job failed');
  return 'failed';
}

/** A database that crashes three times over a chunk must not look like a chunk that kills. */
async function noteEnded({ database, unnoted }: Crew, tenantId: number): Promise<void> {
  // Another workspace may be on a machine that is away.
  const own = [...unnoted].filter(([, owner]) => owner === tenantId);
  for (const [attempt] of own) {
    await tenantTransact(database, tenantId, (tx) => deleteAttempt(tx, tenantId, attempt));
    unnoted.delete(attempt);
  }
}

/** Retries would only fill the log: the job ends, and continues when it is requested again. */
function outOfSpace(): AppError {
  return new AppError('UNAVAILABLE', {
    message: 'The disk of the database is full: make room, then ask for the step again',
  });
}

/** The connection that locked the chunk was lost, and the lock with it: another may have it now. */
function isConnectionLost(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  return code === '57P01' || /terminated|not queryable/i.test(message);
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, errorLengthMax).replaceAll('\0', '');
}
