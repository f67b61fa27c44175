// What a step of the bill run provides. `advance-job.ts` calls it; steps never start each other.
import type { Tx } from '../base/db/pool.ts';
import type { IdRange } from '../base/db/ranges.ts';
import type { JobTenant } from '../domain/tenants/tenant.ts';
import type { Tools } from './tools.ts';

/** A step as it was requested. */
export type StepRequest = {
  tenant: JobTenant;
  /** The workspace's time. */
  now: Temporal.Instant;
  requestedBy: string;
  termId: number | null;
  billId: number | null;
  /** `rows` is deleted when the job has ended; the other parameters stay with the job. */
  parameters: Record<string, unknown>;
  /** If the job was to begin at once: when it was requested, and its conditions were checked. */
  askedAt?: Temporal.Instant | null;
};

/** A step that runs. */
export type StepJob = StepRequest & {
  jobId: number;
  /** The most that goes into a chunk, if the worker has a limit below the usual sizes. */
  chunkMax?: number | undefined;
};

/** A chunk, with the ids of what it works on. */
export type Chunk = IdRange & { chunk: number };

export type Plan = {
  chunks: readonly IdRange[];
  /** How many things there are to work on, for the progress that is shown. */
  total: number;
};

export type ChunkResult = {
  /** How many of the total are done with it. */
  done: number;
  /** Kept until the end of the job, where `finish` adds the chunks up. */
  outcome?: object;
};

export type SetAside = { chunk: number; message: string };

export type Worked = {
  done: number;
  total: number;
  /** Of the chunks, in their order. */
  outcomes: readonly object[];
  /** Chunks that failed, or killed their process, again and again. */
  setAside: readonly SetAside[];
};

export type Finish = { message: string } & Record<string, unknown>;

export type Step = {
  /** The name of its operation: the last part of the path. */
  operation: string;
  /**
   * Refuses what may not be done now, with an AppError. It is asked when the step is requested and
   * again when it begins, and locks the term: what it found holds until the transaction ends.
   */
  check(tx: Tx, request: StepRequest): Promise<void>;
  /**
   * For a step that is scheduled for later: throws errors that can be found now, so that the
   * operator sees them when scheduling. A caller that waits for the job gets the job's error.
   */
  checkAhead?(tx: Tx, request: StepRequest): Promise<void>;
  /** Cuts the work into chunks, in the transaction in which the job begins. */
  prepare(tx: Tx, job: StepJob): Promise<Plan>;
  /**
   * Does one chunk, in a transaction of its own, on any worker, at the same time as others. It is
   * run again from the beginning if its worker dies. An AppError ends the job with that error;
   * whatever else is thrown is tried again a few times, then the chunk is set aside.
   */
  work(tx: Tx, job: StepJob, chunk: Chunk, tools: Tools): Promise<ChunkResult>;
  /**
   * When all chunks are done. The job succeeds with what it returns, or fails with its AppError.
   * With a chunk that was set aside it fails in any case; what is done here stays.
   */
  finish(tx: Tx, job: StepJob, worked: Worked, tools: Tools): Promise<Finish>;
  /** Marks what a chunk that was set aside leaves undone. Without it nothing is finished. */
  setAside?(tx: Tx, job: StepJob, chunk: Chunk, reason: string): Promise<ChunkResult>;
  /** After the job failed, at whatever point: ends what would otherwise wait for ever. */
  failed?(tx: Tx, job: StepJob): Promise<void>;
  /**
   * The same for a job that never begins; returns what it did, for the answer of the cancellation,
   * or null.
   */
  cancelled?(tx: Tx, job: StepJob): Promise<string | null>;
};
