// What a worker does for operators: says that it lives, and counts jobs and deliveries.
import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import {
  countOperations,
  deleteWorker,
  listWorkspacesToCount,
  noteWorker,
  storeCounts,
} from '../domain/monitoring/store.ts';
import { findSettings } from '../domain/tenants/store.ts';

const heartbeatMs = 10_000;

export type Heartbeat = { stop(): Promise<void> };

export async function startHeartbeat(
  database: Database,
  log: Log,
  worker = `${hostname()}/${process.pid}`,
): Promise<Heartbeat> {
  let beating = Promise.resolve();
  async function beat(): Promise<void> {
    try {
      await transact(database, { opening: plainOpening }, (tx) => noteWorker(tx, worker));
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat failed; it is tried again in 10 seconds');
    }
  }
  const timer = setInterval(() => {
    beating = beating.then(beat);
  }, heartbeatMs).unref();
  await beat();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      // Without the database there is nothing to take back: the row is forgotten after an hour.
      await transact(database, { opening: plainOpening }, (tx) => deleteWorker(tx, worker)).catch(
        () => {},
      );
    },
  };
}

/** Of every workspace that has or lately had something to do. */
export async function countAll(database: Database, clock: Clock, log: Log): Promise<void> {
  const tenantIds = await transact(database, { opening: plainOpening }, listWorkspacesToCount);
  for (const tenantId of tenantIds) {
    await tenantTransact(database, tenantId, async (tx) => {
      const { clock_offset_ms: clockOffsetMs } = await findSettings(tx, tenantId);
      const counts = await countOperations(tx, tenantId, { now: clock.now(), clockOffsetMs });
      await storeCounts(tx, tenantId, counts);
    }).catch((error) => {
      log.error({ err: error, tenantId }, 'jobs and deliveries of a workspace were not counted');
    });
  }
}
