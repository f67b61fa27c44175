// The log of a process whose standard output has no reader, or a slow one.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const endMs = 20_000;

/** A process that has a log, and does with it what the script says at the first signal. */
function logging(script: string): ChildProcess {
  const program = `
    import { createLog } from './src/base/log.ts';
    const log = createLog({ level: 'info' });
    process.on('SIGTERM', async () => { ${script} });
    setInterval(() => {}, 1000);
    log.info('ready');`;
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Stops reading for good, then tells it to go on: it has to end. */
async function leaveUnread(child: ChildProcess): Promise<void> {
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.kill('SIGTERM');
  const ended = once(child, 'exit');
  const isTooLong = sleep(endMs, 'too long' as const, { ref: false });
  const first = await Promise.race([ended, isTooLong]);
  child.kill('SIGKILL');
  assert.deepEqual(first, [0, null], 'it does not end');
}

/** Tells it to go on, and reads only after a while. */
async function readLate(child: ChildProcess): Promise<{ line?: number; msg: string }[]> {
  assert.ok(child.stdout);
  let text = '';
  await once(child.stdout, 'data');
  child.stdout.pause();
  child.kill('SIGTERM');
  await sleep(300);
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stdout.resume();
  await once(child, 'close');
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

test('a process whose log has no reader ends when it is stopped', async () => {
  const child = logging(`
    log.info('stopping');
    log.info('stopped');
    process.exit(0);`);
  await leaveUnread(child);
});

test('it goes on when the reader has ended, however much it says', async () => {
  const child = logging(`
    for (let line = 0; line < 1000; line += 1) {
      log.info({ line }, 'said without a reader');
      if (line % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    process.exit(0);`);
  await leaveUnread(child);
});

test('a slow reader gets every line, in order, the last ones too', async () => {
  const lines = 5_000;
  const child = logging(`
    for (let line = 0; line < ${lines}; line += 1) log.info({ line }, 'said');
    await new Promise((resolve) => setTimeout(resolve, 50));
    log.info({ line: ${lines} }, 'said');
    log.info({ line: ${lines + 1} }, 'said');
    log.flush(() => process.exit(0));`);
  const said = await readLate(child);
  assert.deepEqual(
    said.map(({ line }) => line),
    Array.from({ length: lines + 2 }, (_, line) => line),
  );
});

test('a reader that stops reading fills no memory, and later learns that lines are missing', async () => {
  const child = logging(`
    const text = 'x'.repeat(1000);
    for (let line = 0; line < 20_000; line += 1) log.info({ line, text }, 'said');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    log.info('after');
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.exit(0);`);
  const said = await readLate(child);
  assert.ok(said.length < 20_000, 'nothing was dropped');
  assert.deepEqual(
    said.slice(-2).map(({ msg }) => msg),
    ['lines of this log were lost before this one', 'after'],
  );
});
