// The worker that belongs to the program is always there again.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { test } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import { keepWorker } from '../../src/commands/keep-worker.ts';
import { until } from '../support/program.ts';

const log = createLog({ level: 'silent' });
const waiting = new URL('data:text/javascript,setInterval(() => {}, 1000)');

function child(execPath: string): ChildProcess {
  return fork(new URL('../support/clock.ts', import.meta.url), [], {
    execPath,
    execArgv: ['--import', waiting.href],
  });
}

const isRunning = (one: ChildProcess | undefined) =>
  one?.pid !== undefined && one.exitCode === null && one.signalCode === null;

test('a worker that could not be started, or was killed, is started again', async () => {
  const started: ChildProcess[] = [];
  const kept = keepWorker(
    log,
    () => {
      const one = child(started.length < 2 ? '/nonexistent/node' : process.execPath);
      started.push(one);
      return one;
    },
    10,
  );
  await until(() => isRunning(started[2]), 'the third attempt runs');
  started[2]?.kill('SIGKILL');
  await until(() => isRunning(started[3]), 'another takes its place');
  await kept.stop();
  assert.equal(started.length, 4);
  assert.equal(isRunning(started[3]), false);
});

test('a program whose worker could not be started can be stopped', async () => {
  const kept = keepWorker(log, () => child('/nonexistent/node'), 10);
  await kept.stop();
});
