// Takes a job one step further: it begins, one of its chunks is done, or it ends. Any number of
// workers do this at once; the rows they hold keep them apart.

import type { Clock } from '../base/clock.ts';
import { counted } from '../base/counted.ts';
import { type Tx, tenantTransact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import type { JobTenant } from '../domain/tenants/tenant.ts';
import { attemptsMax, type Crew, type TrialEnd, tryChunk } from './attempt.ts';
import { jobErrorOf } from './job.ts';
import {
  type EndedJobRow,
  endJob,
  finishChunk,
  type HeldChunkRow,
  type HeldJobRow,
  holdChunk,
  holdDueJob,
  holdWorkedJob,
  insertChunks,
  listWorkedChunks,
  type OpenJobRow,
  startJob,
} from './job-work-store.ts';
import type { Chunk, Step, StepJob, Worked } from './step.ts';
import type { Tools } from './tools.ts';

export type Conductor = Crew & {
  steps: ReadonlyMap<string, Step>;
  tools: Tools;
  /** The most that goes into a chunk of a job that begins here. */
  chunkMax?: number | undefined;
};

/** Places among the chunks for the beginning and the end of a job. */
const beginning = 0;
const end = -1;

/**
 * Whether anything was done, so that it is worth looking again at once. A job of one chunk, as most
 * are, goes from its beginning to its end: to look for it again would cost more than its steps do.
 */
export async function advanceJob(
  conductor: Conductor,
  tenant: JobTenant,
  clock: Clock,
  job: OpenJobRow,
): Promise<boolean> {
  const scope: Scope = { conductor, tenant, clock, jobId: job.job_id };
  if (job.status === 'Scheduled') {
    const { ended, chunks } = await begin(scope);
    if (ended === 'done' && chunks === 1) await goOn(scope);
    return isProgress(ended);
  }
  const ended = await workChunk(scope);
  if (ended !== 'nothing') return isProgress(ended);
  return isProgress(await finish(scope));
}

/** If anything fails here, the next poll of a worker finds what is left to do. */
async function goOn(scope: Scope): Promise<void> {
  const { isStopping } = scope.conductor.tools;
  if (isStopping() || (await workChunk(scope)) !== 'done' || isStopping()) return;
  await finish(scope);
}

function isProgress(ended: TrialEnd): boolean {
  return ended === 'done' || ended === 'failed';
}

type Scope = { conductor: Conductor; tenant: JobTenant; clock: Clock; jobId: number };

/** The workspace's time, not earlier than what the caller of the job has seen. */
function nowOf({ clock, tenant }: Scope): Temporal.Instant {
  return clock.now().add({ milliseconds: tenant.clockOffsetMs });
}

async function begin(scope: Scope): Promise<{ ended: TrialEnd; chunks: number }> {
  const { conductor, tenant, jobId } = scope;
  const { tenantId } = tenant;
  const now = nowOf(scope);
  let count = 0;
  const ended = await refusable(scope, () =>
    tryChunk<HeldJobRow>(conductor, {
      tenantId,
      jobId,
      hold: async (tx) => withPlace(await holdDueJob(tx, tenantId, jobId, now), beginning),
      work: async (tx, held) => {
        const step = stepOf(conductor, held);
        const job = stepJob(scope, held, now);
        await step.check(tx, job);
        const { chunks, total } = await step.prepare(tx, job);
        await startJob(tx, tenantId, jobId, { at: now, total });
        await insertChunks(tx, tenantId, jobId, chunks);
        count = chunks.length;
      },
      giveUp: (tx, _held, reason) => failJob(tx, scope, givenUp('did not begin'), reason),
    }),
  );
  return { ended, chunks: count };
}

async function workChunk(scope: Scope): Promise<TrialEnd> {
  const { conductor, tenant, jobId } = scope;
  const { tenantId } = tenant;
  const now = nowOf(scope);
  return refusable(scope, () =>
    tryChunk<HeldChunkRow>(conductor, {
      tenantId,
      jobId,
      hold: (tx) => holdChunk(tx, tenantId, jobId),
      work: async (tx, held) => {
        const step = stepOf(conductor, held);
        const job = stepJob(scope, held, now);
        const { done, outcome } = await step.work(tx, job, chunkOf(held), conductor.tools);
        const result = { done, outcome: outcome ?? null, error: null };
        await finishChunk(tx, tenantId, { jobId, chunk: held.chunk }, result);
      },
      giveUp: async (tx, held, reason) => {
        const step = stepOf(conductor, held);
        const handled = await step.setAside?.(tx, stepJob(scope, held, now), chunkOf(held), reason);
        const { done, outcome } = handled ?? { done: 0 };
        const error = { code: 'INTERNAL_ERROR', message: reason };
        const result = { done, outcome: outcome ?? null, error };
        await finishChunk(tx, tenantId, { jobId, chunk: held.chunk }, result);
        conductor.log.error(
          { tenantId, jobId, chunk: held.chunk, reason },
          'a chunk was set aside',
        );
      },
    }),
  );
}

async function finish(scope: Scope): Promise<TrialEnd> {
  const { conductor, tenant, jobId } = scope;
  const { tenantId } = tenant;
  const now = nowOf(scope);
  return refusable(scope, () =>
    tryChunk<HeldJobRow>(conductor, {
      tenantId,
      jobId,
      hold: async (tx) => withPlace(await holdWorkedJob(tx, tenantId, jobId), end),
      work: async (tx, held) => {
        const step = stepOf(conductor, held);
        const worked = await workedChunks(tx, tenantId, held);
        if (worked.setAside.length > 0 && !step.setAside) throw partsFailed(worked);
        const outcome = await step.finish(tx, stepJob(scope, held, now), worked, conductor.tools);
        if (worked.setAside.length > 0) return failJob(tx, scope, partsFailed(worked));
        await endJob(tx, tenantId, jobId, { status: 'Succeeded', at: now, outcome, error: null });
        conductor.log.info({ tenantId, jobId, operation: held.operation, outcome }, 'job done');
      },
      giveUp: (tx, _held, reason) => failJob(tx, scope, givenUp('did not end'), reason),
    }),
  );
}

/** A refusal of the step ends the job; what it did before it refused is undone. */
async function refusable(scope: Scope, run: () => Promise<TrialEnd>): Promise<TrialEnd> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Another job of the term was faster: this one waits for its turn.
    if (error.code === 'JOB_ALREADY_RUNNING') return 'nothing';
    const { database } = scope.conductor;
    await tenantTransact(database, scope.tenant.tenantId, (tx) => failJob(tx, scope, error));
    return 'done';
  }
}

async function failJob(
  tx: Tx,
  scope: Scope,
  error: AppError,
  reason = error.message,
): Promise<void> {
  const { conductor, tenant, jobId } = scope;
  const { tenantId } = tenant;
  const at = nowOf(scope);
  const failure = jobErrorOf(error);
  const { code } = failure;
  const ended = await endJob(tx, tenantId, jobId, {
    status: 'Failed',
    at,
    outcome: null,
    error: failure,
  });
  if (!ended) return;
  await conductor.steps.get(ended.operation)?.failed?.(tx, stepJob(scope, ended, at));
  const events = eventsOf('job.failed', 'jobID', [jobId], { termID: ended.term_id, code });
  await insertEvents(tx, tenantId, events, at);
  conductor.log.warn({ tenantId, jobId, code, reason }, 'job failed');
}

async function workedChunks(tx: Tx, tenantId: number, held: HeldJobRow): Promise<Worked> {
  const chunks = await listWorkedChunks(tx, tenantId, held.job_id);
  return {
    done: chunks.reduce((sum, chunk) => sum + chunk.done, 0),
    total: held.total,
    outcomes: chunks.flatMap((chunk) => (chunk.outcome === null ? [] : [chunk.outcome])),
    setAside: chunks.flatMap(({ chunk, error }) =>
      error === null ? [] : [{ chunk, message: error.message }],
    ),
  };
}

/** The caller learns that the job failed and how much is left; the log has the reason. */
function partsFailed({ setAside }: Worked): AppError {
  const chunks = counted(setAside.length, 'chunk');
  return new AppError('INTERNAL_ERROR', {
    message: `${chunks} of the job failed ${attemptsMax} times; the rest is done`,
  });
}

function givenUp(what: string): AppError {
  return new AppError('INTERNAL_ERROR', { message: `The job ${what} in ${attemptsMax} attempts` });
}

function withPlace(held: HeldJobRow | undefined, chunk: number) {
  return held && { ...held, chunk };
}

function stepOf(conductor: Conductor, held: HeldJobRow): Step {
  const step = conductor.steps.get(held.operation);
  if (!step) throw new Error(`no step is named ${held.operation}`);
  return step;
}

function stepJob(scope: Scope, held: EndedJobRow, now: Temporal.Instant): StepJob {
  const { conductor, tenant, jobId } = scope;
  return {
    tenant,
    now,
    jobId,
    requestedBy: held.requested_by,
    askedAt: held.asked_at,
    termId: held.term_id,
    billId: held.bill_id,
    parameters: held.parameters,
    chunkMax: conductor.chunkMax,
  };
}

function chunkOf(held: HeldChunkRow): Chunk {
  return { chunk: held.chunk, firstId: held.first_id, lastId: held.last_id };
}
