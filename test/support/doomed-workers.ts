// Starts doomed-worker.ts as processes on the database of a scene, and ends with a test those that
// it has left.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from './program.ts';
import { quickNode } from './quick-node.ts';
import type { Scene } from './scene.ts';

const script = fileURLToPath(new URL('doomed-worker.ts', import.meta.url));

export type DoomedWorker = { child: ChildProcess; output(): string };

/** A killed process removes none of its files. */
const folder = mkdtempSync(join(tmpdir(), 'billwright-doomed-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const workers: DoomedWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await killWorker(worker);
});

export function startWorker(
  { cluster, databaseName }: Scene,
  options: { leaseSeconds?: number; lanes?: number } = {},
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

export async function killWorker({ child }: DoomedWorker): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
