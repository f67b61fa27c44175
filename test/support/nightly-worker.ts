// Does the daily jobs of a workspace that are due at a time, as a process that a test may kill. Run
// as: node nightly-worker.ts '{"host": …, "database": …, "tenantId": …, "at": …}'
import { openDatabase } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { findDueTasks, runDailyTask } from '../../src/worker/daily.ts';

const { tenantId, at, ...connection } = JSON.parse(process.argv[2] ?? '{}');
const database = openDatabase({
  connection,
  name: 'nightly worker',
  max: 2,
  role: 'billwright_worker',
});
const clock = { now: () => Temporal.Instant.from(at) };
const log = createLog({ level: 'silent' });
for (const task of await findDueTasks(database, clock, tenantId)) {
  await runDailyTask({ database, clock, log }, task);
}
await database.close();
