// The part of a worker that runs the daily jobs. Each minute it looks for workspaces in which a job
// is due; the row that claims a date makes sure that several workers do each job once.
import type { Clock } from '../base/clock.ts';
import { isUnavailable } from '../base/db/faults.ts';
import { listen } from '../base/db/listen.ts';
import {
  type Connection,
  type Database,
  plainOpening,
  tenantTransact,
  transact,
} from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { sendNotices } from '../domain/delivery/send-notices.ts';
import { foldOpenChanges } from '../domain/ledger/open-totals-store.ts';
import { isBeingDeleted } from '../domain/tenants/ended-store.ts';
import { findStatus, listWorkspaces } from '../domain/tenants/store.ts';
import type { Equipment } from '../jobs/tools.ts';
import { findDueTasks, runDailyTask } from './daily.ts';
import { countAll } from './monitor.ts';
import { restUntilWoken } from './rest.ts';

export type DailyRunnerOptions = {
  database: Database;
  /** Reports moved clocks at once; without it they are found at the next look. */
  connection?: Connection;
  clock: Clock;
  log: Log;
  /** Sends the notices that daily jobs queue; without it they wait. */
  equipment?: Pick<Equipment, 'mailer' | 'mailDomain' | 'mailsAtOnce' | 'renderer'>;
  /** The one workspace to work for, instead of all. */
  tenantId?: number;
};

const everyMs = 60_000;
/** A workspace with nothing due is looked at again after this long: no job is due more finely. */
const lookAgainMinutes = 5;

export async function startDailyRunner(
  options: DailyRunnerOptions,
): Promise<{ stop(): Promise<void> }> {
  const { log, connection } = options;
  /** When to look at a workspace again. */
  const nextLook = new Map<number, Temporal.Instant>();
  const rest = restUntilWoken();
  let isStopping = false;

  async function look(): Promise<void> {
    try {
      await runDueTasks(options, nextLook, () => isStopping);
      await countAll(options.database, options.clock, log);
    } catch (error) {
      if (isUnavailable(error)) log.warn({ err: error }, 'the database does not answer');
      else log.error({ err: error }, 'daily jobs could not be looked for');
    }
  }

  // What fell due while no worker ran is done before the worker reports that it is ready.
  await look();
  const notices =
    connection &&
    listen(connection, 'billwright_clocks', (tenantId) => {
      if (tenantId) nextLook.delete(Number(tenantId));
      else nextLook.clear();
      rest.wake();
    });
  const running = (async () => {
    while (!isStopping) {
      await rest.wait(everyMs);
      if (!isStopping) await look();
    }
  })();
  return {
    async stop() {
      isStopping = true;
      rest.wake();
      await notices?.close();
      await running;
    },
  };
}

async function runDueTasks(
  options: DailyRunnerOptions,
  nextLook: Map<number, Temporal.Instant>,
  isStopping: () => boolean,
): Promise<void> {
  const { database, clock, log, tenantId: only } = options;
  const now = clock.now();
  const all = await transact(database, { opening: plainOpening }, listWorkspaces);
  const wanted = all
    .map((workspace) => workspace.tenant_id)
    .filter((tenantId) => only === undefined || tenantId === only);
  // Workers begin at different places, so that they seldom meet.
  const start = Math.floor(Math.random() * wanted.length);
  for (const tenantId of [...wanted.slice(start), ...wanted.slice(0, start)]) {
    if (isStopping()) return;
    const next = nextLook.get(tenantId);
    if (next && Temporal.Instant.compare(now, next) < 0) continue;
    // Set before the work: if the clock is moved meanwhile, the notice takes it away again.
    nextLook.set(tenantId, now.add({ minutes: lookAgainMinutes }));
    try {
      const isDone = await runWorkspace(options, tenantId, isStopping);
      if (!isDone) nextLook.delete(tenantId);
    } catch (error) {
      nextLook.delete(tenantId);
      log.error({ err: error, tenantId }, 'the daily jobs of a workspace could not be looked for');
    }
  }
}

/**
 * False if a job failed: it is tried again at the next look, and its later dates wait for it. Other
 * jobs go on.
 */
async function runWorkspace(
  { database, clock, log, equipment }: DailyRunnerOptions,
  tenantId: number,
  isStopping: () => boolean,
): Promise<boolean> {
  const isGoing = await tenantTransact(database, tenantId, (tx) => isBeingDeleted(tx, tenantId));
  if (isGoing) return true;
  const failed = new Set<string>();
  for (const task of await findDueTasks(database, clock, tenantId)) {
    if (isStopping()) return false;
    if (failed.has(task.job)) continue;
    try {
      await runDailyTask({ database, clock, log, isStopping }, task);
    } catch (error) {
      failed.add(task.job);
      log.error({ err: error, ...task }, 'a daily job failed');
    }
  }
  if (!isStopping()) {
    await foldOpenChanges(tenantId, (fold) => tenantTransact(database, tenantId, fold));
  }
  const isActive = await tenantTransact(database, tenantId, async (tx) => {
    return (await findStatus(tx, tenantId)) === 'Active';
  });
  if (equipment && isActive && !isStopping()) {
    await sendNotices({ database, log, isStopping, ...equipment }, tenantId, clock);
  }
  return failed.size === 0;
}
