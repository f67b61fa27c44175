import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DataFolderInUse } from '../../src/base/postgres/embedded.ts';
import { openScene, openUsedScene, postmasterPid, query, type Scene } from './scene.ts';

test('a second program reports which process owns the data folder, and leaves it alone', async (t) => {
  const scene = await openUsedScene(t);
  const first = await scene.program().answer;
  await query(first.owner, 'drop table if exists kept; create table kept as select 1 as one');
  const server = postmasterPid(scene.dataFolder);
  const second = scene.program();
  const answer = await second.answer;
  assert.equal(answer.error, 'DataFolderInUse');
  assert.match(answer.message ?? '', new RegExp(`${scene.dataFolder} .* process ${first.pid}$`));
  const [code] = second.child.exitCode === null ? await once(second.child, 'exit') : [1];
  assert.equal(code, 1);
  await assert.rejects(scene.start(), DataFolderInUse);
  assert.equal(postmasterPid(scene.dataFolder), server);
  assert.deepEqual(await query(first.owner, 'select one from kept'), [{ one: 1 }]);
});

test('of three programs started at once on a new data folder one wins', async (t) => {
  const scene = await openScene(t);
  const programs = [scene.program(), scene.program(), scene.program()];
  const answers = await Promise.all(programs.map((program) => program.answer));
  const winners = answers.filter((answer) => !answer.error);
  const losers = answers.filter((answer) => answer.error === 'DataFolderInUse');
  assert.deepEqual([winners.length, losers.length], [1, 2], JSON.stringify(answers));
  for (const loser of losers) assert.match(loser.message ?? '', new RegExp(`${winners[0]?.pid}$`));
});

test('a program started while another one stops waits for it', async (t) => {
  const scene = await openUsedScene(t);
  const first = await scene.start();
  await query(first.owner, 'drop table if exists kept; create table kept as select 1 as one');
  const stopped = first.stop();
  const second = await scene.start();
  await stopped;
  assert.equal(second.adopted, false);
  assert.deepEqual(await query(second.owner, 'select one from kept'), [{ one: 1 }]);
});

// Leaves a data folder as a crash does, with both of PostgreSQL's lock files naming `pid`.
async function crashNaming(scene: Scene, pid: number): Promise<void> {
  const program = scene.program();
  const { owner } = await program.answer;
  await query(owner, 'drop table if exists kept; create table kept as select 1 as one');
  const pidFile = join(scene.dataFolder, 'postgres', 'cluster', 'postmaster.pid');
  const socketLock = join(owner.host, '.s.PGSQL.5432.lock');
  const server = postmasterPid(scene.dataFolder);
  const texts = await Promise.all([pidFile, socketLock].map((file) => readFile(file, 'utf8')));
  await program.kill('SIGKILL');
  process.kill(server, 'SIGKILL');
  await writeFile(pidFile, texts[0]?.replace(String(server), String(pid)) ?? '');
  await writeFile(socketLock, texts[1]?.replace(String(server), String(pid)) ?? '');
}

async function expectDataAfterStart(scene: Scene): Promise<void> {
  const embedded = await scene.start();
  assert.equal(embedded.adopted, false);
  assert.deepEqual(await query(embedded.owner, 'select one from kept'), [{ one: 1 }]);
}

function livingShell(t: TestContext): number {
  const shell = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
  t.after(() => shell.kill('SIGKILL'));
  assert.ok(shell.pid);
  return shell.pid;
}

test('lock files that name a living shell are removed, and the shell lives on', async (t) => {
  const scene = await openUsedScene(t);
  const shell = livingShell(t);
  await crashNaming(scene, shell);
  await expectDataAfterStart(scene);
  assert.ok(process.kill(shell, 0));
});

test('lock files that name a dead process are taken over', async (t) => {
  const scene = await openUsedScene(t);
  const dead = spawnSync('/bin/true').pid;
  await crashNaming(scene, dead);
  await expectDataAfterStart(scene);
});

test('lock files that name PostgreSQL of another folder are removed', async (t) => {
  const [scene, other] = [await openUsedScene(t), await openScene(t)];
  const neighbour = await other.start();
  await crashNaming(scene, postmasterPid(other.dataFolder));
  await expectDataAfterStart(scene);
  assert.deepEqual(await query(neighbour.owner, 'select 1 as one'), [{ one: 1 }]);
});

test('a command joins a running program and leaves it running', async (t) => {
  const scene = await openUsedScene(t);
  const program = await scene.start();
  const command = await scene.start({ use: 'join' });
  assert.equal(command.adopted, true);
  await query(command.owner, 'drop table if exists kept; create table kept as select 1 as one');
  await command.stop();
  assert.deepEqual(await query(program.owner, 'select one from kept'), [{ one: 1 }]);
});

test('a command alone starts PostgreSQL and stops it at its end', async (t) => {
  const scene = await openUsedScene(t);
  const command = await scene.start({ use: 'join' });
  assert.equal(command.adopted, false);
  await query(command.owner, 'drop table if exists kept; create table kept as select 1 as one');
  await command.stop();
  const pidFile = join(scene.dataFolder, 'postgres', 'cluster', 'postmaster.pid');
  assert.equal(existsSync(pidFile), false);
});

test('a command that started PostgreSQL leaves it to a program that joined meanwhile', async (t) => {
  const scene = await openUsedScene(t);
  const command = await scene.start({ use: 'join' });
  const beside = await scene.start({ use: 'join' });
  await command.stop();
  assert.deepEqual(await query(beside.owner, 'select 1 as one'), [{ one: 1 }]);
  const program = await scene.start();
  assert.equal(program.adopted, true);
  await beside.stop();
  assert.deepEqual(await query(program.owner, 'select 1 as one'), [{ one: 1 }]);
});
