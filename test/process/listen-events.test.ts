// billwright listen: events on a developer's machine, verified there with the library of the
// convention.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { listenCommand } from '../../src/commands/listen-events/command.ts';
import { UsageError } from '../../src/commands/usage.ts';
import { readConfig } from '../../src/config.ts';
import { openOwing } from '../support/owing.ts';
import { finish, openPlace, type Program } from '../support/program.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { until } from '../support/webhooks.ts';

const scene = await openScene();
const place = await openPlace();

type Verified = { id: string; type: string; sequence: number; data: Record<string, unknown> };

/** Keeps what the library accepts; anything else is answered with 401. */
async function openProgram(secret: () => string, port = 0) {
  const verified: Verified[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      const text = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      verified.push(new Webhook(secret()).verify(text, headers) as Verified);
      response.writeHead(200).end('stored');
    } catch {
      response.writeHead(401).end('forged');
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  after(close);
  return { verified, port: (server.address() as AddressInfo).port, close };
}

function urlOf(workspace: string): string {
  return `http://${workspace}.localhost:${new URL(scene.baseUrl).port}`;
}

function start(workspace: string, more: string[]): Program {
  const login = ['--user', `admin@${workspace}.example`, '--url', urlOf(workspace)];
  const args = ['listen', '--workspace', workspace, ...login, ...more];
  return place.run(args, { BILLWRIGHT_PASSWORD: adminPassword });
}

test('listen forwards events signed, waits for a receiver that is down, and ends on Ctrl-C', async () => {
  const owing = await openOwing(scene, 'listen-events');
  await owing.pay({ amount: 1 });
  // Events are shown when no earlier transaction runs, which another test may have open.
  await until('the first payment', async () => {
    const { events } = (await owing.client.getEvents({ type: 'payment.created' })).data;
    return events.length === 1;
  });
  let secret = '';
  const first = await openProgram(() => secret);
  const listening = start('listen-events', ['--forward', `http://127.0.0.1:${first.port}/hooks`]);
  await until('the secret', () => /Secret: whsec_\S+/.test(listening.output()));
  secret = /Secret: (whsec_\S+)/.exec(listening.output())?.[1] ?? '';
  const paymentID = await owing.pay({ amount: 25 });
  await until('a message', () => first.verified.length === 1);
  const [paid] = first.verified;
  assert.deepEqual([paid?.type, paid?.sequence], ['payment.created', 1]);
  assert.deepEqual([paid?.data.paymentID, paid?.data.amount], [paymentID, 25]);
  assert.equal(typeof paid?.data.ts, 'number');
  await until('the answer', () => /-> 200 in \d+ ms: stored/.test(listening.output()));

  await first.close();
  await owing.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await until('the wait', () => /does not answer \(ECONNREFUSED\)/.test(listening.output()));
  const second = await openProgram(() => secret, first.port);
  await until('the reversal', () => second.verified.length === 1);
  assert.deepEqual(
    [second.verified[0]?.type, second.verified[0]?.sequence],
    ['payment.reversed', 2],
  );

  await until('the line', () => listening.output().split('-> 200').length === 3);
  assert.deepEqual(await listening.end('SIGINT'), { code: 0, signal: null });
  assert.match(listening.output(), /Ended: 2 events, 2 messages delivered\./);
  await second.close();
});

test('listen prints each event since a given one, of the types that were asked for', async () => {
  const owing = await openOwing(scene, 'listen-since');
  const paymentID = await owing.pay({ amount: 1 });
  await owing.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await owing.pay({ amount: 2 });
  const paid = async () => (await owing.client.getEvents({ type: 'payment.created' })).data.events;
  await until('both payments', async () => (await paid()).length === 2);
  const events = await paid();
  const since = String(events[0]?.eventID);
  const listening = start('listen-since', ['--since', since, '--types', 'payment.created']);
  await until('the second payment', () => listening.output().includes('payment.created'));
  assert.deepEqual(await listening.end('SIGINT'), { code: 0, signal: null });
  assert.match(listening.output(), new RegExp(`event ${events[1]?.eventID}  paymentID \\d+\n`));
  assert.equal(listening.output().split('payment.').length, 2);
});

test('listen says what is wrong with its arguments and its login', async () => {
  const config = readConfig({});
  const base = ['--workspace', 'listen-since', '--user', 'admin', '--password', 'x'];
  const wrong = new Map([
    ['--workspace is needed', ['--user', 'admin']],
    ['Give --user or --client', ['--workspace', 'demo']],
    ['--password is needed', ['--workspace', 'demo', '--client', 'erp']],
    ["no type of event 'bill.lost'", [...base, '--types', 'bill.lost']],
    ["--forward 'here' is not a URL", [...base, '--forward', 'here']],
    ['--secret has at least 24 bytes', [...base, '--secret', 'whsec_AAAA']],
    ['--since is the id of an event', [...base, '--since', 'yesterday']],
  ]);
  for (const [sentence, args] of wrong) {
    await assert.rejects(listenCommand(config, args), (error: Error) => {
      assert.ok(error instanceof UsageError && error.message.includes(sentence), error.message);
      return true;
    });
  }
  const refused = await finish(start('listen-since', ['--password', 'not the password']));
  assert.equal(refused.code, 1);
  assert.match(refused.output, /LOGIN_FAILED/);
});
