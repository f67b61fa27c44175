// Jobs whose workers are killed, paused and stopped: nothing is lost, nothing is done twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { takeNumbers } from '../../src/domain/tenants/numbers-store.ts';
import { insertJob } from '../../src/jobs/jobs-store.ts';
import type { TestClient } from '../support/client.ts';
import { killWorker, startReadyWorker, startWorker } from '../support/doomed-workers.ts';
import { effectsOf, makeEffects } from '../support/effects.ts';
import { mayKill } from '../support/full-term.ts';
import { closeGate } from '../support/gate.ts';
import { hashLocked, insertMetered } from '../support/metered-rows.ts';
import { newService, newTariff } from '../support/pricing.ts';
import { openPlace, until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });
const place = await openPlace();
await makeEffects(scene.sql);

const env = {
  DATABASE_URL: `postgresql://billwright@/${scene.databaseName}?host=${encodeURIComponent(scene.cluster.owner.host)}`,
  BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1',
};

let workspaces = 0;

/** A workspace with metered subscriptions and a term of January for them. */
async function openRun(count: number) {
  workspaces += 1;
  const client = await scene.workspace(`run-${workspaces}`);
  const { rows } = await scene.sql.query('select find_workspace($1)::integer as id', [
    client.workspace,
  ]);
  const tenantId = rows[0]?.id as number;
  await client.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
  await client.updateUser({
    user: { partyID: 1, connectionGroups: [{ connectionGroupLabel: 'House 1' }] },
  });
  const serviceCode = await newService(client);
  await newTariff(client, serviceCode);
  await insertMetered(scene, tenantId, count);
  return { client, tenantId, termID: await newTerm(client, { serviceCode }) };
}

async function post(client: TestClient, termID: number, reading = 'current'): Promise<number> {
  const { headers } = await client.postMeterReadings({
    operation: 'schedule',
    data: { termID, reading },
  });
  return Number(headers.get('x-job-id'));
}

async function jobOf(client: TestClient, jobID: number) {
  const { data } = await client.getJobs({ jobID });
  const [job] = data.jobs;
  assert.ok(job);
  return job;
}

async function ended(client: TestClient, jobID: number) {
  return until(async () => {
    const job = await jobOf(client, jobID);
    return job.finishedAt ? job : undefined;
  }, `job ${jobID} ends`);
}

const nightly = process.env.FAULT_SUBSCRIPTIONS;
/** Two parts, or as many as FAULT_SUBSCRIPTIONS, a multiple of ten, has at the usual size. */
const subscriptions = Number(nightly ?? 50);
const smallChunks = nightly ? {} : { chunkMax: 40 };
/** Two parts of the usual size, for the program itself, and for a job that takes its time. */
const many = Number(nightly ?? 2_050);
const locked = lockedOf(subscriptions);
const lockedMessage = messageOf(subscriptions);

/** A tenth has no reading. */
function lockedOf(count: number): number {
  return count - count / 10;
}

function messageOf(count: number): RegExp {
  return new RegExp(`^${lockedOf(count)} readings locked, ${count / 10} missing\\.`);
}

test('a worker killed inside a part leaves nothing of it, and another does the rest', async () => {
  const [faulty, calm] = [await openRun(subscriptions), await openRun(subscriptions)];
  const gate = await closeGate(scene, 'term_readings');
  const first = startWorker(scene, smallChunks);
  const jobID = await post(faulty.client, faulty.termID);
  await until(async () => (await gate.waiting()) === 2, 'both lanes are inside a part');
  await killWorker(first);
  await until(async () => (await gate.waiting()) === 0, 'PostgreSQL has noticed', 20_000);
  assert.equal((await hashLocked(scene, faulty.tenantId, faulty.termID)).count, 0);
  assert.equal((await jobOf(faulty.client, jobID)).status, 'Running');
  await gate.open();
  startWorker(scene, smallChunks);
  const job = await ended(faulty.client, jobID);
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
  assert.match(job.message ?? '', lockedMessage);
  assert.deepEqual(job.progress, { done: subscriptions, total: subscriptions, secondsLeft: null });
  const calmJob = await ended(calm.client, await post(calm.client, calm.termID));
  assert.equal(calmJob.message, job.message);
  const expected = await hashLocked(scene, calm.tenantId, calm.termID);
  assert.deepEqual(await hashLocked(scene, faulty.tenantId, faulty.termID), expected);
  assert.equal(expected.count, locked);
  assert.equal((await termOf(faulty.client, faulty.termID)).stage, 'ReadingsPosted');
});

test('workers killed again and again at any moment come to the same end', async () => {
  // PostgreSQL knows its tables, and nothing of workspaces that come after: they are as quick.
  await scene.sql.query('analyze');
  const [faulty, calm] = [await openRun(subscriptions), await openRun(subscriptions)];
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  process.stdout.write(`seed ${seed}\n`);
  const random = randomFrom(seed);
  const jobID = await post(faulty.client, faulty.termID, 'previous');
  let kills = 0;
  let seen = 'Scheduled 0';
  const rows = async (text: string, values: readonly unknown[]) =>
    (await scene.sql.query(text, [...values])).rows;
  while (kills < 10) {
    // With one lane there is a moment between the parts.
    const worker = startWorker(scene, { ...smallChunks, lanes: 1 });
    // Each gets something done, and no part is given up for what is not its fault.
    const now = await until(async () => {
      const { status, progress, finishedAt } = await jobOf(faulty.client, jobID);
      const stands = `${status} ${progress?.done}`;
      return finishedAt || stands !== seen ? stands : undefined;
    }, 'something is done');
    await sleep(random() * 60);
    await until(() => mayKill(rows, faulty, jobID), 'nothing is tried again');
    await killWorker(worker);
    if (now.startsWith('Succeeded')) break;
    seen = now;
    kills += 1;
  }
  startWorker(scene, smallChunks);
  const job = await ended(faulty.client, jobID);
  assert.equal(job.status, 'Succeeded', `seed ${seed}: ${JSON.stringify(job.error)}`);
  assert.equal(job.message, `${locked} readings locked, ${subscriptions / 10} taken again`);
  await ended(calm.client, await post(calm.client, calm.termID, 'previous'));
  assert.deepEqual(
    await hashLocked(scene, faulty.tenantId, faulty.termID),
    await hashLocked(scene, calm.tenantId, calm.termID),
    `seed ${seed}, killed ${kills} times`,
  );
});

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('a worker that was paused loses its part to another and cannot commit it', async () => {
  // Two parts: one for each worker.
  const count = nightly ? 2_050 : subscriptions;
  const { client, tenantId, termID } = await openRun(count);
  const gate = await closeGate(scene, 'term_readings');
  const zombie = startWorker(scene, { ...smallChunks, leaseSeconds: 2, lanes: 1 });
  const jobID = await post(client, termID);
  await until(async () => (await gate.waiting()) === 1, 'it is inside a part');
  zombie.child.kill('SIGSTOP');
  // One lane pauses at the gate too, the other has time to look for work.
  const other = startWorker(scene, { ...smallChunks, leaseSeconds: 2, lanes: 2 });
  await until(() => other.output().includes('lost worker were freed'), 'its part is free', 20_000);
  await gate.open();
  const job = await ended(client, jobID);
  assert.match(job.message ?? '', messageOf(count));
  const before = await hashLocked(scene, tenantId, termID);
  zombie.child.kill('SIGCONT');
  await until(() => zombie.output().includes('fenced'), 'it finds out');
  assert.deepEqual(await hashLocked(scene, tenantId, termID), before);
  assert.equal(before.count, lockedOf(count));
});

test('a part that kills its worker three times is set aside, and the others are done', async () => {
  const { client, tenantId } = await openRun(1);
  const jobId = await tenantTransact(scene.api, tenantId, async (tx) => {
    const id = await takeNumbers(tx, tenantId, 'job', 1);
    const now = scene.clock.now();
    const job = {
      jobId: id,
      operation: 'kill',
      termId: null,
      billId: null,
      isImmediate: true,
      parameters: { items: 12, size: 3 },
      scheduleTime: null,
      dueAt: now,
    };
    await insertJob(tx, tenantId, job, { at: now, by: 'test' });
    return id;
  });
  let deaths = 0;
  let worker = startWorker(scene, { ...smallChunks, lanes: 1 });
  while (!(await jobOf(client, jobId)).finishedAt) {
    await sleep(100);
    if (worker.child.signalCode === null) continue;
    deaths += 1;
    assert.ok(deaths <= 3, 'it goes on killing');
    worker = startWorker(scene, { ...smallChunks, lanes: 1 });
  }
  const job = await jobOf(client, jobId);
  assert.equal(deaths, 3);
  assert.equal(job.status, 'Failed');
  assert.equal(job.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  assert.deepEqual(await effectsOf(scene.sql, tenantId, jobId), [1, 2, 3, 7, 8, 9, 10, 11, 12]);
  assert.match(worker.output(), /the worker ended before the chunk was done/);
});

test('a worker that is asked to stop in the middle ends cleanly, and another goes on', async () => {
  const { client, tenantId, termID } = await openRun(many);
  // With one lane, the second part is left.
  const first = place.run(['work'], { ...env, WORKER_LANES: '1' });
  await until(() => first.output().includes('worker ready'), 'it is ready');
  const jobID = await post(client, termID);
  await until(async () => (await jobOf(client, jobID)).status !== 'Scheduled', 'it has begun');
  assert.deepEqual(await first.end('SIGTERM'), { code: 0, signal: null });
  const { rows } = await scene.sql.query('select count(*)::integer as count from chunk_attempts');
  assert.deepEqual(rows, [{ count: 0 }]);
  const second = place.run(['work'], env);
  const job = await ended(client, jobID);
  assert.match(job.message ?? '', messageOf(many));
  assert.equal((await hashLocked(scene, tenantId, termID)).count, lockedOf(many));
  assert.deepEqual(await second.end('SIGTERM'), { code: 0, signal: null });
});

test('connections that are cut and a database that only reads for a while end nothing', async () => {
  const { client, tenantId, termID } = await openRun(many);
  const admin = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await admin.connect();
  const cut = () =>
    admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like '%worker%'
         and pid <> pg_backend_pid()`,
    );
  const worker = await startReadyWorker(scene);
  const jobID = await post(client, termID);
  await until(async () => (await jobOf(client, jobID)).status !== 'Scheduled', 'it has begun');
  await cut();
  await admin.query(`alter database ${scene.databaseName} set default_transaction_read_only = on`);
  await cut();
  await sleep(1_500);
  await admin.query(`alter database ${scene.databaseName} reset default_transaction_read_only`);
  await cut();
  await admin.end();
  const job = await ended(client, jobID);
  assert.match(job.message ?? '', messageOf(many));
  assert.equal((await hashLocked(scene, tenantId, termID)).count, lockedOf(many));
  assert.equal(worker.child.exitCode, null, 'the worker lives');
});
