// The daily runner of a worker notices that a sandbox's clock was moved.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createLog } from '../../src/base/log.ts';
import { startDailyRunner } from '../../src/worker/daily-runner.ts';
import { asWorker } from '../support/daily-work.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const log = createLog({ level: 'silent' });
const dayMs = 24 * 3_600_000;

test('the daily runner does what is due, and wakes whenever the clock is moved', async () => {
  const client = await scene.workspace('daily-runner', { sandbox: true });
  const tenantId = await scene.enter(client);
  const { clock, sql } = scene;
  const connection = { ...scene.cluster.owner, database: scene.databaseName };
  const done = async () => {
    const { rows } = await sql.query(
      `select from daily_runs where tenant_id = $1 and job = 'housekeeping'`,
      [tenantId],
    );
    return rows.length;
  };
  const moveBy = (days: number) =>
    sql.query('update tenants set clock_offset_ms = $2 where tenant_id = $1', [
      tenantId,
      days * dayMs,
    ]);
  await asWorker(scene, async (database) => {
    const runner = await startDailyRunner({ database, connection, clock, log, tenantId });
    try {
      assert.equal(await done(), 1, 'done before it is ready');
      await moveBy(2);
      await until(async () => (await done()) === 3, 'the dates up to the moved clock are done');
      // Moved again while the dates of the second move are being done.
      const other = new pg.Client(connection);
      await other.connect();
      await other.query('begin; lock table tokens');
      await moveBy(4);
      const waiting = "select from pg_locks where not granted and relation = 'tokens'::regclass";
      await until(async () => (await sql.query(waiting)).rowCount, 'the runner waits');
      await moveBy(6);
      await sleep(200);
      await other.end();
      await until(async () => (await done()) === 7, 'the dates up to the third move are done');
    } finally {
      await runner.stop();
    }
  });
});
