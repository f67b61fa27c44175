// The process that works on jobs, apart from the one that answers calls.
import { type Job, type JobResult, PgBoss } from 'pg-boss';
import type { Clock } from '../base/clock.ts';
import { type Connection, type Database, plainOpening, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { steps } from '../billrun/steps.ts';
import { listWorkspaces } from '../domain/tenants/store.ts';
import type { Equipment } from '../jobs/tools.ts';
import { type DailyTask, findDueTasks, runDailyTask } from './daily.ts';
import { startJobRunner } from './job-runner.ts';
import { countAll, startHeartbeat } from './monitor.ts';
import { startSealing } from './sealing.ts';

export type WorkerOptions = {
  /** Owns the queue's own tables. */
  queueConnection: Connection;
  /** Does the work, bound to one tenant at a time. */
  database: Database;
  clock: Clock;
  log: Log;
  /** Parts of bill-run jobs worked on at the same time. */
  lanes: number;
  equipment: Equipment;
  /** The one workspace to work for, instead of all. */
  tenantId?: number;
};

export type Worker = { stop(): Promise<void> };

const tickQueue = 'daily-tick';
const dailyQueue = 'daily';
/** A dead worker's job is found out after this long, by whoever looks at this interval. */
const heartbeatSeconds = 10;
const superviseSeconds = 10;
const stopMs = 20_000;
/** A workspace with nothing due is looked at again after this long: no job is due more finely. */
const lookAgainMinutes = 5;

/** Many at a time, because midnight comes to a thousand workspaces at once. */
const dailyFetch = {
  batchSize: 20,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 2,
  perJobResults: true,
} as const;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { tenantId } = options;
  const daily = tenantId === undefined ? await startDaily(options) : undefined;
  // Nothing of one workspace is queued: other workers would find it, and this one theirs.
  if (tenantId !== undefined) await runDueTasks(options, tenantId);
  const heartbeat = await startHeartbeat(options.database, options.log);
  const runner = startJobRunner({ ...options, connection: options.queueConnection, steps });
  const sealing = startSealing(options);
  options.log.info('worker ready');
  return {
    async stop() {
      await runner.stop();
      await sealing.stop();
      await daily?.stop();
      await heartbeat.stop();
    },
  };
}

/** Daily jobs of all workspaces, which workers share by a queue. */
async function startDaily(options: WorkerOptions): Promise<Worker> {
  const { queueConnection: connection, log } = options;
  const boss = new PgBoss({
    ...('url' in connection ? { connectionString: connection.url } : connection),
    application_name: 'billwright queue',
    schema: 'pgboss',
    max: 4,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'the job queue failed'));
  await boss.start();
  // With a heartbeat too: a tick that died with its worker keeps all others from running.
  await boss.createQueue(tickQueue, { policy: 'exclusive', retryLimit: 0, heartbeatSeconds });
  await boss.createQueue(dailyQueue, {
    policy: 'exclusive',
    retryLimit: 5,
    retryBackoff: true,
    heartbeatSeconds,
  });
  await boss.schedule(tickQueue, '* * * * *', null, { tz: 'UTC' });
  const looked = new Map<number, Temporal.Instant>();
  await boss.work(tickQueue, async () => {
    await queueDueTasks(boss, options, looked);
    await countAll(options.database, options.clock, log);
  });
  await boss.work(dailyQueue, dailyFetch, (jobs: Job<DailyTask>[]) => runBatch(options, jobs));
  // What fell due while no worker was there must not wait for the next minute.
  await queueDueTasks(boss, options, looked);
  await countAll(options.database, options.clock, log);
  return { stop: () => boss.stop({ graceful: true, timeout: stopMs, close: true }) };
}

async function runDueTasks(options: WorkerOptions, tenantId: number): Promise<void> {
  const { database, clock, log } = options;
  for (const task of await findDueTasks(database, clock, tenantId)) {
    await runDailyTask(database, clock, log, task).catch((error) =>
      log.error({ err: error, ...task }, 'a daily job failed'),
    );
  }
}

/** Each job ends by itself: one that fails is tried again and the others are done. */
async function runBatch(
  { database, clock, log }: WorkerOptions,
  jobs: readonly Job<DailyTask>[],
): Promise<JobResult[]> {
  const results: JobResult[] = [];
  for (const { id, data } of jobs) {
    try {
      await runDailyTask(database, clock, log, data);
      results.push({ id, status: 'completed' });
    } catch (error) {
      log.error({ err: error, ...data }, 'a daily job failed');
      results.push({ id, status: 'failed', output: { message: (error as Error).message } });
    }
  }
  return results;
}

async function queueDueTasks(
  boss: PgBoss,
  options: WorkerOptions,
  looked: Map<number, Temporal.Instant>,
): Promise<void> {
  const { database, clock, log } = options;
  const now = clock.now();
  const workspaces = await transact(database, { opening: plainOpening }, (tx) =>
    listWorkspaces(tx),
  );
  for (const { tenant_id: tenantId } of workspaces) {
    const next = looked.get(tenantId);
    if (next && Temporal.Instant.compare(now, next) < 0) continue;
    try {
      const tasks = await findDueTasks(database, clock, tenantId);
      for (const task of tasks) {
        const singletonKey = `${tenantId}/${task.job}/${task.localDate}`;
        await boss.send(dailyQueue, task, { singletonKey, group: { id: String(tenantId) } });
      }
      if (tasks.length === 0) looked.set(tenantId, now.add({ minutes: lookAgainMinutes }));
    } catch (error) {
      log.error({ err: error, tenantId }, 'the daily jobs of a workspace could not be queued');
    }
  }
}
