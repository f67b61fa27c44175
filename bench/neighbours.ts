// One workspace does the worst that it is allowed to do, by twenty clients at once; another one
// works as usual. Prints what the other one notices, and what became of the hostile calls.
// node bench/neighbours.ts [--seconds 30] [--clients 20]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '../sdk/client.ts';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { openServed, type Place, runStep, type ServedScene } from './billrun-scene.ts';
import type { HostileOrder, HostileReport } from './hostile-clients.ts';
import { memoryOf, say } from './served.ts';

/** Subscriptions of the hostile workspace, each with a bill: its lists and terms are this long. */
const hostileSize = 5_000;
const quietSize = 200;
/** By which clients are nicer than the server: theirs is not the time that is measured. */
const clientsNicer = 10;
const warmUpSeconds = 5;
const pauseMs = 20;
const callers = 2;
/** The wanted: within three times idle or this, whichever is larger. */
const wantedMs = 50;
const wantedRatio = 3;
const wantedMb = 1_500;

async function main({ seconds, clients }: { seconds: number; clients: number }): Promise<void> {
  const scene = await openServed(hostileSize, { SCHEDULE_WAIT_SECONDS: '0' });
  try {
    const quiet = await scene.anotherPlace('quiet', quietSize);
    await makeBills(scene);
    await timesOf(quiet, warmUpSeconds);
    const idle = await timesOf(quiet, seconds);
    const hostile = await startClients(scene, clients);
    await sleep(warmUpSeconds * 1_000);
    const loaded = await timesOf(quiet, seconds);
    const report = await stopClients(hostile);
    show(idle, loaded, report, memoryOf(scene.server, 'VmHWM'));
  } finally {
    await scene.close();
  }
}

async function makeBills(scene: ServedScene): Promise<void> {
  const body = { operation: 'schedule' as const, data: { termID } };
  await runStep(scene, scene.place, (client) => client.generateBills(body));
}

/** Milliseconds of a mix of calls, as people at a counter make them. */
async function timesOf({ client, size }: Place, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  const calling = Array.from({ length: callers }, async (_, caller) => {
    for (let round = caller; performance.now() < end; round += 1) {
      const began = performance.now();
      await calls[round % calls.length]?.(client, 1 + ((round * 7) % size));
      times.push(performance.now() - began);
      await sleep(pauseMs);
    }
  });
  await Promise.all(calling);
  return times;
}

let made = 0;

const calls: ((client: Client, number: number) => Promise<unknown>)[] = [
  (client, number) => client.getUsers({ partyNumber: 100_000 + number }),
  (client, number) =>
    client.getConnections({ connectionNumber: `ELEC-${String(number).padStart(8, '0')}` }),
  (client) => {
    made += 1;
    const user = { name: `New party ${made}`, country: 'PK' };
    return client.makeUsers({ userType: 'customer', users: [user] });
  },
];

async function startClients(scene: ServedScene, clients: number): Promise<ChildProcess> {
  const child = fork(new URL('hostile-clients.ts', import.meta.url));
  if (child.pid) setPriority(child.pid, Math.min(19, getPriority() + clientsNicer));
  const { workspace, size } = scene.place;
  const order: HostileOrder = { port: scene.port, workspace, size, termID, clients };
  child.send(order);
  await once(child, 'message');
  return child;
}

async function stopClients(child: ChildProcess): Promise<HostileReport> {
  child.send('stop');
  const [report] = (await once(child, 'message')) as [HostileReport];
  child.disconnect();
  return report;
}

function show(
  idle: readonly number[],
  loaded: readonly number[],
  report: HostileReport,
  peakMb: number,
): void {
  const [idleP50, idleP95] = percentiles(idle);
  const [loadedP50, loadedP95] = percentiles(loaded);
  say(`idle    p50 ${idleP50.toFixed(1)} ms, p95 ${idleP95.toFixed(1)} ms, ${idle.length} calls`);
  say(
    `loaded  p50 ${loadedP50.toFixed(1)} ms, p95 ${loadedP95.toFixed(1)} ms, ${loaded.length} calls`,
  );
  const limitMs = Math.max(wantedMs, wantedRatio * idleP95);
  say(`wanted  p95 at most ${limitMs.toFixed(1)} ms; memory at most ${wantedMb} MB`);
  say(`memory  ${peakMb} MB at most`);
  for (const [kind, outcomes] of Object.entries(report)) {
    const words = Object.entries(outcomes).map(([code, count]) => `${code} ${count}`);
    say(`${kind.padEnd(20)} ${words.join(', ')}`);
  }
}

function percentiles(times: readonly number[]): [number, number] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return [at(0.5), at(0.95)];
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    clients: { type: 'string', default: '20' },
  },
});
await main({ seconds: Number(values.seconds), clients: Number(values.clients) });
await stopOwnCluster();
