// Workers are killed while they publish and send. Nothing is lost, nothing is sent twice, and
// unknown outcomes are shown instead of guessed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { codeOf, deliveriesOf, schedule } from '../support/delivery.ts';
import { closeGate } from '../support/gate.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });

const servers: MailServer[] = [];
after(async () => {
  for (const server of servers) await server.close();
});

async function openServer(slowMs = 0): Promise<MailServer> {
  const server = await startMailServer({ slowMs });
  servers.push(server);
  return server;
}

async function openTerm(workspace: string, count: number, stage: 'Posted' | 'Published') {
  const client = await scene.workspace(workspace);
  const term = await openPostedTerm(scene, client, mailParties(count));
  if (stage === 'Published') {
    const publisher = scene.runJobs();
    await client.publishBills(schedule(term.termId));
    await until(() => stageIs(term.termId, term.tenantId, 'Published'), 'the term is published');
    await publisher.stop();
  }
  return { client, ...term };
}

async function stageIs(termId: number, tenantId: number, stage: string): Promise<boolean> {
  const { rows } = await scene.sql.query(
    'select stage from terms where tenant_id = $1 and term_id = $2',
    [tenantId, termId],
  );
  return rows[0].stage === stage;
}

test('a worker killed inside publish-bills: another publishes every bill, each once', async () => {
  const { client, termId, tenantId } = await openTerm('killed-publish', 8, 'Posted');
  const gate = await closeGate(scene, 'bill_documents');
  const first = await startWorkerProcess(scene, {});
  await client.publishBills(schedule(termId));
  await gate.reached();
  await first.end('SIGKILL');
  await gate.open();
  assert.ok(await stageIs(termId, tenantId, 'Publishing'));
  const second = await startWorkerProcess(scene, {});
  await until(() => stageIs(termId, tenantId, 'Published'), 'the term is published');
  const { rows } = await scene.sql.query(
    `select count(*)::integer as documents, count(distinct d.bill_id)::integer as bills,
       bool_and(b.status = 'Published') as published
     from bill_documents d join bills b using (tenant_id, bill_id)
     where tenant_id = $1 and error is null`,
    [tenantId],
  );
  assert.deepEqual(rows, [{ documents: 8, bills: 8, published: true }]);
  assert.equal(await codeOf(client.getBillDocument({ billID: 1 })), 'success');
  assert.equal(await second.end('SIGTERM'), 0);
});

test('killed after the server took a mail and before that was noted: uncertain, and not sent again', async () => {
  const server = await openServer();
  const env = { SMTP_URL: server.url, SMTP_CONNECTIONS: '1', WORKER_LANES: '1' };
  const { client, termId, tenantId } = await openTerm('killed-noting', 3, 'Published');
  const gate = await closeGate(scene, 'deliveries', `new.status = 'Sent'`);
  const first = await startWorkerProcess(scene, env);
  await client.distributeBills(schedule(termId));
  await gate.reached();
  assert.equal(server.received.length, 1, 'the server has said 250');
  await first.end('SIGKILL');
  await gate.open();
  const second = await startWorkerProcess(scene, env);
  await until(() => stageIs(termId, tenantId, 'Distributed'), 'the term is distributed');
  assert.deepEqual(
    server.received.map(({ to }) => to[0]),
    ['c1@example.com', 'c2@example.com', 'c3@example.com'],
  );
  const { data } = await client.getDeliveries({ termID: termId, status: 'Uncertain' });
  assert.deepEqual(
    data.deliveries.map(({ to, attempts }) => [to, attempts]),
    [['c1@example.com', 1]],
  );
  // Only an operator has it sent again, as the same mail.
  const deliveryIDs = [data.deliveries[0]?.deliveryID ?? 0];
  await client.resolveDeliveries({ data: { termID: termId, deliveryIDs, resolution: 'Resend' } });
  await until(() => server.received.length === 4, 'it is sent again');
  assert.equal(server.received[3]?.text, server.received[0]?.text);
  await until(async () => {
    const rows = await deliveriesOf(client, termId);
    return rows.every((row) => row.status === 'Sent');
  }, 'all are sent');
  assert.equal(await second.end('SIGTERM'), 0);
});

test('workers killed repeatedly during distribute-bills send no customer two mails', async () => {
  const server = await openServer(15);
  const env = { SMTP_URL: server.url, SMTP_CONNECTIONS: '4', WORKER_LANES: '1' };
  const { client, termId, tenantId } = await openTerm('killed-sending', 40, 'Published');
  await client.distributeBills(schedule(termId));
  for (const already of [8, 20]) {
    const worker = await startWorkerProcess(scene, env);
    await until(() => server.received.length >= already, `${already} mails are sent`);
    await worker.end('SIGKILL');
  }
  const last = await startWorkerProcess(scene, env);
  await until(() => stageIs(termId, tenantId, 'Distributed'), 'the term is distributed');
  const recipients = server.received.map(({ to }) => to[0]);
  assert.equal(new Set(recipients).size, recipients.length, 'no recipient got two mails');
  const rows = await deliveriesOf(client, termId);
  const uncertain = rows.filter((row) => row.status === 'Uncertain');
  assert.ok(uncertain.length <= 2 * 4, `${uncertain.length} are uncertain`);
  const sent = rows.filter((row) => row.status === 'Sent');
  assert.equal(sent.length + uncertain.length, 40);
  const arrived = new Set(recipients);
  assert.ok(
    sent.every((row) => arrived.has(row.to ?? '')),
    'what is said to be sent has arrived',
  );
  assert.equal(await last.end('SIGTERM'), 0);
});

test('a worker that is asked to end leaves nothing uncertain', async () => {
  const server = await openServer(15);
  const env = { SMTP_URL: server.url, SMTP_CONNECTIONS: '4', WORKER_LANES: '1' };
  const { client, termId } = await openTerm('ended-sending', 40, 'Published');
  await client.distributeBills(schedule(termId));
  const first = await startWorkerProcess(scene, env);
  await until(() => server.received.length >= 8, 'some are sent');
  assert.equal(await first.end('SIGTERM'), 0);
  assert.ok(server.received.length < 40, 'it did not send all of them first');
  const second = await startWorkerProcess(scene, env);
  await until(() => server.received.length >= 40, 'all are sent');
  await until(async () => {
    const rows = await deliveriesOf(client, termId);
    return rows.length === 40 && rows.every((row) => row.status === 'Sent' && row.attempts === 1);
  }, 'all are noted as sent, each at the first attempt');
  assert.equal(server.received.length, 40);
  const { jobs } = (await client.getJobs({ termID: termId })).data;
  const asked = jobs.find((job) => job.operation === 'distribute-bills');
  const [, sent, left] = /^(\d+) sent, (\d+) to be tried again$/.exec(asked?.message ?? '') ?? [];
  assert.equal(Number(sent) + Number(left), 40, asked?.message ?? 'no message');
  assert.equal(await second.end('SIGTERM'), 0);
});
