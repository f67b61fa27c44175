// Workers that die, sleep or are repeated at an exact place of a step, and changes while a chunk
// runs: the result is that of an undisturbed term.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Client } from '../../sdk/client.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import {
  type DoomedWorker,
  endKeptWorker,
  killWorker,
  startKeptWorker,
  startReadyWorker,
} from '../support/doomed-workers.ts';
import { openTestEquipment } from '../support/equipment.ts';
import {
  ask,
  clientOf,
  type Digest,
  digestOf,
  type FullTerm,
  jobEnds,
  jobOf,
  makeFullTerm,
  type StepName,
} from '../support/full-term.ts';
import { closeGate } from '../support/gate.ts';
import { startMailServer } from '../support/mail-server.ts';
import { until } from '../support/program.ts';
import { termID } from '../support/residential-rows.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });

/** Of a chunk: a term of fifty subscriptions has two. */
const chunkMax = 40;
const twoChunks = 50;

const keptWorker = () => startKeptWorker(scene, { chunkMax });

let made = 0;

function newTerm(subscriptions: number): Promise<FullTerm> {
  made += 1;
  return makeFullTerm(scene, scene.baseUrl, `gated-${made}`, subscriptions);
}

const askFor = (term: FullTerm, step: StepName) => ask(clientOf(scene.baseUrl, term), step);

const rows = async (text: string, values: readonly unknown[]) =>
  (await scene.sql.query(text, [...values])).rows;
const ended = (term: FullTerm, jobId: number) => jobEnds(rows, term, jobId);

async function done(term: FullTerm, step: StepName): Promise<string> {
  const job = await ended(term, await askFor(term, step));
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
  return job.message;
}

type Calm = { generate: Digest; post: Digest };

const calmTerms = new Map<number, Promise<Calm>>();

/** The result of an undisturbed term of this size after each step. */
function calmly(subscriptions: number): Promise<Calm> {
  const known = calmTerms.get(subscriptions) ?? billCalmly(subscriptions);
  calmTerms.set(subscriptions, known);
  return known;
}

async function billCalmly(subscriptions: number): Promise<Calm> {
  const term = await newTerm(subscriptions);
  await done(term, 'generate');
  const generate = await digestOf(scene, term.tenantId);
  await done(term, 'post');
  return { generate, post: await digestOf(scene, term.tenantId) };
}

async function countsOf({ tenantId }: FullTerm) {
  const { rows } = await scene.sql.query(
    `select
       (select count(*)::integer from bills where tenant_id = $1 and status <> 'Draft') as posted,
       (select count(*)::integer from bills
         where tenant_id = $1 and bill_number is not null) as numbered,
       (select count(*)::integer from subledger_entries
         where tenant_id = $1 and kind = 'Bill') as entries,
       (select count(*)::integer from journals
         where tenant_id = $1 and source_type = 'Bills') as journals,
       (select count(*)::integer from bill_numbers where tenant_id = $1) as given,
       (select count(*)::integer from usage_histories
         where tenant_id = $1 and terms[1] ->> 'termId' is not null) as remembered,
       (select count(*)::integer from subscriptions
         where tenant_id = $1 and billed_through > '2025-06-30') as advanced`,
    [tenantId],
  );
  return rows[0];
}

const ofAll = (count: number) => ({
  posted: count,
  numbered: count,
  entries: count,
  given: count,
  remembered: count,
  advanced: count,
});
const nothing = { ...ofAll(0), journals: 0 };

// Where posting writes, in the order in which it does.
const places: [table: string, when: string][] = [
  ['bill_runs', 'new.reserved is not null'],
  ['subscriptions', `new.billed_through > '2025-06-30'`],
  ['bills', `new.status = 'Posted'`],
  ['subledger_entries', 'true'],
  ['bill_numbers', 'true'],
  // Those that there are, and those that begin.
  ['usage_histories', 'new.subscription_id % 3 > 0'],
  ['usage_histories', 'new.subscription_id % 3 = 0'],
  ['job_chunks', 'new.is_done'],
];

for (const pair of [0, 2, 4, 6].map((at) => places.slice(at, at + 2))) {
  const named = pair.map(([table, when]) => `${table} where ${when}`).join(', then at ');
  test(`killed inside post at ${named}: nothing of the part is there`, async () => {
    await keptWorker();
    const { post: expected } = await calmly(40);
    const term = await newTerm(40);
    await done(term, 'generate');
    let jobId = 0;
    for (const [table, when] of pair) {
      const gate = await closeGate(scene, table, `new.tenant_id = ${term.tenantId} and (${when})`);
      const worker = await keptWorker();
      jobId ||= await askFor(term, 'post');
      await gate.reached();
      await killWorker(worker);
      await until(async () => (await gate.waiting()) === 0, 'PostgreSQL has noticed', 20_000);
      assert.deepEqual(await countsOf(term), nothing, table);
      await gate.open();
      assert.equal((await jobOf(rows, term, jobId)).finished_at, null);
    }
    await keptWorker();
    const job = await ended(term, jobId);
    assert.deepEqual([job.status, job.message, job.error], ['Succeeded', '40 bills posted', null]);
    assert.deepEqual(await digestOf(scene, term.tenantId), expected);
    await assertChecks(scene, term.tenantId);
  });
}

/** Returns how to ask, once, which parts were tried since; -1 is the end of a job. */
async function watchTries(): Promise<() => Promise<number[]>> {
  await scene.sql.query(`
    create table tries (try bigint generated always as identity, chunk integer);
    grant insert on tries to public;
    create function note_try() returns trigger language plpgsql as
      $$ begin insert into tries (chunk) values (new.chunk); return new; end $$;
    create trigger note_try before insert on chunk_attempts
      for each row execute function note_try()`);
  return async () => {
    const tries = await rows('select chunk from tries order by try', []);
    await scene.sql.query('drop function note_try cascade; drop table tries');
    return tries.map(({ chunk }) => chunk);
  };
}

type Killed = {
  step: StepName;
  /** Where the second of its two chunks is paused when the worker is killed; the first is done. */
  at: { table: string; when: string };
  /** What is there then. */
  look(): Promise<void>;
  message: string;
};

/** Returns the worker that does the rest. */
async function killSecondPart(
  worker: DoomedWorker,
  term: FullTerm,
  { step, at, look, message }: Killed,
): Promise<DoomedWorker> {
  const gate = await closeGate(scene, at.table, `new.tenant_id = ${term.tenantId} and ${at.when}`);
  const jobId = await askFor(term, step);
  await gate.reached();
  await until(() => isPartDone(term, jobId), `the first part of ${step} is done`);
  await killWorker(worker);
  await until(async () => (await gate.waiting()) === 0, 'PostgreSQL has noticed', 20_000);
  await look();
  await gate.open();
  const tries = await watchTries();
  const other = await keptWorker();
  const job = await ended(term, jobId);
  assert.equal(job.message, message, JSON.stringify(job.error));
  assert.deepEqual(await tries(), [2, -1], `${step}: only the second part is tried again`);
  return other;
}

/** Of a running job, whether its first part is done. */
async function isPartDone({ tenantId }: FullTerm, jobId: number): Promise<boolean> {
  const [part] = await rows(
    'select is_done from job_chunks where tenant_id = $1 and job_id = $2 and chunk = 1',
    [tenantId, jobId],
  );
  return part?.is_done === true;
}

test('killed inside one of two parts: no half of it is there, and only it is repeated', async () => {
  const first = await keptWorker();
  const calm = await calmly(twoChunks);
  const term = await newTerm(twoChunks);
  const second = await killSecondPart(first, term, {
    step: 'generate',
    // Some rows of the part are written.
    at: { table: 'bills', when: 'new.subscription_id > 44' },
    look: async () => {
      const bills = await rows(
        `select count(*)::integer as count, max(subscription_id)::integer as last from bills
         where tenant_id = $1`,
        [term.tenantId],
      );
      assert.deepEqual(bills, [{ count: chunkMax, last: chunkMax }]);
    },
    message: `${twoChunks} bills generated, 0 in error, 0 on hold`,
  });
  assert.deepEqual(await digestOf(scene, term.tenantId), calm.generate);
  await killSecondPart(second, term, {
    step: 'post',
    at: { table: 'subledger_entries', when: 'new.bill_id > 44' },
    look: async () => assert.deepEqual(await countsOf(term), { ...ofAll(chunkMax), journals: 1 }),
    message: `${twoChunks} bills posted`,
  });
  assert.deepEqual(await digestOf(scene, term.tenantId), calm.post);
  await assertChecks(scene, term.tenantId);
});

test('a worker that slept while it posted loses its part and cannot commit it', async () => {
  await endKeptWorker();
  const first = await startReadyWorker(scene, { lanes: 1, leaseSeconds: 2, chunkMax });
  const { post: expected } = await calmly(40);
  const term = await newTerm(40);
  await done(term, 'generate');
  const of = `new.tenant_id = ${term.tenantId}`;
  const gate = await closeGate(scene, 'subledger_entries', of);
  const jobId = await askFor(term, 'post');
  await gate.reached();
  first.child.kill('SIGSTOP');
  const second = await startReadyWorker(scene, { leaseSeconds: 2, chunkMax });
  await until(() => second.output().includes('lost worker were freed'), 'its part is free', 20_000);
  await gate.open();
  assert.equal((await ended(term, jobId)).message, '40 bills posted');
  assert.deepEqual(await digestOf(scene, term.tenantId), expected);
  first.child.kill('SIGCONT');
  await until(() => first.output().includes('fenced'), 'it finds out');
  assert.deepEqual(await digestOf(scene, term.tenantId), expected);
  await assertChecks(scene, term.tenantId);
});

/** Another after any row was written again, be it with the same in it. */
async function versionsOf({ tenantId }: FullTerm): Promise<string[]> {
  const tables = ['bills', 'subledger_entries', 'bill_documents', 'deliveries'];
  const versions = await rows(
    tables
      .map(
        (table) => `select md5(string_agg(concat_ws(' ', ctid, xmin), ',' order by ctid)) as md5
        from ${table} where tenant_id = $1`,
      )
      .join(' union all '),
    [tenantId],
  );
  return versions.map(({ md5 }) => md5);
}

/** Has the first chunk of a running job done a second time while the second is paused at a gate. */
async function repeatFirstPart(
  term: FullTerm,
  step: StepName,
  at: { table: string; when: string },
): Promise<void> {
  const when = `new.tenant_id = ${term.tenantId} and (${at.when})`;
  const gate = await closeGate(scene, at.table, when);
  const jobId = await askFor(term, step);
  const isDone = () => isPartDone(term, jobId);
  await gate.reached();
  await until(isDone, `the first part of ${step} is done`);
  const state = async () => ({
    ...(await digestOf(scene, term.tenantId)),
    versions: await versionsOf(term),
  });
  const before = await state();
  await scene.sql.query(
    `update job_chunks set is_done = false, done = 0
     where tenant_id = $1 and job_id = $2 and chunk = 1`,
    [term.tenantId, jobId],
  );
  await until(isDone, `the first part of ${step} is done again`);
  assert.deepEqual(await state(), before, `${step}: nothing came of it`);
  await gate.open();
  const job = await ended(term, jobId);
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
}

test('the same part executed twice, and the same job inserted twice, change nothing', async () => {
  await keptWorker();
  const calm = await calmly(twoChunks);
  const term = await newTerm(twoChunks);
  const last = (column: string) => `new.${column} > ${chunkMax}`;
  await repeatFirstPart(term, 'generate', { table: 'bills', when: last('subscription_id') });
  const same = await digestOf(scene, term.tenantId);
  assert.deepEqual(same['bytes of bills'], calm.generate['bytes of bills']);
  await repeatFirstPart(term, 'post', { table: 'subledger_entries', when: last('bill_id') });
  assert.deepEqual(await digestOf(scene, term.tenantId), calm.post);
  // The job of posting as a queue would deliver it a second time.
  await scene.sql.query("select set_config('app.tenant', $1, false)", [String(term.tenantId)]);
  const { rows } = await scene.sql.query(
    `with twice as (
       update counters set last_number = last_number + 1
       where tenant_id = $1 and series = 'job' returning last_number
     )
     insert into jobs (tenant_id, job_id, operation, term_id, status, is_immediate, parameters,
       due_at, requested_by, created_at)
     select j.tenant_id, t.last_number, j.operation, j.term_id, 'Scheduled', true, j.parameters,
       now(), j.requested_by, now()
     from jobs j, twice t where j.tenant_id = $1 and j.operation = 'post-bills'
     returning job_id::integer as id`,
    [term.tenantId],
  );
  const job = await ended(term, rows[0].id);
  assert.deepEqual([job.status, job.error?.code], ['Failed', 'INVALID_STATE']);
  assert.deepEqual(await digestOf(scene, term.tenantId), calm.post);
  await assertChecks(scene, term.tenantId);
});

test('the same part published and sent twice: one document and one mail for each bill', async () => {
  const server = await startMailServer();
  const equipment = openTestEquipment({ smtpUrl: server.url });
  // It has no mail server.
  await endKeptWorker();
  const worker = scene.runJobs({ equipment, lanes: 2, chunkMax });
  after(async () => {
    await worker.stop();
    await equipment.close();
    await server.close();
  });
  const bills = twoChunks;
  const term = await newTerm(bills);
  for (const step of ['generate', 'post'] as const) await done(term, step);
  const last = (status: string) => `new.bill_id > ${chunkMax} and new.status = '${status}'`;
  await repeatFirstPart(term, 'publish', { table: 'bills', when: last('Published') });
  await repeatFirstPart(term, 'distribute', { table: 'deliveries', when: last('Sending') });
  const [counted] = await rows(
    `select
       (select count(*)::integer from bill_documents where tenant_id = $1) as documents,
       (select count(*)::integer from deliveries
         where tenant_id = $1 and status = 'Sent' and attempts = 1) as sent,
       (select count(*)::integer from deliveries where tenant_id = $1) as deliveries`,
    [term.tenantId],
  );
  assert.deepEqual(counted, { documents: bills, sent: bills, deliveries: bills });
  const recipients = server.received.map(({ to }) => to[0]);
  assert.deepEqual([recipients.length, new Set(recipients).size], [bills, bills]);
  await assertChecks(scene, term.tenantId);
});

const numberOf = (n: number) => `ELEC-${String(n).padStart(8, '0')}`;

/** One of which nothing is owed; its meter, which was read on the last day, goes after that. */
async function closeSubscription(client: Client, n: number): Promise<void> {
  const connectionNumber = numberOf(n);
  await client.disconnectConnection({ data: { connectionNumber, effectiveDate: '20/07/2025' } });
  await client.closeConnection({ data: { connectionNumber, effectiveDate: '01/08/2025' } });
}

test('what changes while its part runs is in none of its bills, and stops the posting', async () => {
  await keptWorker();
  const calm = await calmly(40);
  const term = await newTerm(40);
  const client = clientOf(scene.baseUrl, term);
  const gate = await closeGate(scene, 'bills', `new.tenant_id = ${term.tenantId}`);
  const jobId = await askFor(term, 'generate');
  // All inputs are read and all bills are made; the first is about to be written.
  await gate.reached();
  assert.equal(
    await codeOf(
      client.reviewReading({ data: { readingID: 6, decision: 'Accept', value: '99000' } }),
    ),
    'READING_LOCKED',
  );
  assert.equal(
    await codeOf(client.unpostMeterReadings({ operation: 'schedule', data: { termID } })),
    'JOB_ALREADY_RUNNING',
  );
  await client.disconnectConnection({
    data: { connectionNumber: numberOf(4), effectiveDate: '20/07/2025' },
  });
  await client.changeTariff({
    data: {
      connectionNumber: numberOf(5),
      tariffCode: 'RES-A1-PRV',
      effectiveDate: '01/07/2025',
    },
  });
  await closeSubscription(client, 7);
  await gate.open();
  await ended(term, jobId);
  const drafts = await digestOf(scene, term.tenantId);
  assert.deepEqual(drafts['bytes of bills'], calm.generate['bytes of bills'], 'as it was read');
  assert.equal(await codeOf(askFor(term, 'post')), 'TERM_STALE_GENERATE_AGAIN');
  assert.deepEqual(await countsOf(term), nothing);
  await done(term, 'generate');
  const { rows } = await scene.sql.query(
    `select string_agg(subscription_id::text, ',' order by subscription_id) as changed
     from superseded_bills where tenant_id = $1`,
    [term.tenantId],
  );
  assert.deepEqual(rows, [{ changed: '4,5,7' }], 'made anew, those three are other bills');
  assert.match(await done(term, 'post'), /^40 bills posted/);
  await assertChecks(scene, term.tenantId);
});

test('a bill whose inputs change after posting has begun is not posted, and its number is retired', async () => {
  await keptWorker();
  const term = await newTerm(40);
  const client = clientOf(scene.baseUrl, term);
  await done(term, 'generate');
  // Numbers are set aside, and the first part is about to begin.
  const when = `new.tenant_id = ${term.tenantId} and new.chunk = 1`;
  const gate = await closeGate(scene, 'chunk_attempts', when);
  const jobId = await askFor(term, 'post');
  await gate.reached();
  await client.disconnectConnection({
    data: { connectionNumber: numberOf(4), effectiveDate: '20/07/2025' },
  });
  await closeSubscription(client, 7);
  await gate.open();
  assert.match((await ended(term, jobId)).message, /^38 bills posted, 2 left for the next term: /);
  const { rows } = await scene.sql.query(
    `select b.subscription_id::integer as subscription, b.is_held, b.bill_number,
       r.retired_reason as reason
     from bill_numbers r join bills b on b.tenant_id = r.tenant_id and b.bill_id = r.bill_id
     where r.tenant_id = $1 and r.retired_at is not null order by 1`,
    [term.tenantId],
  );
  const reason = 'The subscription changed while the term was posted';
  assert.deepEqual(
    rows,
    [4, 7].map((subscription) => ({ subscription, is_held: false, bill_number: null, reason })),
  );
  await assertChecks(scene, term.tenantId);
});
