// A worker that a test starts as a process of its own, to stop it, kill it or have it killed by
// what it works on. Run as: node doomed-worker.ts '{"host": …, "database": …, "leaseSeconds": …}'

import { systemClock } from '../../src/base/clock.ts';
import { openDatabase } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { steps } from '../../src/billrun/steps.ts';
import { startJobRunner } from '../../src/worker/job-runner.ts';
import { markingStep } from './effects.ts';
import { openTestEquipment } from './equipment.ts';

const { leaseSeconds, lanes = 2, chunkMax, ...connection } = JSON.parse(process.argv[2] ?? '{}');
const marking = markingStep('mark');
/** Ends the process that works on its second part, as running out of memory would. */
const deadly = markingStep('kill', {
  work: async (tx, job, chunk, tools) => {
    const done = await marking.work(tx, job, chunk, tools);
    if (chunk.chunk === 2) process.kill(process.pid, 'SIGKILL');
    return done;
  },
});
const database = openDatabase({
  connection,
  name: 'test worker process',
  max: lanes + 2,
  role: 'billwright_worker',
});
startJobRunner({
  database,
  connection,
  clock: systemClock,
  log: createLog({ level: 'info' }),
  steps: new Map([...steps, ['mark', marking], ['kill', deadly]]),
  lanes,
  leaseSeconds,
  chunkMax,
  equipment: openTestEquipment(),
});
process.stdout.write('ready\n');
