// A database that is full, only reads, ends its connections or crashes while a term is billed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BillingError } from '../../sdk/client.ts';
import { crashEmbedded } from '../../src/base/postgres/embedded.ts';
import { assertChecks } from '../support/checks.ts';
import { canLimit, limitFiles, logFileBytes } from '../support/full-disk.ts';
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
import { until, workersIn } from '../support/program.ts';
import { openSupervisor } from '../support/supervisor.ts';

const supervisor = await openSupervisor();
const { place, dataFolder, rows } = supervisor;
const subscriptions = Number(process.env.FAULT_SUBSCRIPTIONS ?? 60);
const steps = ['generate', 'post', 'publish'] as const;

let made = 0;

async function newTerm(): Promise<FullTerm> {
  made += 1;
  await supervisor.recovered();
  return makeFullTerm(place, supervisor.baseUrl(), `short-${made}`, subscriptions);
}

const askFor = (term: FullTerm, step: StepName) => ask(clientOf(supervisor.baseUrl(), term), step);

const ended = (term: FullTerm, jobId: number) => jobEnds(rows, term, jobId);

async function succeeds(term: FullTerm, jobId: number): Promise<void> {
  const job = await ended(term, jobId);
  assert.equal(job.status, 'Succeeded', JSON.stringify(job.error));
}

let calm: Promise<Digest> | undefined;

/** The result of an undisturbed term. */
function calmly(): Promise<Digest> {
  calm ??= (async () => {
    const term = await newTerm();
    for (const step of steps) await succeeds(term, await askFor(term, step));
    return digestOf(place, term.tenantId);
  })();
  return calm;
}

async function assertSame(term: FullTerm): Promise<void> {
  assert.deepEqual(await digestOf(place, term.tenantId), await calmly());
  await assertChecks(place, term.tenantId);
}

/** Adds entries without an owner until their file is large and has no free page left. */
async function fillEntries(): Promise<void> {
  await rows(`do $$
    declare
      size bigint;
      n bigint := 0;
    begin
      perform set_config('session_replication_role', 'replica', true);
      loop
        n := n + 1;
        insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id,
          party_id, subscription_id, kind, amount, posting_date, description, created_at,
          created_by)
        values (999999, n, 1, 2, 1, 1, 'Opening', 0, '2025-01-01', repeat('x', 1900), now(),
          'test');
        size := pg_relation_size('subledger_entries');
        exit when size > ${logFileBytes + 100_000};
      end loop;
    end $$`);
}

test('a disk that is full while a term is posted fails the run with its reason; then it goes on', {
  skip: !canLimit,
}, async () => {
  await calmly();
  const term = await newTerm();
  await succeeds(term, await askFor(term, 'generate'));
  await fillEntries();
  const [{ bytes }] = await rows(`select pg_relation_size('subledger_entries')::integer as bytes`);
  assert.ok(bytes > logFileBytes, `${bytes} bytes`);
  limitFiles(dataFolder, bytes);
  const jobId = await askFor(term, 'post');
  const job = await ended(term, jobId);
  assert.equal(job.status, 'Failed');
  assert.equal(job.error.code, 'UNAVAILABLE');
  assert.match(job.error.message, /^The disk of the database is full/);
  const [state] = await rows(
    `select stage, (select count(*)::integer from bills
       where tenant_id = t.tenant_id and status <> 'Draft') as posted
     from terms t where tenant_id = $1`,
    [term.tenantId],
  );
  assert.deepEqual(state, { stage: 'Posting', posted: 0 }, 'nothing of the part is there');
  await assertChecks(place, term.tenantId);
  limitFiles(dataFolder, 'unlimited');
  await succeeds(term, await askFor(term, 'post'));
  await succeeds(term, await askFor(term, 'publish'));
  await assertSame(term);
  await rows(`with quiet as (select set_config('session_replication_role', 'replica', true))
    delete from subledger_entries using quiet where tenant_id = 999999`);
});

test('a database that only reads for a while, and cut connections, hold a run up and no more', async () => {
  await calmly();
  const term = await newTerm();
  const client = clientOf(supervisor.baseUrl(), term);
  for (const step of ['generate', 'post'] as const) await succeeds(term, await askFor(term, step));
  const workers = workersIn(dataFolder);
  const jobId = await askFor(term, 'publish');
  await until(async () => (await jobOf(rows, term, jobId)).status === 'Running', 'it has begun');
  const cut = () =>
    rows(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name like 'billwright %'`,
    );
  await rows('alter system set default_transaction_read_only = on');
  await rows('select pg_reload_conf()');
  await cut();
  const refused = await until(async () => {
    const call = client.makeUsers({ userType: 'customer', users: [{ name: 'Too early' }] });
    const error = await call.catch((reason) => reason);
    return error instanceof BillingError ? error : undefined;
  }, 'a call is refused');
  assert.deepEqual([refused.code, refused.statusCode], ['UNAVAILABLE', 503]);
  assert.equal(refused.error.retryable, true);
  await sleep(1_000);
  assert.equal((await jobOf(rows, term, jobId)).status, 'Running');
  await rows('alter system reset default_transaction_read_only');
  await rows('select pg_reload_conf()');
  const back = performance.now();
  await cut();
  await succeeds(term, jobId);
  assert.ok(performance.now() - back < 30_000, 'it went on within half a minute');
  assert.deepEqual(workersIn(dataFolder), workers, 'the worker is the same');
  await assertSame(term);
});

test('PostgreSQL ended at once in the middle of each step: what was answered is there', async () => {
  await calmly();
  const term = await newTerm();
  for (const [index, step] of steps.entries()) {
    const client = clientOf(supervisor.baseUrl(), term);
    const jobId = await askFor(term, step);
    const name = `Answered ${index}`;
    await client.makeUsers({ userType: 'customer', users: [{ name }] });
    await crashEmbedded(dataFolder);
    await succeeds(term, jobId);
    const found = await rows('select from parties where tenant_id = $1 and name = $2', [
      term.tenantId,
      name,
    ]);
    assert.equal(found.length, 1, `${name} is there once`);
  }
  await assertSame(term);
});

test('PostgreSQL that crashes again and again over one part is no fault of the part', async () => {
  await calmly();
  const term = await newTerm();
  await succeeds(term, await askFor(term, 'generate'));
  const { tenantId } = term;
  await rows(`create function dawdle() returns trigger language plpgsql as
    $$ begin perform pg_sleep(6); return null; end $$`);
  await rows(`create trigger dawdle after insert on journals
    for each row when (new.tenant_id = ${tenantId}) execute function dawdle()`);
  const jobId = await askFor(term, 'post');
  for (let crashes = 1; crashes <= 4; crashes += 1) {
    await until(async () => {
      const found = await rows("select from pg_stat_activity where wait_event = 'PgSleep'");
      return found.length > 0;
    }, `the part is tried for the ${crashes}. time`);
    // That it is tried has reached the disk by now, and outlives the crash.
    await sleep(1_000);
    await crashEmbedded(dataFolder);
  }
  await rows('drop function dawdle cascade');
  await succeeds(term, jobId);
  await succeeds(term, await askFor(term, 'publish'));
  await assertSame(term);
});
