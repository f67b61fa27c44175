// Starts doomed-worker.ts as processes on the database of a scene, and ends with a test those that
// it has left, except for one that is kept for the next.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { startable } from './bundle.ts';
import { until } from './program.ts';
import { quickNode } from './quick-node.ts';
import type { Scene } from './scene.ts';

const script = startable('test/support/doomed-worker.ts');

export type DoomedWorker = { child: ChildProcess; output(): string };

/** A killed process removes none of its files. */
const folder = mkdtempSync(join(tmpdir(), 'billwright-doomed-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const workers: DoomedWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await killWorker(worker);
});

export type WorkerOptions = {
  leaseSeconds?: number;
  lanes?: number;
  /** A term of a few rows has several chunks, if this is less. */
  chunkMax?: number;
};

export function startWorker(
  { cluster, databaseName }: Scene,
  options: WorkerOptions = {},
): DoomedWorker {
  const wanted = JSON.stringify({ ...cluster.owner, database: databaseName, ...options });
  const child = spawn(process.execPath, [...quickNode, script, wanted], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: folder },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const worker = { child, output: () => output };
  workers.push(worker);
  return worker;
}

/** Starts one, and waits until it looks for work. */
export async function startReadyWorker(
  ...wanted: Parameters<typeof startWorker>
): Promise<DoomedWorker> {
  const worker = startWorker(...wanted);
  await until(() => worker.output().includes('ready'), 'the worker is up');
  return worker;
}

let kept: DoomedWorker | undefined;
after(endKeptWorker);

/** For tests in which another worker is to do its work. */
export async function endKeptWorker(): Promise<void> {
  if (kept) await killWorker(kept);
}

/** That of an earlier test, if no test has killed it: a file always asks for the same options. */
export async function startKeptWorker(
  scene: Scene,
  options: WorkerOptions = {},
): Promise<DoomedWorker> {
  if (kept && !hasEnded(kept)) return kept;
  kept = await startReadyWorker(scene, options);
  workers.splice(workers.indexOf(kept), 1);
  return kept;
}

function hasEnded({ child }: DoomedWorker): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export async function killWorker(worker: DoomedWorker): Promise<void> {
  if (hasEnded(worker)) return;
  const { child } = worker;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
