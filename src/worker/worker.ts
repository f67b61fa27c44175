// A worker: jobs, daily tasks, seals, documents, webhooks and the deletion of ended workspaces. It
// runs in a process of its own, apart from the one that answers calls.
import type { Clock } from '../base/clock.ts';
import type { Connection, Database } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { steps } from '../billrun/steps.ts';
import type { Equipment } from '../jobs/tools.ts';
import { startDailyRunner } from './daily-runner.ts';
import { startDocumentMaker } from './document-maker.ts';
import { startEnding } from './ended-workspaces.ts';
import { startJobRunner } from './job-runner.ts';
import { startHeartbeat } from './monitor.ts';
import { startSealing } from './sealing.ts';
import { startWebhookSender } from './webhook-sender.ts';

export type WorkerOptions = {
  /** Hears of new jobs and moved clocks. */
  connection: Connection;
  /** Does the work, bound to one tenant at a time. */
  database: Database;
  clock: Clock;
  log: Log;
  /** Chunks of bill-run jobs worked on at the same time. */
  lanes: number;
  equipment: Equipment;
  /** The one workspace to work for, instead of all. */
  tenantId?: number;
};

export type Worker = { stop(): Promise<void> };

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const daily = await startDailyRunner(options);
  const heartbeat = await startHeartbeat(options.database, options.log);
  const runner = startJobRunner({ ...options, steps });
  const sealing = startSealing(options);
  const maker = startDocumentMaker(options);
  const ending = startEnding(options);
  const webhooks = startWebhookSender(options);
  options.log.info('worker ready');
  return {
    async stop() {
      await runner.stop();
      await sealing.stop();
      await maker.stop();
      await ending.stop();
      await webhooks.stop();
      await daily.stop();
      await heartbeat.stop();
    },
  };
}
