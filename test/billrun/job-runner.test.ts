// Jobs and their parts: begun on time, shared, done once, given up when they cannot be done.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { effectsOf, makeEffects, markingStep } from '../support/effects.ts';
import { ask, ended, jobOf, newTenant, range, run, stopAll } from '../support/marking-jobs.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
await makeEffects(scene.sql);
const { clock } = scene;

afterEach(stopAll);

test('a job is begun at once, done in its parts, each once, and ends with its outcome', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant(scene);
  run(scene, [step]);
  const { jobId, isImmediate } = await ask(scene, tenantId, step, {
    items: 10,
    size: 3,
    rows: ['big'],
  });
  assert.ok(isImmediate);
  const job = await ended(scene, tenantId, jobId);
  assert.equal(job.status, 'Succeeded');
  assert.deepEqual(job.outcome, { message: '10 of 10 marked' });
  assert.deepEqual([job.done, job.total], [10, 10]);
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(10));
  const { rows } = await scene.sql.query(
    `select parameters, (select count(*) from job_chunks) + (select count(*) from chunk_attempts)
       as left from jobs where tenant_id = $1 and job_id = $2`,
    [tenantId, jobId],
  );
  assert.deepEqual(rows, [{ parameters: { items: 10, size: 3 }, left: '0' }]);
});

test('many lanes and workers share the parts of one job', async () => {
  const helpers = new Set<string>();
  const slow = (name: string) =>
    markingStep('mark', {
      work: async (tx, job, chunk, tools) => {
        helpers.add(name);
        // On a busy machine one worker could do everything before the others are notified.
        await until(() => helpers.size === 3, 'all three take part');
        await sleep(5);
        return markingStep('mark').work(tx, job, chunk, tools);
      },
    });
  const tenantId = await newTenant(scene);
  for (const name of ['a', 'b', 'c']) run(scene, [slow(name)], { lanes: 3 });
  const { jobId } = await ask(scene, tenantId, slow('x'), { items: 300, size: 2 });
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(300));
  assert.deepEqual([...helpers].sort(), ['a', 'b', 'c']);
});

test('idle workers are notified of the chunks of a job that has just begun', async () => {
  const helpers = new Set<string>();
  const step = (name: string) =>
    markingStep('mark', {
      prepare: async (tx, job) => {
        // Time enough for the other one to look, and to go to rest.
        await sleep(300);
        return markingStep('mark').prepare(tx, job);
      },
      work: async (tx, job, chunk, tools) => {
        helpers.add(name);
        await until(() => helpers.size === 2, 'both take part');
        return markingStep('mark').work(tx, job, chunk, tools);
      },
    });
  const tenantId = await newTenant(scene);
  for (const name of ['a', 'b']) run(scene, [step(name)], { lanes: 1, pollMs: 600_000 });
  const { jobId } = await ask(scene, tenantId, step('x'));
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
});

test('a worker that lost its listening connection finds new jobs again, and those it missed', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant(scene);
  // No worker polls.
  run(scene, [step], { lanes: 1, pollMs: 600_000 });
  const ears = async () => {
    const { rows } = await scene.sql.query(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'billwright listener'
         and query like 'listen %' and state = 'idle'`,
    );
    return rows.map(({ pid }) => pid as number);
  };
  const soon = (jobId: number) =>
    until(async () => (await jobOf(scene, tenantId, jobId)).finished_at, 'it is done', 10_000);
  await until(async () => (await ears()).length === 1, 'it listens');
  await soon((await ask(scene, tenantId, step)).jobId);
  const [lost = 0] = await ears();
  await scene.sql.query('select pg_terminate_backend($1)', [lost]);
  await until(async () => !(await ears()).includes(lost), 'it is cut off');
  await soon((await ask(scene, tenantId, step)).jobId);
  await until(async () => (await ears()).length === 1, 'it listens again');
  await soon((await ask(scene, tenantId, step)).jobId);
});

test('a job in the future waits for its time by the clock of its workspace', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant(scene, { timezone: 'Asia/Karachi', sandbox: true });
  run(scene, [step]);
  const now = clock.now().toZonedDateTimeISO('Asia/Karachi');
  const at = now.add({ days: 3 }).toPlainDateTime().round('second').toString();
  const { jobId, isImmediate } = await ask(scene, tenantId, step, undefined, at);
  assert.ok(!isImmediate);
  await sleep(1_500);
  assert.equal((await jobOf(scene, tenantId, jobId)).status, 'Scheduled');
  const move = (ms: number) =>
    scene.sql.query(
      `begin; select set_config('app.tenant', '${tenantId}', true);
       update tenants set clock_offset_ms = ${ms} where tenant_id = ${tenantId}; commit`,
    );
  const days = 86_400_000;
  await move(3 * days - 60_000);
  await sleep(1_500);
  assert.equal((await jobOf(scene, tenantId, jobId)).status, 'Scheduled', 'a minute too early');
  await move(3 * days + 2_000);
  const job = await ended(scene, tenantId, jobId);
  assert.equal(job.status, 'Succeeded');
  assert.ok(Temporal.Instant.compare(job.started_at as Temporal.Instant, job.due_at) >= 0);
});

test('a job that was asked for while no worker ran is done by the next one', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant(scene);
  const { jobId } = await ask(scene, tenantId, step);
  assert.equal((await jobOf(scene, tenantId, jobId)).status, 'Scheduled');
  run(scene, [step]);
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
});

test('a busy workspace does not keep another one waiting', async () => {
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      await sleep(20);
      return markingStep('mark').work(tx, job, chunk, tools);
    },
  });
  const [large, small] = [await newTenant(scene), await newTenant(scene)];
  run(scene, [step], { lanes: 1 });
  const { jobId: long } = await ask(scene, large, step, { items: 200, size: 1 });
  await until(async () => (await jobOf(scene, large, long)).done > 3, 'the long one is under way');
  const { jobId: short } = await ask(scene, small, step, { items: 5, size: 1 });
  await ended(scene, small, short);
  const under = await jobOf(scene, large, long);
  assert.equal(under.status, 'Running');
  assert.ok(under.done < 60, `${under.done} parts were done first`);
  await ended(scene, large, long);
});

test('jobs of a suspended workspace wait until it is resumed', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant(scene);
  const set = (status: string) =>
    scene.sql.query(
      `begin; select set_config('app.tenant', '${tenantId}', true);
       update tenants set status = '${status}' where tenant_id = ${tenantId}; commit`,
    );
  await set('Suspended');
  const { jobId } = await ask(scene, tenantId, step);
  run(scene, [step]);
  await sleep(1_200);
  assert.equal((await jobOf(scene, tenantId, jobId)).status, 'Scheduled');
  await set('Active');
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
});
