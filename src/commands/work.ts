import { readDkimKey } from '../base/mail/dkim-key.ts';
import type { Config } from '../config.ts';
import { openContext, openEquipment, openWorkerDatabase, prepareDatabase } from '../context.ts';
import { startWorker } from '../worker/worker.ts';
import { expectStop, stopInOrder } from './shutdown.ts';

/** Works on jobs. Any number of these may run, on any number of machines. */
export async function work(config: Config): Promise<void> {
  if (config.dkim) readDkimKey(config.dkim.keyFile);
  const requests = expectStop(config);
  const context = await openContext(config, { use: 'join' });
  try {
    await prepareDatabase(context);
    const database = openWorkerDatabase(context);
    const { clock, log } = context;
    const { connection } = context.owner;
    const lanes = config.workerLanes;
    const equipment = openEquipment(context);
    const worker = await startWorker({ connection, database, clock, log, lanes, equipment });
    stopInOrder(requests, log, [
      () => worker.stop(),
      () => equipment.close(),
      () => database.close(),
      context.close,
    ]);
  } catch (error) {
    await context.close();
    throw error;
  }
}
