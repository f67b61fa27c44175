// The program as `npm start` runs it, on a data folder and a port of its own.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { quickProgram } from './quick-node.ts';
import { copyReadyFolder } from './ready-folder.ts';
import { root } from './source.ts';

const waitMs = 300_000;

export type RunningProgram = {
  port: number;
  env: NodeJS.ProcessEnv;
  /** What it printed so far. */
  output(): string;
  /** Runs a script of bash beside it that was written for port 8080. Returns what it printed. */
  run(script: string): Promise<string>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
};

export type ProgramOptions = {
  /** When the clock of the program begins, and of all that is run beside it. */
  from?: Temporal.Instant;
  logLevel?: string;
  env?: Record<string, string>;
};

export async function startProgram(options: ProgramOptions = {}): Promise<RunningProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-running-'));
  // PostgreSQL may have to run as another user than the tests.
  await chmod(folder, 0o755);
  const port = await freePort();
  const { DATABASE_URL: _, BILLWRIGHT_TEST_CLUSTER: __, ...inherited } = process.env;
  const dataFolder = join(folder, 'data');
  copyReadyFolder(dataFolder);
  const { from, logLevel = 'warn' } = options;
  const env = {
    ...inherited,
    ...{ PORT: String(port), BILLWRIGHT_DATA: dataFolder, LOG_LEVEL: logLevel },
    // A slow machine takes its time for a step, and the next one begins after it.
    SCHEDULE_WAIT_SECONDS: '50',
    ...(from ? shifted(from) : {}),
    ...options.env,
  };
  const args = [...quickProgram, 'src/main.ts', 'start'];
  const program = spawn(process.execPath, args, { cwd: root, env });
  let output = '';
  program.stdout.on('data', (chunk) => (output += chunk));
  program.stderr.on('data', (chunk) => (output += chunk));
  const stop = async () => {
    const ended = program.exitCode === null ? once(program, 'exit') : [program.exitCode];
    program.kill('SIGTERM');
    const [exitCode] = await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    assert.equal(exitCode, 0, output);
  };
  const running = { port, env, output: () => output, run: (script: string) => bash(script), stop };
  async function bash(script: string): Promise<string> {
    const text = script.replaceAll(':8080', `:${port}`);
    const asked = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], { cwd: root, env });
    const { stdout } = await asked.catch((error) =>
      assert.fail(`${error.message}\n${error.stdout}`),
    );
    return stdout;
  }
  try {
    await untilReady(running, () => program.exitCode === null);
    return running;
  } catch (error) {
    program.kill('SIGTERM');
    throw error;
  }
}

async function untilReady({ port, output }: RunningProgram, isAlive: () => boolean): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
    if (ready?.ok) return;
    assert.ok(isAlive(), output());
    assert.ok(performance.now() < deadline, `not ready: ${output()}`);
    await sleep(50);
  }
}

/** The processes that it starts have the same clock. */
function shifted(from: Temporal.Instant): NodeJS.ProcessEnv {
  const milliseconds = from.since(Temporal.Now.instant()).total('milliseconds');
  const preload = new URL('shifted-clock.mjs', import.meta.url).href;
  return {
    BILLWRIGHT_TEST_SHIFT_MS: String(Math.round(milliseconds)),
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`.trim(),
  };
}
