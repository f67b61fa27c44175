// The part of a worker that takes the jobs of bill runs further. Jobs are found by a look at the
// registry each second, and at once when one is asked for or has begun; the rows of the jobs
// themselves decide who does what, so that any number of these can run.

import type { Clock } from '../base/clock.ts';
import { isUnavailable } from '../base/db/faults.ts';
import { listen } from '../base/db/listen.ts';
import {
  type Connection,
  type Database,
  plainOpening,
  type Tx,
  tenantTransact,
  transact,
} from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { foldOpenChanges } from '../domain/ledger/open-totals-store.ts';
import { findSettings, findStatus, listWorkspaces } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';
import { advanceJob, type Conductor } from '../jobs/advance-job.ts';
import {
  type Attempt,
  deleteAttempt,
  endLostAttempts,
  renewAttempts,
} from '../jobs/attempts-store.ts';
import { listBusyWorkspaces, listOpenJobs, noteNextJob } from '../jobs/job-work-store.ts';
import type { Step } from '../jobs/step.ts';
import type { Equipment } from '../jobs/tools.ts';
import { restUntilWoken } from './rest.ts';

export type JobRunnerOptions = {
  database: Database;
  /** Hears of new jobs at once; without it they are found by looking. */
  connection?: Connection;
  clock: Clock;
  log: Log;
  steps: ReadonlyMap<string, Step>;
  equipment: Equipment;
  /** Parts of jobs worked on at the same time. */
  lanes: number;
  /** The one workspace to work for, instead of all. */
  tenantId?: number;
  /** A worker without a heartbeat for so long loses the chunks that it holds. */
  leaseSeconds?: number;
  /** The most that goes into one chunk, if that is to be less than usual. */
  chunkMax?: number;
  /** Time between two looks for work that no notification announced. */
  pollMs?: number;
  name?: string;
};

export type JobRunner = { stop(): Promise<void> };

const pollMsUsual = 1_000;
const leaseSecondsUsual = 30;
/** A worker renews its heartbeat this often within its lease. */
const renewalsPerLease = 6;
/** Jobs of one workspace that are looked at in one turn. */
const jobsMax = 20;
/** A suspended workspace is looked at again after this long. */
const suspendedMinutes = 1;
/** A workspace whose machine does not answer is looked at again after this long, */
const awayMs = 15_000;
/** or after so many times what the look took: most of a worker's time belongs to the others. */
const awayFactor = 20;
const stopMs = 15_000;

export function startJobRunner(options: JobRunnerOptions): JobRunner {
  const { database, clock, log } = options;
  const { leaseSeconds = leaseSecondsUsual, pollMs = pollMsUsual, tenantId } = options;
  const trying = new Map<Attempt, number>();
  const worker = options.name ?? `worker ${process.pid}`;
  let isStopping = false;
  const tools = { ...options.equipment, database, log, isStopping: () => isStopping };
  const unnoted = new Map<Attempt, number>();
  const { steps, chunkMax } = options;
  const conductor = { database, log, worker, trying, unnoted, steps, tools, chunkMax };
  /** Workspaces whose machine does not answer, and when each is looked at again. */
  const away = new Map<number, number>();
  const rest = restUntilWoken();
  const notices = options.connection && listen(options.connection, 'billwright_jobs', rest.wake);
  const renew = heartbeats(database, trying, log);
  const renewal = setInterval(renew, (leaseSeconds * 1_000) / renewalsPerLease).unref();
  let turn = 0;

  async function lane(): Promise<void> {
    while (!isStopping) {
      turn += 1;
      const now = { clock, leaseSeconds, turn, tenantId, away };
      const hasWorked = await oneTurn(conductor, now).catch((error) => {
        if (isUnavailable(error)) log.warn({ err: error }, 'the database does not answer');
        else log.error({ err: error }, 'the worker could not look for jobs');
        return false;
      });
      // Other lanes need no call: a job that begins with several chunks notifies all of them.
      if (!hasWorked && !isStopping) await rest.wait(pollMs);
    }
  }

  const lanes = Array.from({ length: options.lanes }, () => lane());
  return {
    async stop() {
      isStopping = true;
      rest.wake();
      await notices?.close();
      const isQuiet = await Promise.race([
        Promise.all(lanes).then(() => true),
        new Promise<false>((resolve) => setTimeout(() => resolve(false), stopMs).unref()),
      ]);
      clearInterval(renewal);
      // What is cut off by a stop is no fault of the chunk.
      if (!isQuiet) await forget(database, trying);
    },
  };
}

type TurnOptions = {
  clock: Clock;
  leaseSeconds: number;
  turn: number;
  tenantId: number | undefined;
  away: Map<number, number>;
};

/** Something is done for the first workspace, from a place that moves on, that has work to do. */
async function oneTurn(conductor: Conductor, options: TurnOptions): Promise<boolean> {
  const { tenantId: only, away } = options;
  const { isComplete, tenantIds } = await listBusy(conductor.database, options.clock);
  if (isComplete) away.clear();
  const now = performance.now();
  const busy = tenantIds
    .filter((tenantId) => only === undefined || tenantId === only)
    .filter((tenantId) => (away.get(tenantId) ?? 0) <= now);
  for (let step = 0; step < busy.length && !conductor.tools.isStopping(); step += 1) {
    const tenantId = busy[(options.turn + step) % busy.length] as number;
    const began = performance.now();
    try {
      if (await serve(conductor, tenantId, options)) return true;
    } catch (error) {
      if (isComplete || !isUnavailable(error)) throw error;
      conductor.log.warn({ err: error, tenantId }, 'the machine of a workspace does not answer');
      const end = performance.now();
      away.set(tenantId, end + Math.max(awayMs, awayFactor * (end - began)));
    }
  }
  return false;
}

/**
 * All machines of a cluster are asked together where there is work. If one of them does not answer,
 * that is not known, and each workspace is looked at by itself.
 */
async function listBusy(
  database: Database,
  clock: Clock,
): Promise<{ isComplete: boolean; tenantIds: number[] }> {
  const read = <T>(work: (tx: Tx) => Promise<T>) =>
    transact(database, { opening: plainOpening, readOnly: true }, work);
  try {
    const tenantIds = await read((tx) => listBusyWorkspaces(tx, clock.now()));
    return { isComplete: true, tenantIds };
  } catch (error) {
    if (!database.isSpread || !isUnavailable(error)) throw error;
    const all = await read(listWorkspaces);
    return { isComplete: false, tenantIds: all.map((workspace) => workspace.tenant_id) };
  }
}

async function serve(
  conductor: Conductor,
  tenantId: number,
  { clock, leaseSeconds }: { clock: Clock; leaseSeconds: number },
): Promise<boolean> {
  const { database } = conductor;
  const realNow = clock.now();
  const { tenant, jobs } = await tenantTransact(database, tenantId, async (tx) => {
    const [settings, status] = await Promise.all([
      findSettings(tx, tenantId),
      findStatus(tx, tenantId),
    ]);
    const tenant = tenantFrom(tenantId, settings);
    const now = realNow.add({ milliseconds: tenant.clockOffsetMs });
    const isActive = status === 'Active';
    const jobs = isActive ? await listOpenJobs(tx, tenantId, { now, limit: jobsMax }) : [];
    if (jobs.length === 0) {
      const notBefore = isActive ? null : realNow.add({ minutes: suspendedMinutes });
      await noteNextJob(tx, tenantId, { clockOffsetMs: tenant.clockOffsetMs, notBefore });
    }
    return { tenant, jobs };
  });
  if (jobs.length === 0) {
    await foldOpenChanges(tenantId, (fold) => tenantTransact(database, tenantId, fold));
  }
  for (const job of jobs) {
    if (await advanceJob(conductor, tenant, clock, job)) return true;
  }
  const isRunning = jobs.some((job) => job.status === 'Running');
  return isRunning && (await freeLost(conductor, tenantId, leaseSeconds));
}

/** What is left of running jobs is held by others; perhaps one of them is gone. */
async function freeLost(
  { database, log }: Conductor,
  tenantId: number,
  leaseSeconds: number,
): Promise<boolean> {
  const freed = await tenantTransact(database, tenantId, (tx) => endLostAttempts(tx, leaseSeconds));
  if (freed.length > 0) log.warn({ tenantId, jobs: freed }, 'chunks of a lost worker were freed');
  return freed.length > 0;
}

/** A workspace whose machine does not answer delays the heartbeats of no other. */
function heartbeats(database: Database, trying: Map<Attempt, number>, log: Log): () => void {
  const renewing = new Set<number>();
  const renew = async (tenantId: number, attempts: readonly Attempt[]) => {
    renewing.add(tenantId);
    try {
      await tenantTransact(database, tenantId, (tx) => renewAttempts(tx, tenantId, attempts));
    } catch (error) {
      log.warn({ err: error, tenantId }, 'heartbeat failed');
    } finally {
      renewing.delete(tenantId);
    }
  };
  return () => {
    for (const [tenantId, attempts] of byTenant(trying)) {
      if (!renewing.has(tenantId)) void renew(tenantId, attempts);
    }
  };
}

async function forget(database: Database, trying: Map<Attempt, number>): Promise<void> {
  for (const [tenantId, attempts] of byTenant(trying)) {
    await tenantTransact(database, tenantId, async (tx) => {
      for (const attempt of attempts) await deleteAttempt(tx, tenantId, attempt);
    }).catch(() => {});
  }
}

function byTenant(trying: Map<Attempt, number>): Map<number, Attempt[]> {
  return Map.groupBy(trying.keys(), (attempt) => trying.get(attempt) ?? 0);
}
