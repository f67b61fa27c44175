// Many at once: clicks on the same step at two servers, eight workers that post the same term, and
// others who want the same rows in another order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { assertChecks } from '../support/checks.ts';
import { environmentOf } from '../support/cluster.ts';
import { codeOf } from '../support/delivery.ts';
import {
  ask,
  clientOf,
  digestOf,
  type FullTerm,
  jobEnds,
  makeFullTerm,
  type StepName,
  stepNames,
} from '../support/full-term.ts';
import { closeGate } from '../support/gate.ts';
import { watchLocks } from '../support/lock-waits.ts';
import { openPlace, until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });
const place = await openPlace();
const nightly = process.env.FAULT_SUBSCRIPTIONS;
/** Of chunks: in a night they have the usual size. */
const chunkMax = nightly ? 1_000 : 25;
/** A chunk for each of eight workers, or for most of them. */
const postedAtOnce = Number(nightly ?? 8 * chunkMax);
/** Chunks besides a paused one. */
const undisturbed = nightly ? 4 : 1;

let made = 0;

function newTerm(subscriptions: number): Promise<FullTerm> {
  made += 1;
  return makeFullTerm(scene, scene.baseUrl, `wanted-${made}`, subscriptions);
}

const rows = async (text: string, values: readonly unknown[]) =>
  (await scene.sql.query(text, [...values])).rows;
const ended = (term: FullTerm, jobId: number) => jobEnds(rows, term, jobId);

async function done(term: FullTerm, step: StepName): Promise<string> {
  const job = await ended(term, await ask(clientOf(scene.baseUrl, term), step));
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
  return job.message;
}

test('50 clicks on each step at two servers are one job each', async () => {
  const env = { ...environmentOf(scene.cluster, scene.databaseName), SCHEDULE_WAIT_SECONDS: '0' };
  const servers = [place.run(['serve'], env), place.run(['serve'], env)];
  const urls = await Promise.all(servers.map((server) => server.ready()));
  const term = await newTerm(20);
  for (const step of stepNames) {
    // No worker runs yet: of all accepted jobs, none has ended.
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        codeOf(ask(clientOf(urls[index % 2] as string, term), step)),
      ),
    );
    const told = Map.groupBy(answers, (answer) => answer);
    assert.deepEqual(
      [told.get('success')?.length, told.get('JOB_ALREADY_RUNNING')?.length],
      [1, 49],
      `${step}: ${[...told.keys()]}`,
    );
    const { rows } = await scene.sql.query(
      `select job_id::integer as id from jobs where tenant_id = $1 and operation = $2`,
      [term.tenantId, `${step}-bills`],
    );
    assert.equal(rows.length, 1, `${step} has one job`);
    const worker = scene.runJobs({ lanes: 2 });
    const job = await ended(term, rows[0].id);
    assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
    await worker.stop();
  }
  await assertChecks(scene, term.tenantId);
  for (const server of servers) await server.end('SIGTERM');
});

/** Of a term whose rows were counted, posted by one worker; for the next tests. */
let usualMs: number | undefined;

async function timeOfPost(term: FullTerm): Promise<number> {
  const began = performance.now();
  await done(term, 'post');
  return performance.now() - began;
}

test('eight workers post one term without waiting for a lock, and no number is missing', async () => {
  const sql = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await sql.connect();
  const first = scene.runJobs({ lanes: 2, chunkMax });
  const [calm, term] = [await newTerm(postedAtOnce), await newTerm(postedAtOnce)];
  for (const one of [calm, term]) await done(one, 'generate');
  usualMs = await timeOfPost(calm);
  const others = Array.from({ length: 7 }, () => scene.runJobs({ lanes: 1, chunkMax }));
  const stop = watchLocks(sql);
  assert.equal(await done(term, 'post'), `${postedAtOnce} bills posted`);
  const { samples, longestMs } = await stop();
  process.stdout.write(`longest wait ${Math.round(longestMs)} ms in ${samples} samples\n`);
  assert.ok(samples > 5, `${samples} samples`);
  assert.ok(longestMs < 1_000, `a worker waited ${longestMs} ms for a lock`);
  assert.deepEqual(
    await digestOf(scene, term.tenantId),
    await digestOf(scene, calm.tenantId),
    'as if one had posted it',
  );
  await assertNumbered(term, postedAtOnce);
  await assertChecks(scene, term.tenantId);
  await sql.end();
  for (const worker of [first, ...others]) await worker.stop();
});

/** So many numbers, and none between them that is not given. */
async function assertNumbered({ tenantId }: FullTerm, count: number): Promise<void> {
  const { rows } = await scene.sql.query(
    `select count(*)::integer as count, max(n) - min(n) + 1 as span from (
       select substring(bill_number from '\\d+$')::integer as n from bills where tenant_id = $1
     ) b`,
    [tenantId],
  );
  assert.deepEqual(rows, [{ count, span: count }]);
}

test('a chunk that is paused while posting does not delay the other chunks', async () => {
  const worker = scene.runJobs({ lanes: 2, chunkMax });
  const subscriptions = undisturbed * chunkMax + 10;
  const term = await newTerm(subscriptions);
  const { tenantId } = term;
  await done(term, 'generate');
  const first = `new.tenant_id = ${tenantId} and new.bill_id <= ${chunkMax}`;
  const gate = await closeGate(scene, 'subledger_entries', first);
  const jobId = await ask(clientOf(scene.baseUrl, term), 'post');
  await gate.reached();
  const undone = async () => {
    const found = await rows(
      `select chunk from job_chunks where tenant_id = $1 and job_id = $2 and not is_done`,
      [tenantId, jobId],
    );
    return found.map(({ chunk }) => chunk);
  };
  await until(async () => (await undone()).length === 1, 'the others are done', 20_000);
  assert.deepEqual([await undone(), await gate.waiting()], [[1], 1]);
  const [{ posted }] = await rows(
    `select count(*)::integer as posted from bills where tenant_id = $1 and status = 'Posted'`,
    [tenantId],
  );
  assert.equal(posted, subscriptions - chunkMax);
  await gate.open();
  assert.equal((await ended(term, jobId)).message, `${subscriptions} bills posted`);
  await assertNumbered(term, subscriptions);
  await assertChecks(scene, tenantId);
  await worker.stop();
});

test('the first term of a workspace is posted as fast as any, before its rows are counted', async () => {
  const worker = scene.runJobs({ lanes: 2, chunkMax });
  // The planner thinks that it knows all workspaces: those of the tests before.
  assert.ok(usualMs, 'a term was posted before');
  const unknown = await newTerm(postedAtOnce);
  await done(unknown, 'generate');
  const first = await timeOfPost(unknown);
  const times = `${Math.round(first)} ms, with counted rows ${Math.round(usualMs)} ms`;
  process.stdout.write(`${times}\n`);
  assert.ok(first < usualMs * 5, times);
  await worker.stop();
});

test('a deadlock with another transaction is retried, and no caller sees it', async () => {
  const worker = scene.runJobs({ lanes: 2 });
  const [calm, term] = [await newTerm(40), await newTerm(40)];
  for (const step of ['generate', 'post'] as const) await done(calm, step);
  await done(term, 'generate');
  const { tenantId } = term;
  const gate = await closeGate(scene, 'subledger_entries', `new.tenant_id = ${tenantId}`);
  const jobId = await ask(clientOf(scene.baseUrl, term), 'post');
  // It holds the subscriptions and will want the balances.
  await gate.reached();
  const rival = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await rival.connect();
  // The transaction that detects a deadlock first is cancelled: that must not be the rival.
  await rival.query("set deadlock_timeout = '1h'");
  await rival.query('begin');
  await rival.query(
    `insert into subscription_balances (tenant_id, subscription_id, party_id) values ($1, 1, 1)
     on conflict (tenant_id, subscription_id, party_id) do update set deposit = 0`,
    [tenantId],
  );
  const taken = rival.query(
    'select ts from subscriptions where tenant_id = $1 and subscription_id = 1 for update',
    [tenantId],
  );
  await sleep(200);
  await gate.open();
  await taken;
  await rival.query('rollback');
  await rival.end();
  const job = await ended(term, jobId);
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
  assert.deepEqual(await digestOf(scene, tenantId), await digestOf(scene, calm.tenantId));
  assert.match(scene.logged.join(''), /deadlock detected.*put off/);
  await worker.stop();
});

test('a serialization failure is tried again inside a call and inside a part', async () => {
  const worker = scene.runJobs({ lanes: 2 });
  const [calm, term] = [await newTerm(40), await newTerm(40)];
  for (const step of ['generate', 'post'] as const) await done(calm, step);
  await done(term, 'generate');
  const { tenantId } = term;
  // Not undone by what it ends: the second attempt goes through.
  await scene.sql.query(`
    create sequence failures;
    grant usage on sequence failures to public;
    create function fail_once() returns trigger language plpgsql as $$
    begin
      if nextval('failures') in (1, 2) then
        raise exception 'could not serialize access' using errcode = '40001';
      end if;
      return new;
    end $$;
    create trigger fail_once before insert on jobs
      for each row when (new.tenant_id = ${tenantId}) execute function fail_once()`);
  const jobId = await ask(clientOf(scene.baseUrl, term), 'post');
  const { rows } = await scene.sql.query('select last_value::integer as calls from failures');
  assert.equal(rows[0].calls, 3, 'the call was run three times');
  assert.equal((await ended(term, jobId)).status, 'Succeeded');
  const again = await newTerm(40);
  await done(again, 'generate');
  await scene.sql.query(`
    alter sequence failures restart;
    create trigger fail_once before insert on journals
      for each row when (new.tenant_id = ${again.tenantId}) execute function fail_once()`);
  assert.equal(await done(again, 'post'), '40 bills posted');
  const expected = await digestOf(scene, calm.tenantId);
  assert.deepEqual(await digestOf(scene, tenantId), expected);
  assert.deepEqual(await digestOf(scene, again.tenantId), expected);
  await worker.stop();
});
