import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Connection, crashEmbedded } from '../../src/base/postgres/embedded.ts';
import { type Answer, openUsedScene, postmasterPid, query } from './scene.ts';

const rounds = 5;

// What a recreated data folder could not have.
async function fingerprint(dataFolder: string, superuser: Connection): Promise<string> {
  const { ino } = await stat(join(dataFolder, 'postgres', 'cluster'));
  const [row] = await query(superuser, 'select system_identifier from pg_control_system()');
  return `${ino} ${row.system_identifier}`;
}

async function countRows(answer: Answer): Promise<number> {
  const [row] = await query(answer.owner, 'select count(*)::int as rows from kept');
  return row.rows;
}

test('PostgreSQL that outlived a killed program is adopted, five times over', async (t) => {
  const scene = await openUsedScene(t);
  let program = scene.program();
  const first = await program.answer;
  assert.equal(first.adopted, false, program.messages());
  const server = postmasterPid(scene.dataFolder);
  const before = await fingerprint(scene.dataFolder, first.superuser);
  await query(first.owner, 'drop table if exists kept; create table kept (round int)');
  for (let round = 1; round <= rounds; round++) {
    await query(first.owner, `insert into kept values (${round})`);
    await program.kill('SIGKILL');
    program = scene.program();
    const answer = await program.answer;
    assert.equal(answer.adopted, true, program.messages());
    assert.equal(await countRows(answer), round);
    assert.equal(postmasterPid(scene.dataFolder), server);
    assert.equal(await fingerprint(scene.dataFolder, answer.superuser), before);
  }
});

test('a killed program whose PostgreSQL was killed too recovers, five times over', async (t) => {
  const scene = await openUsedScene(t);
  let program = scene.program();
  const first = await program.answer;
  const before = await fingerprint(scene.dataFolder, first.superuser);
  await query(first.owner, 'drop table if exists kept; create table kept (round int)');
  for (let round = 1; round <= rounds; round++) {
    await query(first.owner, `insert into kept values (${round})`);
    const server = postmasterPid(scene.dataFolder);
    // In turn: the program first, so that the server dies as an orphan; and the server first.
    if (round % 2 === 0) process.kill(server, 'SIGKILL');
    await program.kill('SIGKILL');
    if (round % 2 === 1) process.kill(server, 'SIGKILL');
    program = scene.program();
    const answer = await program.answer;
    assert.equal(answer.adopted, false, program.messages());
    assert.equal(await countRows(answer), round);
    assert.equal(await fingerprint(scene.dataFolder, answer.superuser), before);
  }
});

test('Ctrl-C in the terminal reaches the program, which stops PostgreSQL cleanly', async (t) => {
  const scene = await openUsedScene(t);
  const program = scene.program();
  const { owner, pid } = await program.answer;
  await query(owner, 'drop table if exists kept; create table kept as select 1 as one');
  process.kill(-pid, 'SIGINT');
  const [code] = await once(program.child, 'exit');
  assert.equal(code, 0);
  assert.throws(() => postmasterPid(scene.dataFolder), /ENOENT/);
  const again = await scene.start();
  const [state] = await query(again.superuser, 'select pg_is_in_recovery() as recovers');
  assert.equal(state.recovers, false);
  assert.deepEqual(await query(again.owner, 'select one from kept'), [{ one: 1 }]);
});

test('a program is notified when PostgreSQL crashes, and starts it again', async (t) => {
  const scene = await openUsedScene(t);
  const lost = Promise.withResolvers<void>();
  const first = await scene.start({ onLost: lost.resolve });
  await query(first.owner, 'drop table if exists kept; create table kept as select 1 as one');
  await crashEmbedded(scene.dataFolder);
  await lost.promise;
  const second = await scene.start();
  assert.equal(second.adopted, false);
  assert.deepEqual(await query(first.owner, 'select one from kept'), [{ one: 1 }]);
  await first.stop();
  assert.deepEqual(await query(second.owner, 'select one from kept'), [{ one: 1 }]);
});

test('an orphan with other settings is restarted with the wanted ones', async (t) => {
  const scene = await openUsedScene(t);
  const program = scene.program();
  await program.answer;
  await program.kill('SIGKILL');
  const embedded = await scene.start({ settings: { fsync: 'off', work_mem: '7MB' } });
  assert.deepEqual(await query(embedded.owner, 'show work_mem'), [{ work_mem: '7MB' }]);
});
