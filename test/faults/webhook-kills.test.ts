// Workers are killed while they send webhooks to a receiver that fails at random, and the disk of
// the database is full for a while: every event arrives at least once, genuine, and the sequence
// has no gap.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { useSecretKeyFile } from '../../src/base/secret-key.ts';
import { startable } from '../support/bundle.ts';
import { canLimit, limitFiles, logFileBytes } from '../support/full-disk.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { quickNode } from '../support/quick-node.ts';
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, newSecret } from '../support/webhooks.ts';

const changes = Number(process.env.WEBHOOK_CHANGES ?? 300);
const kills = Number(process.env.WEBHOOK_KILLS ?? 3);
/** Only where no other test uses the same PostgreSQL. */
const fillsDisk = process.env.WEBHOOK_FULL_DISK === '1' && canLimit;
const clients = 20;
const killPauseMs = 800;
const fullMs = 4_000;
/** So many payments, and then a reversal of the last. */
const reversedEach = 10;

const folder = mkdtempSync(join(tmpdir(), 'billwright-webhooks-'));
const secretKeyFile = join(folder, 'secret.key');
useSecretKeyFile(secretKeyFile);
allowLoopback();
const scene = await openScene();

const workers = new Set<ChildProcess>();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  for (const worker of [...workers]) await kill(worker);
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const script = startable('test/support/webhook-worker.ts');

function startWorker(): ChildProcess {
  const { cluster, databaseName } = scene;
  const wanted = JSON.stringify({ ...cluster.owner, database: databaseName, secretKeyFile });
  // What a worker logs of a full disk is expected.
  const last = fillsDisk ? 'ignore' : 'inherit';
  const stdio: ['ignore', 'pipe', typeof last] = ['ignore', 'pipe', last];
  const child = spawn(process.execPath, [...quickNode, script, wanted], { stdio });
  workers.add(child);
  return child;
}

async function kill(worker: ChildProcess): Promise<void> {
  workers.delete(worker);
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
}

/** A busy server and one without space refuse a call; it is sent again until it is done. */
async function persist<T>(call: () => Promise<T>, isDone: (code: string) => boolean) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const { statusCode = 0, code = '' } = error as { statusCode?: number; code?: string };
      if (isDone(code)) return undefined;
      if (statusCode !== 429 && statusCode !== 503) throw error;
      await setTimeout(200);
    }
  }
}

type Change = { paymentID: number; isReversed: boolean };

/** By twenty clients; the same reference is paid once however often it is sent. */
async function makeChanges({ client, pay }: Owing): Promise<Change[]> {
  let left = changes;
  const made: Change[] = [];
  const worked = Array.from({ length: clients }, async () => {
    while (left > 0) {
      const number = left;
      left -= 1;
      const reference = `K-${number}`;
      const paymentID =
        (await persist(
          () => pay({ reference, amount: 1 }),
          () => false,
        )) ?? 0;
      const change = { paymentID, isReversed: number % reversedEach === 0 && left > 0 };
      made.push(change);
      if (!change.isReversed) continue;
      left -= 1;
      const data = { paymentID, reason: 'Bounced' };
      await persist(
        () => client.reversePayment({ data }),
        (code) => code === 'ALREADY_REVERSED',
      );
    }
  });
  await Promise.all(worked);
  return made;
}

async function killWorkers(running: ChildProcess[]): Promise<void> {
  let alive = running;
  for (let count = 0; count < kills; count += 1) {
    await setTimeout(killPauseMs * (0.5 + Math.random()));
    const [victim, ...others] = alive;
    if (victim) await kill(victim);
    alive = [...others, startWorker()];
  }
}

/** The table of attempts cannot grow: workers can note no attempt, and so send nothing. */
async function fillDisk(): Promise<void> {
  const { cluster, databaseName: database } = scene;
  const own = new pg.Client({ ...cluster.superuser, database });
  await own.connect();
  const { rows } = await own.query('show data_directory');
  const dataFolder = rows[0].data_directory;
  await own.query(`set session_replication_role = 'replica'`);
  await own.query(`do $$
    declare n integer := 0;
    begin
      while pg_relation_size('webhook_attempts') < ${logFileBytes + 100_000} loop
        n := n + 1;
        insert into webhook_attempts (tenant_id, webhook_id, sequence, attempt, started_at, detail)
        select 999999, 1, n, g, now(), repeat('x', 1900) from generate_series(1, 100) g;
      end loop;
    end $$`);
  await setTimeout(fullMs);
  const size = await own.query(`select pg_relation_size('webhook_attempts')::integer as bytes`);
  limitFiles(dataFolder, size.rows[0].bytes);
  const more = `insert into webhook_attempts (tenant_id, webhook_id, sequence, attempt, started_at,
      detail)
    select 999999, 2, 1, g, now(), repeat('x', 1900) from generate_series(1, 1000) g`;
  await assert.rejects(own.query(more), /could not (extend|write)/);
  await setTimeout(fullMs);
  limitFiles(dataFolder, 'unlimited');
  await own.query('delete from webhook_attempts where tenant_id = 999999');
  await own.end();
}

type Counts = { delivered: number; events: number };

async function countsOf(tenantId: number): Promise<Counts> {
  const { rows } = await scene.sql.query(
    `select (select count(*)::integer from webhook_messages
         where tenant_id = $1 and status = 'Delivered') as delivered,
       (select count(*)::integer from events
         where tenant_id = $1 and type in ('payment.created', 'payment.reversed')) as events`,
    [tenantId],
  );
  return rows[0];
}

async function allDelivered(tenantId: number): Promise<number> {
  const deadline = performance.now() + (60 + changes / 20) * 1_000;
  for (;;) {
    const { delivered, events } = await countsOf(tenantId);
    if (delivered >= events) return events;
    assert.ok(performance.now() < deadline, `${delivered} of ${events} events are delivered`);
    await setTimeout(500);
  }
}

/** Of the messages about a payment, the one that `ts` and `sequence` say is the newest. */
function lastOfEach(received: readonly Received[]): Map<unknown, string> {
  const place = ({ body }: Received) => [Number(body.data.ts), body.sequence] as const;
  const last = new Map<unknown, Received>();
  for (const one of received) {
    const known = last.get(one.body.data.paymentID);
    const [ts, sequence] = place(one);
    const [knownTs, knownSequence] = known ? place(known) : [0, 0];
    if (ts > knownTs || (ts === knownTs && sequence > knownSequence)) {
      last.set(one.body.data.paymentID, one);
    }
  }
  return new Map([...last].map(([paymentID, { body }]) => [paymentID, body.type]));
}

function assertComplete(receiver: Receiver, made: readonly Change[], events: number): void {
  const { received } = receiver;
  const reversals = made.filter((one) => one.isReversed).length;
  assert.equal(events, made.length + reversals);
  assert.ok(received.every((one) => one.isGenuine));
  const sequences = new Set(received.map((one) => one.body.sequence));
  assert.equal(sequences.size, events);
  assert.equal(
    received.reduce((most, { body }) => Math.max(most, body.sequence), 0),
    events,
  );
  const ids = new Map(received.map((one) => [one.body.sequence, one.id]));
  assert.ok(received.every((one) => ids.get(one.body.sequence) === one.id));
  const expected = made.map(({ paymentID, isReversed }): [unknown, string] => [
    paymentID,
    isReversed ? 'payment.reversed' : 'payment.created',
  ]);
  assert.deepEqual(lastOfEach(received), new Map(expected));
}

test('with killed workers and a failing receiver every event arrives at least once', async () => {
  const owing = await openOwing(scene, 'webhook-kills');
  const { client, tenantId } = owing;
  const { secret, key } = newSecret();
  const receiver = await openReceiver(key, Date.now);
  closing.push(() => receiver.close());
  const library = new Webhook(secret);
  let verified = 0;
  receiver.answer = async ({ body, headers }) => {
    library.verify(JSON.stringify(body), headers as Record<string, string>);
    verified += 1;
    const chance = Math.random();
    if (chance < 0.1) return { status: 500 };
    if (chance < 0.15) return { status: 302, headers: { location: receiver.url } };
    if (chance < 0.17) await setTimeout(1_500);
    return { status: 204 };
  };
  const types: ('payment.created' | 'payment.reversed')[] = ['payment.created', 'payment.reversed'];
  await client.makeWebhooks({ url: receiver.url, secret, types });
  const began = performance.now();
  const [made] = await Promise.all([
    makeChanges(owing),
    killWorkers([startWorker(), startWorker()]),
    fillsDisk ? fillDisk() : undefined,
  ]);
  const changed = performance.now();
  const events = await allDelivered(tenantId);
  assert.equal(verified, receiver.received.length);
  assertComplete(receiver, made, events);
  // What a killed worker was sending left an attempt without an outcome.
  const { rows } = await scene.sql.query(
    `select count(*) filter (where outcome is null)::integer as lost, count(*)::integer as tried
     from webhook_attempts where tenant_id = $1`,
    [tenantId],
  );
  const seconds = (from: number, to: number) => `${Math.round((to - from) / 1_000)} s`;
  console.log(
    `webhooks: ${events} events in ${seconds(began, changed)}, delivered after a further ` +
      `${seconds(changed, performance.now())}; ${rows[0].tried} attempts, ${rows[0].lost} without ` +
      `an outcome, ${kills} workers killed${fillsDisk ? ', the disk full once' : ''}`,
  );
});
