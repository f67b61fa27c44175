// The database goes away in the middle of calls: callers hear UNAVAILABLE, the server lives on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true, apiConnections: 4 });
const admin = await scene.workspace('lost');

const uncaught: unknown[] = [];
const listen = (error: unknown) => uncaught.push(error);
before(() => process.on('uncaughtException', listen));
after(() => process.off('uncaughtException', listen));

async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'OK',
    (error) => error.code ?? String(error),
  );
}

async function endConnections(): Promise<void> {
  await scene.sql.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'test api'`,
  );
}

async function waiting(): Promise<number> {
  const { rows } = await scene.sql.query(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

test('running calls are answered as retryable if connections end, and the next calls work', async () => {
  for (let round = 0; round < 3; round += 1) {
    await scene.sql.query('begin');
    await scene.sql.query('lock table parties');
    const calls = Array.from({ length: 4 }, (_, i) =>
      outcome(admin.makeUsers({ userType: 'customer', users: [{ name: `Lost ${round} ${i}` }] })),
    );
    while ((await waiting()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await endConnections();
    await scene.sql.query('rollback');
    const outcomes = await Promise.all(calls);
    assert.ok(outcomes.includes('UNAVAILABLE'), outcomes.join());
    assert.ok(
      outcomes.every((one) => one === 'UNAVAILABLE' || one === 'OK'),
      outcomes.join(),
    );
    const stored = outcomes.filter((one) => one === 'OK').length;
    const { rows } = await scene.sql.query(
      'select count(*)::int as count from parties where name like $1',
      [`Lost ${round} %`],
    );
    assert.equal(rows[0].count, stored, 'what was answered with success, and nothing else');
    await untilServed();
  }
});

/** Connections that died while idle may cost one call each an answer, never more. */
async function untilServed(): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if ((await outcome(admin.listUsers())) === 'OK') return;
  }
  assert.fail('the server does not recover');
}

test('idle connections that end are replaced', async () => {
  await Promise.all(Array.from({ length: 4 }, () => admin.listUsers()));
  await endConnections();
  await untilServed();
  const ready = await fetch(new URL('/ready', scene.baseUrl));
  assert.equal(ready.status, 200);
});

test('no lost connection causes an uncaught error', async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(uncaught, []);
});
