// A worker that sends webhooks, as a process of its own that a test may kill. Run as:
// node webhook-worker.ts '{"host": …, "database": …, "secretKeyFile": …}'

import { systemClock } from '../../src/base/clock.ts';
import { openDatabase } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { useSecretKeyFile } from '../../src/base/secret-key.ts';
import { startWebhookSender } from '../../src/worker/webhook-sender.ts';
import { localRules } from './local-rules.ts';

const { secretKeyFile, ...connection } = JSON.parse(process.argv[2] ?? '{}');
useSecretKeyFile(secretKeyFile);
const role = 'billwright_worker';
const database = openDatabase({ connection, name: 'test webhook worker', max: 3, role });
startWebhookSender({
  database,
  clock: systemClock,
  log: createLog({ level: 'warn' }),
  rules: () => localRules,
  pollMs: 50,
  // A test does not wait for hours, and gives nothing up.
  timeoutMs: 1_000,
  claimSeconds: 3,
  retryAfter: () => 0.2,
});
process.stdout.write('ready\n');
