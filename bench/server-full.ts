// The API as `serve` runs it, for bench/api.ts; only the rate limits are out of the way.
import { systemClock } from '../src/base/clock.ts';
import { openDatabase } from '../src/base/db/pool.ts';
import { createLog } from '../src/base/log.ts';
import { createServer } from '../src/http/server.ts';
import { operations } from '../src/operations/catalogue.ts';

const many = { perSecond: 1e9, burst: 1e9 };
const database = openDatabase({
  connection: JSON.parse(process.argv[2] ?? ''),
  name: 'bench api',
  max: 16,
});
const server = createServer({
  database,
  operations,
  clock: systemClock,
  log: createLog({ level: 'warn' }),
  domain: 'localhost',
  workspaceHeader: true,
  trustedProxies: [],
  scheduleWaitSeconds: 20,
  rateLimits: { token: many, tenant: many, loginName: many, loginAddress: many, wrongToken: many },
});
const address = await server.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(address).port) });
process.once('SIGTERM', async () => {
  await server.close();
  await database.close();
  process.exit(0);
});
