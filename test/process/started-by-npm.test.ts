// npm runs a program in a shell, and passes a signal on to that shell alone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { assertNothingRuns, openPlace, until } from '../support/program.ts';
import { quickProgram } from '../support/quick-node.ts';
import { root } from '../support/source.ts';

const place = await openPlace();

test('a program that npm started stops cleanly when the shell of npm is ended', async () => {
  const { PATH, BILLWRIGHT_TEST_BUNDLE } = process.env;
  const dataFolder = place.ready('started-by-npm');
  const command = [process.execPath, ...quickProgram, 'src/main.ts', 'serve'].join(' ');
  // The second command keeps the shell from becoming the program.
  const shell = spawn('sh', ['-c', `${command}; exit 0`], {
    cwd: root,
    env: {
      ...{ PATH, BILLWRIGHT_TEST_BUNDLE, npm_command: 'exec' },
      ...{ PORT: '0', BILLWRIGHT_DATA: dataFolder, DEMO_SUBSCRIPTIONS: '0' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.on('data', (chunk) => (output += chunk));
  await until(() => output.includes('"msg":"ready"'), 'the program is ready');
  const closed = once(shell, 'close');
  shell.kill('SIGTERM');
  await closed;
  assert.match(output, /"reason":"the parent process is gone".*"stopping"/);
  assert.match(output, /"msg":"stopped"/);
  await assertNothingRuns(place.folder);
});
