// Mails and prints that fail: when they are tried again, and when they are given up.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { deliveriesOf, schedule } from '../support/delivery.ts';
import { answer, startMailServer } from '../support/mail-server.ts';
import {
  closing,
  failureOf,
  openMail,
  openPublished,
  openWorker,
  refuseRows,
  statusOf,
} from '../support/mail-worker.ts';
import { mailParties } from '../support/posted-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('the answer of the mail server decides: retry, failed, or uncertain', async () => {
  const isDown = new Set(['c1']);
  const { server } = await openMail(scene, {
    onRecipient: (to) => {
      const name = to.split('@')[0] ?? '';
      if (isDown.has(name)) return answer(451, 'Try later');
      return name === 'c2' ? answer(550, 'No such user') : undefined;
    },
  });
  const { client, termId, tenantId } = await openPublished(scene, mailParties(3));
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '1 sent, 1 failed, 1 to be tried again');
  const [waiting] = (await deliveriesOf(client, termId)).filter((row) => row.status === 'Queued');
  assert.match(waiting?.reason ?? '', /451 Try later/);
  assert.ok(waiting?.nextAttemptAt);
  // A minute later by the clock of the workspace it is tried again, by a job of its own.
  isDown.clear();
  scene.clock.advance({ seconds: 61 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 2, 'it is sent');
  assert.equal(server.received.filter(({ to }) => to[0] === 'c1@example.com').length, 1);
  await until(async () => {
    const { rows } = await scene.sql.query(
      `select operation, status from jobs where tenant_id = $1 order by job_id desc limit 1`,
      [tenantId],
    );
    assert.equal(rows[0].operation, 'retry-deliveries');
    return rows[0].status === 'Succeeded';
  }, 'the job has ended');
});

test('a mail that is refused again and again is given up', async () => {
  const { server } = await openMail(scene, { onRecipient: () => answer(451, 'Try later') });
  const { client, termId, tenantId } = await openPublished(scene, mailParties(1));
  await client.distributeBills(schedule(termId));
  const row = async () => {
    const text = 'select status, attempts, reason from deliveries where tenant_id = $1';
    const { rows } = await scene.sql.query(text, [tenantId]);
    return rows[0];
  };
  for (let attempts = 1; (await row())?.status === 'Queued'; attempts += 1) {
    assert.ok(attempts < 20);
    scene.clock.advance({ hours: 13 });
    await until(async () => ((await row())?.attempts ?? 0) > attempts, `attempt ${attempts + 1}`);
    await until(async () => (await row())?.status !== 'Sending', 'it has ended');
  }
  const end = await row();
  assert.equal(end?.status, 'Failed');
  assert.match(end?.reason ?? '', /Given up after 8 failures: .*451 Try later/);
  assert.equal(server.received.length, 0);
});

test('a mail that fails after its job has ended is not retried: the next request sends it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isAsked = false;
  const { server } = await openMail(scene, {
    options: {
      async onRcptTo({ address }, _session, done) {
        if (address.startsWith('c1@') && !isAsked) {
          isAsked = true;
          await released;
          return done(answer(450, 'Mailbox busy'));
        }
        done(null);
      },
    },
  });
  openWorker(scene, { smtpUrl: server.url });
  closing.unshift(async () => release());
  const { client, termId, tenantId } = await openPublished(scene, mailParties(2));
  const asked = client.distributeBills(schedule(termId));
  await until(() => isAsked, 'the server is asked');
  // One worker loses its part, and the other one ends the job.
  await scene.sql.query(
    'select pg_terminate_backend(backend_pid) from chunk_attempts where tenant_id = $1',
    [tenantId],
  );
  assert.match((await asked).message, /1 uncertain/);
  release();
  await until(async () => (await statusOf(client, termId))['Email Failed'] === 1, 'it is reported');
  const [first] = await deliveriesOf(client, termId);
  assert.match(first?.reason ?? '', /450 Mailbox busy/);
  assert.equal(first?.nextAttemptAt, null);
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), [
    'c1@example.com',
    'c2@example.com',
  ]);
});

test('cancelling the job that would retry reports the mails that fail with it', async () => {
  let isRefusing = true;
  await openMail(scene, { onRecipient: () => (isRefusing ? answer(450, 'Later') : undefined) });
  const { client, termId } = await openPublished(scene, mailParties(2));
  await client.distributeBills(schedule(termId));
  const { data } = await client.getJobs({ termID: termId, status: 'Scheduled' });
  const jobID = data.jobs[0]?.jobID ?? 0;
  const { message } = await client.cancelJob({ data: { jobID } });
  assert.equal(message, `Job ${jobID} is cancelled; 2 that waited for it will not be sent`);
  const rows = await deliveriesOf(client, termId);
  assert.deepEqual(
    rows.map(({ status, reason, nextAttemptAt }) => [status, reason, nextAttemptAt]),
    Array(2).fill(['Failed', `Job ${jobID}, which should send it, was cancelled`, null]),
  );
  isRefusing = false;
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 sent');
});

test('mails are tried again although the end of their job has failed', async () => {
  let isRefusing = true;
  const { equipment } = await openMail(scene, {
    onRecipient: () => (isRefusing ? answer(450, 'Later') : undefined),
  });
  const { client, termId } = await openPublished(scene, [
    { name: 'By mail', email: 'a@example.com' },
    { name: 'Paper', deliveryChannels: ['Print'] },
  ]);
  const folder = join(equipment.dataFolder, 'print');
  writeFileSync(folder, 'not a folder');
  assert.equal(await failureOf(client, termId), 'The job did not end in 3 attempts');
  assert.deepEqual(await statusOf(client, termId), { 'Email Queued': 1, 'Print Queued': 1 });
  isRefusing = false;
  rmSync(folder);
  scene.clock.advance({ minutes: 16 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 1, 'it is sent');
  await until(async () => (await statusOf(client, termId))['Print Sent'] === 1, 'it is printed');
});

test('bills that only wait to be printed are tried again too, after the end of their job failed', async () => {
  const { equipment } = await openMail(scene);
  const { client, termId } = await openPublished(scene, [
    { name: 'Paper', deliveryChannels: ['Print'] },
  ]);
  const folder = join(equipment.dataFolder, 'print');
  writeFileSync(folder, 'not a folder');
  assert.equal(await failureOf(client, termId), 'The job did not end in 3 attempts');
  rmSync(folder);
  const { data } = await client.getJobs({ termID: termId, status: 'Scheduled' });
  assert.deepEqual(
    data.jobs.map((job) => job.operation),
    ['retry-deliveries'],
  );
  scene.clock.advance({ minutes: 16 });
  await until(async () => (await statusOf(client, termId))['Print Sent'] === 1, 'it is printed');
  await until(
    async () =>
      (await client.getJobs({ termID: termId, status: 'Running' })).data.jobs.length === 0,
    'the job has ended',
  );
  const left = await client.getJobs({ termID: termId, status: 'Scheduled' });
  assert.deepEqual(left.data.jobs, []);
});

test('bills that cannot be printed again and again are given up', async () => {
  const { equipment } = await openMail(scene);
  const { client, termId, tenantId } = await openPublished(scene, [
    { name: 'Paper', deliveryChannels: ['Print'] },
  ]);
  writeFileSync(join(equipment.dataFolder, 'print'), 'not a folder');
  await failureOf(client, termId);
  const row = async () => {
    const { rows } = await scene.sql.query(
      `select d.status, d.reason, d.failures, d.next_attempt_at, (
         select count(*)::integer from jobs j
         where j.tenant_id = d.tenant_id and j.status = 'Scheduled'
       ) as jobs
       from deliveries d where d.tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  };
  for (let failures = 1; failures < 8; failures += 1) {
    const { status, jobs, ...now } = await row();
    assert.deepEqual([now.failures, status, jobs], [failures, 'Queued', 1]);
    scene.clock.advance({ hours: 13 });
    await until(async () => (await row()).failures > failures, `failure ${failures + 1}`);
  }
  assert.deepEqual(await row(), {
    status: 'Failed',
    reason:
      'Given up after 8 failures: The job that should print it failed; see the log for the reason',
    failures: 8,
    next_attempt_at: null,
    jobs: 0,
  });
});

test('a chunk that was set aside fails the request; the next request sends its bills', async () => {
  const { server } = await openMail(scene);
  const { client, termId, tenantId } = await openPublished(scene, mailParties(3));
  const stage = async () => (await client.getTerms({ termID: termId })).data.terms[0]?.stage;
  const mend = await refuseRows(scene, `new.tenant_id = ${tenantId}`);
  const message = '1 chunk of the job failed 3 times; the rest is done';
  assert.equal(await failureOf(client, termId), message);
  await mend();
  assert.equal(await stage(), 'Distributing');
  assert.deepEqual([server.received, await deliveriesOf(client, termId)], [[], []]);
  const { data } = await client.getJobs({ termID: termId, status: 'Failed' });
  assert.deepEqual(data.jobs[0]?.progress, { done: 0, total: 3, secondsLeft: null });
  assert.equal((await client.distributeBills(schedule(termId))).message, '3 sent');
  assert.equal(await stage(), 'Distributed');
});

test('a job that tries again and cannot is shown as failed, and so are its mails', async () => {
  await openMail(scene, { onRecipient: () => answer(450, 'Later') });
  const { client, termId, tenantId } = await openPublished(scene, mailParties(2));
  await client.distributeBills(schedule(termId));
  const mend = await refuseRows(scene, `new.tenant_id = ${tenantId} and new.status = 'Sending'`);
  scene.clock.advance({ seconds: 61 });
  const failed = async () => (await client.getJobs({ termID: termId, status: 'Failed' })).data.jobs;
  await until(async () => (await failed()).length === 1, 'the job fails');
  await mend();
  const [job] = await failed();
  assert.equal(job?.operation, 'retry-deliveries');
  assert.equal(job?.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  assert.deepEqual(await statusOf(client, termId), { 'Email Failed': 2 });
});

test('a mail server that is down delays no call, and mails that were put off are sent later', async () => {
  const gone = await startMailServer();
  await gone.close();
  const { stop, equipment } = openWorker(scene, { smtpUrl: gone.url });
  const { client, termId } = await openPublished(scene, mailParties(70));
  const { renderer } = equipment;
  const { write } = renderer;
  let written = 0;
  renderer.write = (setting, bills, templates) => {
    written += bills.length;
    return write(setting, bills, templates);
  };
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '70 to be tried again');
  const rows = await deliveriesOf(client, termId);
  const tried = rows.filter((row) => row.attempts === 1).length;
  assert.ok(tried >= 20 && tried < 30, `${tried} were tried before the others were put off`);
  assert.ok(written <= 40, `${written} mails were written without need`);
  await stop();
  const { server } = await openMail(scene);
  scene.clock.advance({ seconds: 61 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 70, 'all are sent');
  assert.equal(new Set(server.received.map(({ to }) => to[0])).size, 70);
  assert.equal(server.received.length, 70);
});

test('a server that takes a few mails at a time gets them all in the end', async () => {
  let room = 4;
  let ms = 0;
  const { server } = await openMail(
    scene,
    { onRecipient: () => (room-- > 0 ? undefined : answer(450, 'Too many, come back later')) },
    { clockMs: () => ms },
  );
  const { client, termId, tenantId } = await openPublished(scene, mailParties(70));
  const left = async () => {
    const { rows } = await scene.sql.query(
      `select count(*) filter (where status = 'Sent')::integer as sent,
         count(*) filter (where status = 'Queued')::integer as queued
       from deliveries where tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  };
  await client.distributeBills(schedule(termId));
  assert.deepEqual(await left(), { sent: 4, queued: 66 });
  // More rounds than a mail is tried.
  for (let round = 2; round <= 10; round += 1) {
    room = 4;
    ms += 60_000;
    scene.clock.advance({ hours: 13 });
    await until(async () => (await left()).sent === 4 * round, `round ${round}`);
    await until(async () => (await runningOf(tenantId)) === 0, 'the round ends');
  }
  assert.deepEqual(await left(), { sent: 40, queued: 30 });
  room = 1_000;
  ms += 60_000;
  scene.clock.advance({ hours: 13 });
  await until(async () => (await left()).sent === 70, 'all are sent');
  assert.equal(new Set(server.received.map(({ to }) => to[0])).size, 70);
});

async function runningOf(tenantId: number): Promise<number> {
  const { rows } = await scene.sql.query(
    `select count(*)::integer as running from jobs where tenant_id = $1 and status = 'Running'`,
    [tenantId],
  );
  return rows[0].running;
}

after(async () => {
  for (const close of closing.splice(0)) await close();
});
