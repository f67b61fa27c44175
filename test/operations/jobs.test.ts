// Steps asked for now and for later: waiting, scheduling, cancelling, one at a time.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingError } from '../../sdk/client.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { newService } from '../support/pricing.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { newTerm, termOf } from '../support/terms.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene({ scheduleWaitSeconds: 1 });
const { admin, tenantId, serviceCode, hung } = await openMetered(scene, 'jobs');
await scene.enter(admin);

/** Waits for whatever a busy machine needs. */
const patientServer = await scene.anotherServer({ scheduleWaitSeconds: 60 });
const patient = patientServer.visitor('jobs');
patient.useToken(admin.token);

let runners: ReturnType<typeof scene.runJobs>[] = [];
const run = () => runners.push(scene.runJobs({ lanes: 2 }));
async function stop(): Promise<void> {
  for (const runner of runners) await runner.stop();
  runners = [];
}
afterEach(stop);

async function aTerm(client: TestClient = admin): Promise<number> {
  return newTerm(client, { serviceCode: await newService(client) });
}

function post(termID: number, sheduleTime: string | null = null, client: TestClient = admin) {
  return client.postMeterReadings({
    operation: 'schedule',
    data: { termID, reading: 'current', sheduleTime },
  });
}

async function jobOf(jobID: number, client: TestClient = admin) {
  const { data } = await client.getJobs({ jobID });
  const [job] = data.jobs;
  assert.ok(job);
  return job;
}

const idOf = ({ headers }: { headers: Headers }) => Number(headers.get('x-job-id'));

/** A local time of the workspace, so far from now. */
function local(ahead: Temporal.DurationLike, timezone = 'Asia/Karachi'): string {
  const at = scene.clock.now().toZonedDateTimeISO(timezone).add(ahead);
  return at.toPlainDateTime().round({ smallestUnit: 'second', roundingMode: 'floor' }).toString();
}

test('a step that ends in time answers with its outcome, another with accepted', async () => {
  const termID = await aTerm();
  const early = await post(termID);
  assert.equal(early.message, 'accepted');
  assert.deepEqual(early.data, {});
  const waiting = await jobOf(idOf(early));
  assert.deepEqual(
    [waiting.status, waiting.startedAt, waiting.message, waiting.error],
    ['Scheduled', null, null, null],
  );
  run();
  const ended = await until(async () => {
    const job = await jobOf(idOf(early));
    return job.status === 'Succeeded' ? job : undefined;
  }, 'the job is done');
  assert.equal(ended.message, 'No subscription of the term is metered');
  assert.ok(ended.startedAt && ended.finishedAt);
  const late = await post(termID, null, patient);
  assert.equal(late.message, 'No subscription of the term is metered');
  assert.ok(idOf(late) > idOf(early));
});

test('a job that is refused answers the waiting caller with its error, and is listed', async () => {
  run();
  const termID = await aTerm();
  const data = JSON.stringify({ termID, compsData: [['NONE', 'x', '1']] });
  const refusal = await refuses(
    patient.postManualComponentValues({ operation: 'schedule', data: { data } }),
    'SUBSCRIPTION_NOT_FOUND',
    { statusCode: 404 },
  );
  const job = await jobOf(Number(refusal.headers.get('x-job-id')));
  assert.equal(job.status, 'Failed');
  assert.equal(job.error?.code, 'SUBSCRIPTION_NOT_FOUND');
  assert.deepEqual(job.error?.details, refusal.error.details);
});

test('one of thirty simultaneous requests gets a job, and the others are refused', async () => {
  const another = await scene.anotherServer({ scheduleWaitSeconds: 0 });
  const second = another.visitor('jobs');
  second.useToken(admin.token);
  const termID = await aTerm();
  const asked = Array.from({ length: 30 }, (_, index) =>
    post(termID, null, index % 2 === 0 ? admin : second).then(
      (done) => done.message,
      (error: BillingError) => error.code,
    ),
  );
  const answers = await Promise.all(asked);
  assert.deepEqual(
    answers.toSorted(),
    [...Array(29).fill('JOB_ALREADY_RUNNING'), 'accepted'].toSorted(),
  );
  const { rows } = await scene.sql.query('select count(*)::integer from jobs where term_id = $1', [
    termID,
  ]);
  assert.deepEqual(rows, [{ count: 1 }]);
});

test('while a job of the term waits or runs, nothing else happens to the term', async () => {
  const termID = await aTerm();
  const { headers } = await post(termID);
  const inner = JSON.stringify({ termID, compsData: [], readings: [], usage: [] });
  const upload = { operation: 'schedule' as const, data: { data: inner } };
  const before = await hashRows(scene.sql);
  const all: (() => Promise<unknown>)[] = [
    () => post(termID),
    () => admin.uploadMeterReadings(upload),
    () => admin.postManualComponentValues(upload),
    () => admin.uploadUsage(upload),
    () => admin.unpostMeterReadings({ data: { termID } }),
    () => admin.cancelTerm({ data: { termID, reason: 'x' } }),
    () => admin.updateTerm({ data: { termID, label: 'another' } }),
  ];
  for (const call of all) await refuses(call(), 'JOB_ALREADY_RUNNING', { statusCode: 409 });
  assert.deepEqual(await hashRows(scene.sql), before);
  await admin.cancelJob({ data: { jobID: idOf({ headers }) } });
  run();
  const done = await post(termID, null, patient);
  assert.equal(done.message, 'No subscription of the term is metered');
});

test('a request while a job holds its term is refused at once', async () => {
  const termID = await aTerm();
  const { headers } = await post(termID);
  await scene.sql.query('begin');
  await scene.sql.query('select from terms where tenant_id = $1 and term_id = $2 for update', [
    tenantId,
    termID,
  ]);
  const started = performance.now();
  try {
    await refuses(post(termID), 'JOB_ALREADY_RUNNING', { statusCode: 409 });
    await refuses(admin.cancelTerm({ data: { termID, reason: 'x' } }), 'JOB_ALREADY_RUNNING');
  } finally {
    await scene.sql.query('rollback');
  }
  assert.ok(performance.now() - started < 5_000);
  await admin.cancelJob({ data: { jobID: idOf({ headers }) } });
});

test('a step for later is stored, listed, begun on time and not before', async () => {
  const client = await scene.workspace('later', { sandbox: true });
  run();
  const termID = await aTerm(client);
  const at = local({ hours: 30 });
  const done = await post(termID, at, client);
  assert.equal(done.message, `scheduled for ${at.replace('T', ' ')}`);
  const job = await jobOf(idOf(done), client);
  assert.deepEqual([job.status, job.sheduleTime], ['Scheduled', at]);
  assert.equal(job.dueAt, at.replace('T', ' '));
  // It holds nothing up.
  const waiting = patientServer.visitor('later');
  waiting.useToken(client.token);
  assert.match((await post(termID, null, waiting)).message, /metered/);
  await client.moveClock({ data: { to: local({ hours: 29 }) } });
  await sleep(1_300);
  assert.equal((await jobOf(idOf(done), client)).status, 'Scheduled');
  await stop();
  await client.moveClock({ data: { to: local({ hours: 31 }) } });
  assert.equal((await jobOf(idOf(done), client)).status, 'Scheduled', 'no worker is there');
  run();
  const ended = await until(async () => {
    const found = await jobOf(idOf(done), client);
    return found.status === 'Succeeded' ? found : undefined;
  }, 'it is done after the restart');
  assert.ok((ended.startedAt ?? '') >= at.replace('T', ' '));
});

test('a step for later falls due by the machine clock too', async () => {
  run();
  const termID = await aTerm();
  const done = await post(termID, local({ seconds: 5 }));
  assert.match(done.message, /^scheduled for/);
  await sleep(1_200);
  assert.equal((await jobOf(idOf(done))).status, 'Scheduled');
  await until(async () => (await jobOf(idOf(done))).status === 'Succeeded', 'it is done');
});

test('steps of one term that fall due together are done one after the other', async () => {
  const termID = await aTerm();
  const at = local({ seconds: 2 });
  const jobs = await Promise.all(Array.from({ length: 5 }, () => post(termID, at)));
  run();
  run();
  const ended = await until(async () => {
    const { data } = await admin.getJobs({ termID, status: 'Succeeded' });
    return data.jobs.length === jobs.length ? data.jobs : undefined;
  }, 'all are done');
  assert.equal(ended.length, 5);
});

test('times that are no local times, and times too far ahead, are refused', async () => {
  const termID = await aTerm();
  const before = await hashRows(scene.sql);
  for (const wrong of [
    '2027-01-01T00:00:00Z',
    '2027-01-01T00:00:00+05:00',
    '2027-01-01',
    '2027-01-01  00:00:00',
    '2027-02-30T00:00:00',
    '2027-01-01T25:00:00',
    'tomorrow',
  ]) {
    await refuses(post(termID, wrong), 'INVALID_DATETIME', { statusCode: 400 });
  }
  await refuses(post(termID, local({ days: 367 })), 'SCHEDULE_TOO_FAR', {
    statusCode: 422,
    field: 'data.sheduleTime',
  });
  assert.deepEqual(await hashRows(scene.sql), before);
  assert.match((await post(termID, local({ days: 366 }))).message, /^scheduled/);
  for (const now of ['', '2020-01-01T00:00:00']) {
    const term = await aTerm();
    assert.equal((await post(term, now)).message, 'accepted');
  }
});

test('a time with a space is scheduled as one with a T, and is returned with the T', async () => {
  const termID = await aTerm();
  const at = local({ days: 3 });
  await post(termID, at.replace('T', ' '));
  const { data } = await admin.getJobs({ termID });
  assert.deepEqual(
    data.jobs.map((job) => job.sheduleTime),
    [at],
  );
});

test('problems in the rows of a scheduled upload are reported at once', async () => {
  const { connection, number } = await hung();
  const termID = await newTerm(admin, { serviceCode });
  const upload = (value: string) => {
    const row = [connection, String(number), value, '31/01/2026'];
    const data = JSON.stringify({ termID, readings: [row] });
    const sheduleTime = local({ days: 1 });
    return admin.uploadMeterReadings({ operation: 'schedule', data: { data, sheduleTime } });
  };
  await refuses(upload('x'), 'INVALID_NUMBER', { statusCode: 422 });
  const { data } = await admin.getJobs({ termID });
  assert.deepEqual(data.jobs, []);
  assert.match((await upload('7')).message, /^scheduled/);
  const manual = JSON.stringify({ termID, compsData: [[connection, 'none', '1']] });
  await refuses(
    admin.postManualComponentValues({
      operation: 'schedule',
      data: { data: manual, sheduleTime: local({ days: 1 }) },
    }),
    'COMPONENT_NOT_FOUND',
  );
});

test('guards are looked at again when the job begins', async () => {
  const termID = await aTerm();
  const done = await post(termID, local({ seconds: 2 }));
  await scene.sql.query(`update terms set status = 'Posted', stage = 'Posted' where term_id = $1`, [
    termID,
  ]);
  run();
  const job = await until(async () => {
    const found = await jobOf(idOf(done));
    return found.status === 'Failed' ? found : undefined;
  }, 'it is refused');
  assert.equal(job.error?.code, 'INVALID_STATE');
});

test('a job is cancelled while it waits, and only then', async () => {
  const termID = await aTerm();
  const { headers } = await post(termID, local({ hours: 1 }));
  const jobID = idOf({ headers });
  const cancel = (id = jobID) => admin.cancelJob({ data: { jobID: id } });
  await cancel();
  const job = await jobOf(jobID);
  assert.equal(job.status, 'Cancelled');
  assert.ok(job.finishedAt);
  const again = await refuses(cancel(), 'INVALID_STATE', { statusCode: 409 });
  assert.equal(again.error.current, 'Cancelled');
  await refuses(cancel(999), 'JOB_NOT_FOUND', { statusCode: 404 });
  run();
  const done = await post(termID, null, patient);
  await refuses(cancel(idOf(done)), 'INVALID_STATE');
  scene.clock.advance({ hours: 2 });
  await sleep(1_200);
  assert.equal((await jobOf(jobID)).status, 'Cancelled');
});

test('a caller that waits for a cancelled job gets an answer', async () => {
  const termID = await aTerm();
  const waiting = refuses(post(termID, null, patient), 'INVALID_STATE');
  const [job] = await until(async () => {
    const { data } = await admin.getJobs({ termID });
    return data.jobs.length === 1 ? data.jobs : undefined;
  }, 'it is asked for');
  await admin.cancelJob({ data: { jobID: job?.jobID ?? 0 } });
  assert.equal((await waiting).error.current, 'Cancelled');
});

test('a cancelled term takes its later jobs with it', async () => {
  run();
  const termID = await aTerm();
  const { headers } = await post(termID, local({ hours: 1 }));
  await patient.cancelTerm({ data: { termID, reason: 'x' } });
  assert.equal((await jobOf(idOf({ headers }))).status, 'Cancelled');
  assert.equal((await termOf(admin, termID)).status, 'Cancelled');
});

test('a repeated Idempotency-Key asks for nothing twice and finds the same job and outcome', async () => {
  const termID = await aTerm();
  const body = { operation: 'schedule' as const, data: { termID, reading: 'current' } };
  const options = { idempotencyKey: `key-${termID}` };
  const first = await admin.postMeterReadings(body, options);
  assert.equal(first.message, 'accepted');
  const second = await admin.postMeterReadings(body, options);
  assert.deepEqual([second.message, idOf(second)], ['accepted', idOf(first)]);
  run();
  const third = await patient.postMeterReadings(body, options);
  assert.equal(third.message, 'No subscription of the term is metered');
  assert.equal(idOf(third), idOf(first));
  assert.equal(third.headers.get('idempotency-replayed'), 'true');
  const { data } = await admin.getJobs({ termID });
  assert.equal(data.jobs.length, 1);
  // So it is with a job that failed.
  const inner = JSON.stringify({ termID, compsData: [['NONE', 'x', '1']] });
  const wrong = () =>
    patient.postManualComponentValues(
      { operation: 'schedule', data: { data: inner } },
      { idempotencyKey: `wrong-${termID}` },
    );
  const refused = await refuses(wrong(), 'SUBSCRIPTION_NOT_FOUND');
  const repeated = await refuses(wrong(), 'SUBSCRIPTION_NOT_FOUND');
  assert.equal(repeated.headers.get('x-job-id'), refused.headers.get('x-job-id'));
});

test('a refusal that says try again is not kept under its Idempotency-Key', async () => {
  const termID = await aTerm();
  const { headers } = await post(termID);
  const again = () =>
    patient.postMeterReadings(
      { operation: 'schedule', data: { termID, reading: 'current' } },
      { idempotencyKey: `again-${termID}` },
    );
  for (const _ of ['first', 'second']) {
    const refusal = await refuses(again(), 'JOB_ALREADY_RUNNING');
    assert.equal(refusal.error.retryable, true);
    assert.equal(refusal.headers.get('idempotency-replayed'), null);
  }
  await admin.cancelJob({ data: { jobID: idOf({ headers }) } });
  run();
  assert.equal((await again()).message, 'No subscription of the term is metered');
  assert.equal((await again()).headers.get('idempotency-replayed'), 'true');
});

test('a key whose job broke asks for a new one', async () => {
  const termID = await aTerm();
  const ask = (client = admin) =>
    client.postMeterReadings(
      { operation: 'schedule', data: { termID, reading: 'current' } },
      { idempotencyKey: `broken-${termID}` },
    );
  const first = await ask();
  const error = { code: 'INTERNAL_ERROR', message: 'x', field: null, statusCode: 500, details: [] };
  await scene.sql.query(
    `update jobs set status = 'Failed', started_at = now(), finished_at = now(), error = $3
     where tenant_id = $1 and job_id = $2`,
    [tenantId, idOf(first), error],
  );
  const second = await ask();
  assert.equal(second.message, 'accepted');
  assert.ok(idOf(second) > idOf(first));
  run();
  const third = await ask(patient);
  assert.equal(third.message, 'No subscription of the term is metered');
  assert.equal(idOf(third), idOf(second), 'the new answer is kept');
});

test('calls that wait hold no connection', async () => {
  const narrow = await scene.anotherServer({ scheduleWaitSeconds: 3, apiConnections: 1 });
  const client = narrow.visitor('jobs');
  client.useToken(admin.token);
  const terms = await Promise.all(Array.from({ length: 10 }, () => aTerm()));
  const waiting = terms.map((termID) => post(termID, null, client));
  await sleep(300);
  const started = performance.now();
  await client.getJobs({ page: { pageNumber: 0, size: 1 } });
  const tookMs = performance.now() - started;
  assert.ok(tookMs < 1_500, `a read took ${tookMs} ms`);
  const done = await Promise.all(waiting);
  assert.deepEqual(new Set(done.map((one) => one.message)), new Set(['accepted']));
});

test('a server that closes keeps no caller waiting for a job', async () => {
  const closing = await scene.anotherServer({ scheduleWaitSeconds: 20 });
  const client = closing.visitor('jobs');
  client.useToken(admin.token);
  const waiting = post(await aTerm(), null, client);
  await sleep(300);
  const started = performance.now();
  const [done] = await Promise.all([waiting, closing.server.close()]);
  assert.equal(done.message, 'accepted');
  assert.ok(performance.now() - started < 5_000);
});

test('jobs are listed newest first, by id, term and status, in pages', async () => {
  const client = await scene.workspace('job-list');
  const [one, two] = [await aTerm(client), await aTerm(client)];
  const at = local({ days: 1 });
  const ids: number[] = [];
  for (const term of [one, two, one]) ids.push(idOf(await post(term, at, client)));
  await client.cancelJob({ data: { jobID: ids[0] ?? 0 } });
  const listed = async (body: Parameters<TestClient['getJobs']>[0]) => {
    const { data, headers } = await client.getJobs(body);
    return [Number(headers.get('x-total-count')), data.jobs.map((job) => job.jobID)];
  };
  assert.deepEqual(await listed({}), [3, ids.toReversed()]);
  assert.deepEqual(await listed({ termID: one }), [2, [ids[2], ids[0]]]);
  assert.deepEqual(await listed({ status: 'Cancelled' }), [1, [ids[0]]]);
  assert.deepEqual(await listed({ page: { pageNumber: 1, size: 2 } }), [3, [ids[0]]]);
  assert.deepEqual(await listed({ jobID: 99 }), [0, []]);
  await refuses(client.getJobs({ status: 'Done' as never }), 'INVALID_FILTER_VALUE');
  const job = await jobOf(ids[1] ?? 0, client);
  assert.deepEqual(job.progress, { done: 0, total: 0, secondsLeft: null });
  assert.equal(job.operation, 'post-meter-readings');
  assert.equal(job.requestedBy, 'admin@job-list.example');
});
