// The npm package of the server, installed in an empty folder and started with the Node.js of the
// machine. npm gets the libraries from its registry, so `npm test` leaves this file out.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { readmeCommands } from '../support/readme-commands.ts';
import { root } from '../support/source.ts';

const run = promisify(execFile);
const waitMs = 120_000;
const ownPath = 'node_modules/billwright';
const folder = await mkdtemp(join(tmpdir(), 'billwright-package-'));
after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
// PostgreSQL may have to run as another user than the tests.
await chmod(folder, 0o755);
const place = join(folder, 'place');
const home = join(folder, 'home');
await mkdir(place);
await mkdir(home);
const port = await freePort();
/** Nothing of this clone, and nothing that npm sets for scripts. */
const env: NodeJS.ProcessEnv = {
  PATH: pathOfTheMachine(),
  HOME: home,
  PORT: String(port),
  DEMO_SUBSCRIPTIONS: '12',
  LOG_LEVEL: 'warn',
  SCHEDULE_WAIT_SECONDS: '50',
};
await run(process.execPath, [join(root, 'scripts', 'package.mjs'), folder], {
  env: { ...env, PATH: process.env.PATH },
});
const [packed = ''] = globSync('*.tgz', { cwd: folder });
await run('npm', ['install', '--no-audit', '--no-fund', join(folder, packed)], { cwd: place, env });

function pathOfTheMachine(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((one) => !one.includes('node_modules')).join(delimiter);
}

async function billwright(...args: string[]): Promise<string> {
  const { stdout } = await run('npx', ['billwright', ...args], { cwd: place, env });
  return stdout;
}

/** As a user types it; a signal to it reaches npm alone. */
async function start(): Promise<{ stop(): Promise<void> }> {
  const program = spawn('npx', ['billwright', 'start'], { cwd: place, env });
  let output = '';
  program.stdout.on('data', (chunk) => (output += chunk));
  program.stderr.on('data', (chunk) => (output += chunk));
  await until(async () => {
    assert.equal(program.exitCode, null, output);
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
    return ready?.ok === true;
  }, `not ready: ${output}`);
  return {
    async stop() {
      const ended = once(program, 'exit');
      program.kill('SIGTERM');
      await ended;
      const lock = join(place, 'data', 'postgres', 'cluster', 'postmaster.pid');
      assert.ok(existsSync(join(place, 'data', 'postgres', 'cluster', 'PG_VERSION')));
      await until(async () => !existsSync(lock), `PostgreSQL still runs: ${output}`);
      assert.doesNotMatch(output, /"level":[56]0/);
    },
  };
}

async function until(holds: () => Promise<boolean>, message: string): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, message);
    await sleep(100);
  }
}

test('the package installs the locked version of every library, and no tool of developers', async () => {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')).packages;
  const locked = await read(join(root, 'package-lock.json'));
  const { [ownPath]: own, ...installed } = await read(
    join(place, 'node_modules', '.package-lock.json'),
  );
  const libraries = Object.entries(installed as Record<string, { version: string }>).filter(
    ([path]) => !path.startsWith(`${ownPath}/`),
  );
  assert.ok(libraries.length > 100, String(libraries.length));
  for (const [path, { version }] of libraries) {
    assert.equal(version, locked[path]?.version, path);
    assert.equal(locked[path].dev, undefined, path);
  }
  assert.equal(existsSync(join(place, 'node_modules', '@scarf')), false);
});

test('npx billwright start in an empty folder serves the console, the demo and the README', async () => {
  const program = await start();
  try {
    const page = await run('curl', [
      '-s',
      '-H',
      'Accept: text/html',
      `http://demo.localhost:${port}/`,
    ]);
    assert.match(page.stdout, /<script [^>]*src="\/assets\//);
    const demo = await billwright('demo', 'run');
    assert.match(demo, /^ +\d+ bills generated, 0 in error, 0 on hold$/m);
    assert.match(demo, /^ +\d+ bills published$/m);
    assert.match(demo, /^ +Total( +[\d,]+\.\d\d){2} +0\.00$/m);
    const answers = await readmeWalk();
    assert.equal(answers.at(-1).data.billingGroup.accountCount, 1);
    assert.match(await billwright('doctor'), /^0 problems, 0 warnings$/m);
  } finally {
    await program.stop();
  }
});

async function readmeWalk() {
  const script = readmeCommands('walk')
    .replaceAll('npm run --silent billwright --', 'npx billwright')
    .replaceAll(':8080', `:${port}`);
  assert.match(script, /^npx billwright workspace create/m);
  const walked = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: place, env });
  const lines = walked.stdout.split('\n').filter((line) => line.startsWith('{'));
  const answers = lines.map((line) => JSON.parse(line));
  for (const answer of answers) assert.equal(answer.success, true, JSON.stringify(answer));
  return answers;
}

test('commands of the package work without a server: verify, backup, version', async () => {
  assert.match(await billwright('verify'), /^All checks passed\.$/m);
  assert.match(await billwright('backup', 'all.backup'), /all\.backup has [\d,]+ rows/);
  assert.equal(await billwright('version'), `${/\d+\.\d+\.\d+/.exec(packed)}\n`);
});

test('a command that writes files of the sources is refused in the package', async () => {
  const refused = await billwright('schema').then(() => assert.fail('not refused'), String);
  assert.match(refused, /'schema' writes files of the sources, so it runs in a clone only\./);
});
