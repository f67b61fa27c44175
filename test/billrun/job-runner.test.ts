// Jobs and their parts: begun on time, shared, done once, given up when they cannot be done.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { AppError } from '../../src/base/errors.ts';
import { findSettings } from '../../src/domain/tenants/store.ts';
import { tenantFrom } from '../../src/domain/tenants/tenant.ts';
import { deleteAttempts, insertAttempt, renewAttempts } from '../../src/jobs/attempts-store.ts';
import { findJob } from '../../src/jobs/jobs-store.ts';
import { scheduleStep } from '../../src/jobs/schedule-step.ts';
import type { Step, Worked } from '../../src/jobs/step.ts';
import type { JobRunner } from '../../src/worker/job-runner.ts';
import { effectsOf, makeEffects, markingStep } from '../support/effects.ts';
import { until } from '../support/program.ts';
import { whileCrew } from '../support/run-steps.ts';
import { makeWorkspace, openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
await makeEffects(scene.sql);
const { clock } = scene;

const runners: JobRunner[] = [];

function run(
  steps: readonly Step[],
  options: { lanes?: number; leaseSeconds?: number; pollMs?: number } = {},
) {
  const runner = scene.runJobs({ steps, lanes: 2, ...options });
  runners.push(runner);
  return runner;
}

async function stopAll(): Promise<void> {
  for (const runner of runners.splice(0)) await runner.stop();
}

afterEach(stopAll);

let made = 0;

async function newTenant(options: { timezone?: string; sandbox?: boolean } = {}): Promise<number> {
  made += 1;
  const { cluster, databaseName } = scene;
  return makeWorkspace(cluster, databaseName, clock.now(), `jobs-${made}`, options);
}

function ask(
  tenantId: number,
  step: Step,
  parameters: object = { items: 10, size: 3 },
  scheduleTime: string | null = null,
) {
  return tenantTransact(scene.api, tenantId, async (tx) => {
    const tenant = tenantFrom(tenantId, await findSettings(tx, tenantId));
    const request = {
      tenant,
      now: clock.now().add({ milliseconds: tenant.clockOffsetMs }),
      requestedBy: 'somebody',
      termId: null,
      billId: null,
      parameters: { ...parameters },
    };
    return scheduleStep(tx, step, request, scheduleTime);
  });
}

const jobOf = (tenantId: number, jobId: number) =>
  tenantTransact(scene.api, tenantId, async (tx) => {
    const job = await findJob(tx, tenantId, jobId);
    assert.ok(job);
    return job;
  });

async function ended(tenantId: number, jobId: number) {
  return until(async () => {
    const job = await jobOf(tenantId, jobId);
    return job.finished_at && job;
  }, `job ${jobId} ends`);
}

const range = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test('a job is begun at once, done in its parts, each once, and ends with its outcome', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant();
  run([step]);
  const { jobId, isImmediate } = await ask(tenantId, step, { items: 10, size: 3, rows: ['big'] });
  assert.ok(isImmediate);
  const job = await ended(tenantId, jobId);
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
  const tenantId = await newTenant();
  for (const name of ['a', 'b', 'c']) run([slow(name)], { lanes: 3 });
  const { jobId } = await ask(tenantId, slow('x'), { items: 300, size: 2 });
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
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
  const tenantId = await newTenant();
  for (const name of ['a', 'b']) run([step(name)], { lanes: 1, pollMs: 600_000 });
  const { jobId } = await ask(tenantId, step('x'));
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
});

test('a worker that lost its listening connection finds new jobs again, and those it missed', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant();
  // No worker polls.
  run([step], { lanes: 1, pollMs: 600_000 });
  const ears = async () => {
    const { rows } = await scene.sql.query(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'billwright listener'
         and query like 'listen %' and state = 'idle'`,
    );
    return rows.map(({ pid }) => pid as number);
  };
  const soon = (jobId: number) =>
    until(async () => (await jobOf(tenantId, jobId)).finished_at, 'it is done', 10_000);
  await until(async () => (await ears()).length === 1, 'it listens');
  await soon((await ask(tenantId, step)).jobId);
  const [lost = 0] = await ears();
  await scene.sql.query('select pg_terminate_backend($1)', [lost]);
  await until(async () => !(await ears()).includes(lost), 'it is cut off');
  await soon((await ask(tenantId, step)).jobId);
  await until(async () => (await ears()).length === 1, 'it listens again');
  await soon((await ask(tenantId, step)).jobId);
});

test('a job in the future waits for its time by the clock of its workspace', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant({ timezone: 'Asia/Karachi', sandbox: true });
  run([step]);
  const now = clock.now().toZonedDateTimeISO('Asia/Karachi');
  const at = now.add({ days: 3 }).toPlainDateTime().round('second').toString();
  const { jobId, isImmediate } = await ask(tenantId, step, undefined, at);
  assert.ok(!isImmediate);
  await sleep(1_500);
  assert.equal((await jobOf(tenantId, jobId)).status, 'Scheduled');
  const move = (ms: number) =>
    scene.sql.query(
      `begin; select set_config('app.tenant', '${tenantId}', true);
       update tenants set clock_offset_ms = ${ms} where tenant_id = ${tenantId}; commit`,
    );
  const days = 86_400_000;
  await move(3 * days - 60_000);
  await sleep(1_500);
  assert.equal((await jobOf(tenantId, jobId)).status, 'Scheduled', 'a minute too early');
  await move(3 * days + 2_000);
  const job = await ended(tenantId, jobId);
  assert.equal(job.status, 'Succeeded');
  assert.ok(Temporal.Instant.compare(job.started_at as Temporal.Instant, job.due_at) >= 0);
});

test('a job that was asked for while no worker ran is done by the next one', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant();
  const { jobId } = await ask(tenantId, step);
  assert.equal((await jobOf(tenantId, jobId)).status, 'Scheduled');
  run([step]);
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
});

test('a refusal at the beginning, in a part or at the end fails the job with its code', async () => {
  const refuse = async () => {
    throw new AppError('TERM_NOT_FOUND', { message: 'gone', field: 'data.termID' });
  };
  const tenantId = await newTenant();
  const cases: Record<string, Partial<Step>> = {
    begins: { prepare: refuse },
    works: {
      work: async (tx, job, chunk, tools) =>
        chunk.chunk === 2 ? refuse() : markingStep('x').work(tx, job, chunk, tools),
    },
    ends: { finish: refuse },
  };
  const steps = Object.entries(cases).map(([name, change]) => markingStep(name, change));
  run(steps);
  for (const step of steps) {
    const { jobId } = await ask(tenantId, step);
    const job = await ended(tenantId, jobId);
    assert.equal(job.status, 'Failed', step.operation);
    assert.equal(job.error?.code, 'TERM_NOT_FOUND');
    assert.equal(job.error?.message, 'gone');
    assert.equal(job.error?.field, 'data.termID');
  }
});

test('a full disk fails the job at once with that reason', async () => {
  let tried = 0;
  const message = 'could not extend file "base/1/2": No space left on device';
  const step = markingStep('mark', {
    work: async () => {
      tried += 1;
      throw Object.assign(new Error(message), { code: '53100' });
    },
  });
  const tenantId = await newTenant();
  run([step], { lanes: 1 });
  const { jobId } = await ask(tenantId, step);
  const job = await ended(tenantId, jobId);
  assert.deepEqual([job.status, job.error?.code, tried], ['Failed', 'UNAVAILABLE', 1]);
  assert.match(job.error?.message ?? '', /^The disk of the database is full/);
  const { rows } = await scene.sql.query('select count(*)::integer as left from chunk_attempts');
  assert.deepEqual(rows, [{ left: 0 }]);
});

test('a part that misses a file of the machine fails, and is not taken for one without a database', async () => {
  let tried = 0;
  const step = markingStep('mark', {
    work: async () => {
      tried += 1;
      await readFile('/nowhere/at-all.pdf');
      return { done: 1 };
    },
  });
  const tenantId = await newTenant();
  run([step], { lanes: 1 });
  const { jobId } = await ask(tenantId, step, { items: 1, size: 1 });
  const job = await ended(tenantId, jobId);
  assert.deepEqual([job.status, job.error?.code, tried], ['Failed', 'INTERNAL_ERROR', 3]);
});

test('a chunk that fails three times is set aside and the others are done', async () => {
  let tried = 0;
  const broken: Partial<Step> = {
    work: async (tx, job, chunk, tools) => {
      if (chunk.chunk !== 2) return markingStep('x').work(tx, job, chunk, tools);
      tried += 1;
      throw new Error('a secret of the program');
    },
  };
  const step = markingStep('mark', broken);
  const tolerant = markingStep('tolerate', {
    ...broken,
    setAside: async (_tx, _job, chunk, reason) => ({ done: 3, outcome: { chunk, reason } }),
    finish: async (_tx, _job, worked) => {
      finished.push(worked);
      return { message: 'the rest is finished' };
    },
  });
  const finished: Worked[] = [];
  const tenantId = await newTenant();
  run([step, tolerant]);
  const { jobId } = await ask(tenantId, step);
  const job = await ended(tenantId, jobId);
  assert.equal(job.status, 'Failed');
  assert.equal(tried, 3);
  assert.equal(job.error?.code, 'INTERNAL_ERROR');
  assert.equal(job.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), [1, 2, 3, 7, 8, 9, 10]);
  const { jobId: second } = await ask(tenantId, tolerant);
  const ending = await ended(tenantId, second);
  assert.equal(ending.status, 'Failed');
  assert.equal(ending.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  const [worked] = finished;
  assert.deepEqual(worked?.setAside, [{ chunk: 2, message: 'a secret of the program' }]);
  assert.match(JSON.stringify(worked?.outcomes), /a secret of the program/);
});

test('a worker without a heartbeat loses its chunk, and cannot commit it when it wakes up', async () => {
  let release: () => void = () => {};
  const stuck = new Promise<void>((resolve) => {
    release = resolve;
  });
  const good = markingStep('mark');
  const held = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      const result = await good.work(tx, job, chunk, tools);
      await stuck;
      return result;
    },
  });
  const tenantId = await newTenant();
  // Its sign of life comes so late that others have long given it up.
  const paused = run([held], { lanes: 1, leaseSeconds: 3_600 });
  const { jobId } = await ask(tenantId, good, { items: 4, size: 2 });
  await until(async () => (await jobOf(tenantId, jobId)).status === 'Running', 'it has begun');
  await sleep(300);
  run([good], { leaseSeconds: 1 });
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
  release();
  await paused.stop();
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(4));
  assert.match(scene.logged.join(''), /chunks of a lost worker were freed/);
  assert.match(scene.logged.join(''), /fenced/);
});

/** Pauses at the end of its first chunk until it is released or the test ends. */
function haltingStep(good: Step) {
  const [halted, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  after(() => released.resolve());
  let tried = 0;
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      const result = await good.work(tx, job, chunk, tools);
      tried += 1;
      if (tried === 1) {
        halted.resolve();
        await released.promise;
      }
      return result;
    },
  });
  return { step, halted: halted.promise, release: released.resolve, tried: () => tried };
}

test('a chunk whose attempt is no longer recorded is not committed', async () => {
  const good = markingStep('mark');
  const { step, halted, release, tried } = haltingStep(good);
  const tenantId = await newTenant();
  run([step], { lanes: 1 });
  const { jobId } = await ask(tenantId, good, { items: 2, size: 2 });
  await halted;
  // As a worker does that stops without waiting for its parts. This one is still connected.
  const { rowCount } = await scene.sql.query(
    'delete from chunk_attempts where tenant_id = $1 and job_id = $2 and chunk = 1',
    [tenantId, jobId],
  );
  assert.equal(rowCount, 1);
  release();
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
  assert.equal(tried(), 2, 'it was done again');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(2));
  assert.match(scene.logged.join(''), /the chunk was taken away while it was worked on/);
});

test('a worker without a heartbeat for nearly two minutes has lost its chunk to another', async () => {
  const good = markingStep('mark');
  const { step, halted, release } = haltingStep(good);
  const tenantId = await newTenant();
  // It would tell that it lives in ten minutes.
  const silent = run([step], { lanes: 1, leaseSeconds: 3_600 });
  const { jobId } = await ask(tenantId, good, { items: 2, size: 2 });
  await halted;
  await scene.sql.query(
    `update chunk_attempts set seen_at = seen_at - interval '110 seconds'
     where tenant_id = $1 and job_id = $2`,
    [tenantId, jobId],
  );
  // As workers usually are: nothing is said of leases.
  run([good], { lanes: 1 });
  const isEnded = async () => (await jobOf(tenantId, jobId)).finished_at;
  await until(isEnded, 'it is done in the rest of the two minutes', 10_000);
  release();
  await silent.stop();
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(2));
});

test('a worker that stops in the middle of its heartbeat does not delay other workers', async () => {
  const tenantId = await newTenant();
  const { jobId } = await ask(tenantId, markingStep('mark'));
  const attempt = { jobId, chunk: 1, attempt: 1 };
  await whileCrew(scene, `jobs-${made}`, async ({ database }) => {
    await tenantTransact(database, tenantId, (tx) =>
      insertAttempt(tx, tenantId, attempt, { worker: 'asleep', backendPid: 1 }),
    );
    const wake = Promise.withResolvers<void>();
    const asleep = tenantTransact(database, tenantId, async (tx) => {
      await renewAttempts(tx, tenantId, [attempt]);
      await wake.promise;
    });
    const lost = assert.rejects(asleep);
    const isDone = await tenantTransact(database, tenantId, (tx) =>
      deleteAttempts(tx, tenantId, attempt),
    );
    assert.ok(isDone);
    wake.resolve();
    await lost;
  });
});

test('a busy workspace does not keep another one waiting', async () => {
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      await sleep(20);
      return markingStep('mark').work(tx, job, chunk, tools);
    },
  });
  const [large, small] = [await newTenant(), await newTenant()];
  run([step], { lanes: 1 });
  const { jobId: long } = await ask(large, step, { items: 200, size: 1 });
  await until(async () => (await jobOf(large, long)).done > 3, 'the long one is under way');
  const { jobId: short } = await ask(small, step, { items: 5, size: 1 });
  await ended(small, short);
  const under = await jobOf(large, long);
  assert.equal(under.status, 'Running');
  assert.ok(under.done < 60, `${under.done} parts were done first`);
  await ended(large, long);
});

test('jobs of a suspended workspace wait until it is resumed', async () => {
  const step = markingStep('mark');
  const tenantId = await newTenant();
  const set = (status: string) =>
    scene.sql.query(
      `begin; select set_config('app.tenant', '${tenantId}', true);
       update tenants set status = '${status}' where tenant_id = ${tenantId}; commit`,
    );
  await set('Suspended');
  const { jobId } = await ask(tenantId, step);
  run([step]);
  await sleep(1_200);
  assert.equal((await jobOf(tenantId, jobId)).status, 'Scheduled');
  await set('Active');
  assert.equal((await ended(tenantId, jobId)).status, 'Succeeded');
});

test('a stop waits for the parts under way and leaves the rest to others', async () => {
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      await sleep(50);
      return markingStep('mark').work(tx, job, chunk, tools);
    },
  });
  const tenantId = await newTenant();
  const first = run([step]);
  const { jobId } = await ask(tenantId, step, { items: 20, size: 1 });
  await until(async () => (await jobOf(tenantId, jobId)).done > 2, 'it is under way');
  await first.stop();
  const { rows } = await scene.sql.query('select count(*)::integer as left from chunk_attempts');
  assert.deepEqual(rows, [{ left: 0 }]);
  const { done } = await jobOf(tenantId, jobId);
  assert.ok(done < 20);
  await sleep(200);
  assert.equal((await jobOf(tenantId, jobId)).done, done);
  run([step]);
  await ended(tenantId, jobId);
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(20));
});
