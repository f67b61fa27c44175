// What workers do each day in a workspace, done now.
import { type Database, openDatabase } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { findDueTasks, runDailyTask } from '../../src/worker/daily.ts';
import type { Scene } from './scene.ts';

const log = createLog({ level: 'silent' });

/** Works as a worker does, on a connection of its own. */
export async function asWorker<T>(
  scene: Scene,
  work: (worker: Database) => Promise<T>,
): Promise<T> {
  const connection = { ...scene.cluster.owner, database: scene.databaseName };
  const role = 'billwright_worker';
  const worker = openDatabase({ connection, name: 'test worker', max: 2, role });
  try {
    return await work(worker);
  } finally {
    await worker.close();
  }
}

/** Every job that is due by now. */
export function doDailyWork(scene: Scene, tenantId: number): Promise<void> {
  return asWorker(scene, async (worker) => {
    for (const task of await findDueTasks(worker, scene.clock, tenantId)) {
      await runDailyTask({ database: worker, clock: scene.clock, log }, task);
    }
  });
}
