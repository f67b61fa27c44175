// A worker in a process of its own, on the database of a scene, that a test may kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from './program.ts';
import { quickProgram } from './quick-node.ts';
import type { Scene } from './scene.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type WorkerProcess = {
  output(): string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

export async function startWorkerProcess(
  scene: Scene,
  env: Record<string, string>,
): Promise<WorkerProcess> {
  const { host, port, user } = scene.cluster.owner;
  const url = `postgresql://${user}@localhost/${scene.databaseName}`;
  const folder = mkdtempSync(join(tmpdir(), 'billwright-worker-'));
  const { PATH, HOME, NODE_COMPILE_CACHE, BILLWRIGHT_TEST_BUNDLE } = process.env;
  const child = spawn(process.execPath, [...quickProgram, mainFile, 'work'], {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      BILLWRIGHT_TEST_BUNDLE,
      DATABASE_URL: `${url}?host=${encodeURIComponent(host)}&port=${port}`,
      BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1',
      BILLWRIGHT_DATA: folder,
      MAIL_FROM: 'billing@city.example',
      RENDER_THREADS: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const worker = { output: () => output, end: (signal: NodeJS.Signals) => end(child, signal) };
  after(async () => {
    await worker.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the worker has ended:\n${output}`);
    return output.includes('worker ready');
  }, 'the worker is ready');
  return worker;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
  return child.exitCode;
}
