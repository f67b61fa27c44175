// Workers are killed while they send webhooks to a receiver that fails at random: every event
// arrives at least once, genuine, and the sequence has no gap.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { useSecretKeyFile } from '../../src/base/secret-key.ts';
import { startable } from '../support/bundle.ts';
import { openOwing } from '../support/owing.ts';
import { quickNode } from '../support/quick-node.ts';
import { openReceiver } from '../support/receiver.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, newSecret, until } from '../support/webhooks.ts';

const changes = Number(process.env.WEBHOOK_CHANGES ?? 300);
const kills = Number(process.env.WEBHOOK_KILLS ?? 3);
const clients = 20;
const killPauseMs = 800;

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
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
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

test('with killed workers and a failing receiver every event arrives at least once', async () => {
  const { client, tenantId, pay } = await openOwing(scene, 'webhook-kills');
  const { secret, key } = newSecret();
  const receiver = await openReceiver(key, Date.now);
  closing.push(() => receiver.close());
  receiver.answer = async () => {
    const chance = Math.random();
    if (chance < 0.1) return { status: 500 };
    if (chance < 0.15) return { status: 302, headers: { location: receiver.url } };
    if (chance < 0.17) await setTimeout(1_500);
    return { status: 204 };
  };
  await client.makeWebhooks({ url: receiver.url, secret, types: ['payment.created'] });
  // A busy server refuses a call, and the same reference is paid once however often it is sent.
  const paidOnce = async (reference: string): Promise<number> => {
    for (;;) {
      try {
        return await pay({ reference, amount: 1 });
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode !== 429) throw error;
        await setTimeout(200);
      }
    }
  };
  let running = [startWorker(), startWorker()];
  let left = changes;
  const paid: number[] = [];
  const paying = Array.from({ length: clients }, async () => {
    while (left > 0) {
      left -= 1;
      paid.push(await paidOnce(`K-${left}`));
    }
  });
  const killing = (async () => {
    for (let count = 0; count < kills; count += 1) {
      await setTimeout(killPauseMs * (0.5 + Math.random()));
      const [victim, ...others] = running;
      if (victim) await kill(victim);
      running = [...others, startWorker()];
    }
  })();
  await Promise.all([...paying, killing]);
  const accepted = () => new Set(receiver.received.map((one) => one.body.data.paymentID));
  const isSent = async () => {
    const { rows } = await scene.sql.query(
      `select count(*)::integer as count from webhook_messages
       where tenant_id = $1 and status = 'Delivered'`,
      [tenantId],
    );
    return rows[0].count >= changes;
  };
  await until('all are delivered', isSent, 60 + changes / 20);
  assert.equal(paid.length, changes);
  assert.deepEqual([...accepted()].toSorted(), paid.toSorted());
  assert.ok(receiver.received.every((one) => one.isGenuine));
  const sequences = new Set(receiver.received.map((one) => one.body.sequence));
  assert.equal(sequences.size, changes);
  assert.equal(Math.max(...sequences), changes);
  const ids = new Map(receiver.received.map((one) => [one.body.sequence, one.id]));
  assert.ok(receiver.received.every((one) => ids.get(one.body.sequence) === one.id));
  // What a killed worker was sending left an attempt without an outcome.
  const { rows } = await scene.sql.query(
    `select count(*) filter (where outcome is null)::integer as lost, count(*)::integer as tried
     from webhook_attempts where tenant_id = $1`,
    [tenantId],
  );
  console.log(`webhooks: ${changes} events, ${rows[0].tried} attempts, ${rows[0].lost} lost`);
});
