// Jobs and their parts that fail, lose their worker, or are stopped.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { AppError } from '../../src/base/errors.ts';
import { deleteAttempts, insertAttempt, renewAttempts } from '../../src/jobs/attempts-store.ts';
import type { Step, Worked } from '../../src/jobs/step.ts';
import { effectsOf, makeEffects, markingStep } from '../support/effects.ts';
import {
  ask,
  ended,
  jobOf,
  made,
  newTenant,
  range,
  run,
  stopAll,
} from '../support/marking-jobs.ts';
import { until } from '../support/program.ts';
import { whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
await makeEffects(scene.sql);

afterEach(stopAll);

test('a refusal at the beginning, in a part or at the end fails the job with its code', async () => {
  const refuse = async () => {
    throw new AppError('TERM_NOT_FOUND', { message: 'gone', field: 'data.termID' });
  };
  const tenantId = await newTenant(scene);
  const cases: Record<string, Partial<Step>> = {
    begins: { prepare: refuse },
    works: {
      work: async (tx, job, chunk, tools) =>
        chunk.chunk === 2 ? refuse() : markingStep('x').work(tx, job, chunk, tools),
    },
    ends: { finish: refuse },
  };
  const steps = Object.entries(cases).map(([name, change]) => markingStep(name, change));
  run(scene, steps);
  for (const step of steps) {
    const { jobId } = await ask(scene, tenantId, step);
    const job = await ended(scene, tenantId, jobId);
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
  const tenantId = await newTenant(scene);
  run(scene, [step], { lanes: 1 });
  const { jobId } = await ask(scene, tenantId, step);
  const job = await ended(scene, tenantId, jobId);
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
  const tenantId = await newTenant(scene);
  run(scene, [step], { lanes: 1 });
  const { jobId } = await ask(scene, tenantId, step, { items: 1, size: 1 });
  const job = await ended(scene, tenantId, jobId);
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
  const tenantId = await newTenant(scene);
  run(scene, [step, tolerant]);
  const { jobId } = await ask(scene, tenantId, step);
  const job = await ended(scene, tenantId, jobId);
  assert.equal(job.status, 'Failed');
  assert.equal(tried, 3);
  assert.equal(job.error?.code, 'INTERNAL_ERROR');
  assert.equal(job.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), [1, 2, 3, 7, 8, 9, 10]);
  const { jobId: second } = await ask(scene, tenantId, tolerant);
  const ending = await ended(scene, tenantId, second);
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
  const tenantId = await newTenant(scene);
  // Its sign of life comes so late that others have long given it up.
  const paused = run(scene, [held], { lanes: 1, leaseSeconds: 3_600 });
  const { jobId } = await ask(scene, tenantId, good, { items: 4, size: 2 });
  await until(
    async () => (await jobOf(scene, tenantId, jobId)).status === 'Running',
    'it has begun',
  );
  await sleep(300);
  run(scene, [good], { leaseSeconds: 1 });
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
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
  const tenantId = await newTenant(scene);
  run(scene, [step], { lanes: 1 });
  const { jobId } = await ask(scene, tenantId, good, { items: 2, size: 2 });
  await halted;
  // As a worker does that stops without waiting for its parts. This one is still connected.
  const { rowCount } = await scene.sql.query(
    'delete from chunk_attempts where tenant_id = $1 and job_id = $2 and chunk = 1',
    [tenantId, jobId],
  );
  assert.equal(rowCount, 1);
  release();
  assert.equal((await ended(scene, tenantId, jobId)).status, 'Succeeded');
  assert.equal(tried(), 2, 'it was done again');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(2));
  assert.match(scene.logged.join(''), /the chunk was taken away while it was worked on/);
});

test('a worker without a heartbeat for nearly two minutes has lost its chunk to another', async () => {
  const good = markingStep('mark');
  const { step, halted, release } = haltingStep(good);
  const tenantId = await newTenant(scene);
  // It would tell that it lives in ten minutes.
  const silent = run(scene, [step], { lanes: 1, leaseSeconds: 3_600 });
  const { jobId } = await ask(scene, tenantId, good, { items: 2, size: 2 });
  await halted;
  await scene.sql.query(
    `update chunk_attempts set seen_at = seen_at - interval '110 seconds'
     where tenant_id = $1 and job_id = $2`,
    [tenantId, jobId],
  );
  // As workers usually are: nothing is said of leases.
  run(scene, [good], { lanes: 1 });
  const isEnded = async () => (await jobOf(scene, tenantId, jobId)).finished_at;
  await until(isEnded, 'it is done in the rest of the two minutes', 10_000);
  release();
  await silent.stop();
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(2));
});

test('a worker that stops in the middle of its heartbeat does not delay other workers', async () => {
  const tenantId = await newTenant(scene);
  const { jobId } = await ask(scene, tenantId, markingStep('mark'));
  const attempt = { jobId, chunk: 1, attempt: 1 };
  await whileCrew(scene, `jobs-${made}`, async ({ database }) => {
    await tenantTransact(database, tenantId, (tx) =>
      insertAttempt(tx, tenantId, attempt, { worker: 'asleep', backendPid: 1 }),
    );
    const renewed = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    const asleep = tenantTransact(database, tenantId, async (tx) => {
      await renewAttempts(tx, tenantId, [attempt]);
      renewed.resolve();
      await wake.promise;
    });
    const lost = assert.rejects(asleep);
    await renewed.promise;
    const isDone = await tenantTransact(database, tenantId, (tx) =>
      deleteAttempts(tx, tenantId, attempt),
    );
    assert.ok(isDone);
    wake.resolve();
    await lost;
  });
});

test('a stop waits for the parts under way and leaves the rest to others', async () => {
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      await sleep(50);
      return markingStep('mark').work(tx, job, chunk, tools);
    },
  });
  const tenantId = await newTenant(scene);
  const first = run(scene, [step]);
  const { jobId } = await ask(scene, tenantId, step, { items: 20, size: 1 });
  await until(async () => (await jobOf(scene, tenantId, jobId)).done > 2, 'it is under way');
  await first.stop();
  const { rows } = await scene.sql.query('select count(*)::integer as left from chunk_attempts');
  assert.deepEqual(rows, [{ left: 0 }]);
  const { done } = await jobOf(scene, tenantId, jobId);
  assert.ok(done < 20);
  await sleep(200);
  assert.equal((await jobOf(scene, tenantId, jobId)).done, done);
  run(scene, [step]);
  await ended(scene, tenantId, jobId);
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), range(20));
});

test('while the machine of a workspace is down, jobs of the others are done; its own when it is back', async () => {
  const [away, near] = [await newTenant(scene), await newTenant(scene)];
  // What a cluster answers for rows of a machine that it cannot reach.
  const tables = ['workspace_jobs', 'tenants', 'chunk_attempts'];
  await scene.sql.query(`
    create table unreachable (tenant_id bigint);
    grant select on unreachable to billwright_worker;
    create function answers(tenant bigint) returns boolean language plpgsql as $$
    begin
      if tenant in (select tenant_id from unreachable) then
        raise exception 'connection to the remote node failed' using errcode = '08006';
      end if;
      return true;
    end $$;
    alter table workspace_jobs enable row level security;
    create policy everything on workspace_jobs to billwright_worker using (true);
    ${tables
      .map(
        (table) => `create policy away on ${table} as restrictive to billwright_worker
        using (answers(tenant_id));`,
      )
      .join('\n')}`);
  const good = markingStep('mark');
  let tried = 0;
  const step = markingStep('mark', {
    work: async (tx, job, chunk, tools) => {
      if (job.tenant.tenantId !== away || tried > 0) return good.work(tx, job, chunk, tools);
      tried += 1;
      await scene.sql.query('insert into unreachable values ($1)', [away]);
      throw Object.assign(new Error('connection to the remote node failed'), { code: '08006' });
    },
  });
  run(scene, [step], { lanes: 1, pollMs: 50, isSpread: true });
  const waiting = await ask(scene, away, step);
  await until(async () => tried > 0, 'the machine goes down in the middle of the job');
  const { jobId } = await ask(scene, near, step);
  assert.equal((await ended(scene, near, jobId)).status, 'Succeeded');
  assert.match(scene.logged.join(''), /the machine of a workspace does not answer/);
  assert.equal((await jobOf(scene, away, waiting.jobId)).status, 'Running');
  await scene.sql.query('delete from unreachable');
  assert.equal((await ended(scene, away, waiting.jobId)).status, 'Succeeded');
  assert.deepEqual(await effectsOf(scene.sql, away, waiting.jobId), range(10));
});
