// The API in a process of its own, which tells how long its event loop kept calls waiting, and
// which calls were under way when it took long.
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../src/base/clock.ts';
import { openDatabase, tenantShare } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { createServer } from '../../src/http/server.ts';
import { operations } from '../../src/operations/catalogue.ts';
import type { LongTurn, Watched } from './server-process.ts';

const many = { perSecond: 1e9, burst: 1e9 };
const connections = 12;
const database = openDatabase({
  connection: JSON.parse(process.argv[2] ?? ''),
  name: 'watched api',
  max: connections,
  share: tenantShare(connections * 2),
});
const server = createServer({
  database,
  operations,
  clock: systemClock,
  log: createLog({ level: 'error' }),
  domain: 'localhost',
  workspaceHeader: true,
  trustedProxies: [],
  scheduleWaitSeconds: 1,
  rateLimits: { token: many, tenant: many, loginName: many, loginAddress: many, wrongToken: many },
});

const underWay = new Map<string, string>();
server.addHook('onRequest', async (request, reply) => {
  underWay.set(request.id, request.url);
  reply.raw.once('close', () => underWay.delete(request.id));
});

const resolutionMs = 10;
const longMs = 100;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
/** Processor time between two looks, which other programs of the machine do not lengthen. */
const work = createHistogram();
const longTurns: LongTurn[] = [];
let at = performance.now();
let used = process.threadCpuUsage();
let isWatching = false;

setInterval(() => {
  const now = performance.now();
  const cpu = process.threadCpuUsage(used);
  const delayMs = now - at - resolutionMs;
  const cpuMs = (cpu.user + cpu.system) / 1_000;
  if (isWatching) work.record(Math.max(1, Math.round(cpuMs * 1_000)));
  if (isWatching && delayMs >= longMs && longTurns.length < 1_000) {
    longTurns.push({ delayMs, cpuMs, calls: [...underWay.values()].slice(-12) });
  }
  at = now;
  used = process.threadCpuUsage();
}, resolutionMs).unref();

process.on('message', (message) => {
  if (message === 'watch') {
    isWatching = true;
    delay.enable();
    return;
  }
  const watched: Watched = {
    p999Ms: delay.percentile(99.9) / 1e6 - resolutionMs,
    maxMs: delay.max / 1e6 - resolutionMs,
    workP999Ms: work.percentile(99.9) / 1_000,
    workMaxMs: work.max / 1_000,
    rssMb: process.resourceUsage().maxRSS / 1_024,
    longTurns,
  };
  process.send?.({ watched });
});

const address = await server.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ baseUrl: address });
process.once('SIGTERM', async () => {
  await server.close();
  await database.close();
  process.exit(0);
});
