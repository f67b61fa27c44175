// A backup of yesterday is restored, after the old installation went on: nothing is sent before an
// operator releases it, no mail is sent twice by itself, receivers can tell new events from old
// ones, and the operator sees from which numbers on it is repeated.
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Client, createClient } from '../../sdk/client.ts';
import { assertChecks, type Place } from '../support/checks.ts';
import { ask, clientOf, type FullTerm, jobEnds, makeFullTerm } from '../support/full-term.ts';
import { startMailServer } from '../support/mail-server.ts';
import { finish, openPlace, takePort } from '../support/program.ts';
import { openReceiver } from '../support/receiver.ts';
import { adminPassword } from '../support/scene.ts';
import { openSupervisor } from '../support/supervisor.ts';
import { newSecret, until } from '../support/webhooks.ts';

const mailPort = await takePort();
await mailPort.free();
const env = {
  // No mail server yet: mails wait.
  SMTP_URL: `smtp://127.0.0.1:${mailPort.port}`,
  WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1',
  WEBHOOK_ALLOW_HTTP: '1',
};
const supervisor = await openSupervisor(env);
const { place, rows } = supervisor;
const folder = await mkdtemp(join(tmpdir(), 'billwright-yesterday-'));
const programs = await openPlace('file');
const there = programs.ready('restored');
const { secret, key } = newSecret();
const receiver = await openReceiver(key, Date.now);
after(async () => {
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});
const name = 'yesterday';
const bills = 5;

function command(args: readonly string[]) {
  return finish(programs.run(args, { ...env, BILLWRIGHT_DATA: there }));
}

function pay(client: Client, partyNumber: number, reference: string) {
  const payment = { reference, partyNumber, amount: 5, paymentMethod: 'Cash' as const };
  return client.makePayments({ payments: [payment] }, { idempotencyKey: reference });
}

const paymentOf = (answer: { headers: Headers }) => Number(answer.headers.get('x-resource-id'));

async function messages(count: number) {
  await until(`${count} messages`, () => receiver.received.length >= count);
  return receiver.received.map(({ body }) => body);
}

async function loggedIn(baseUrl: string, term: FullTerm): Promise<Client> {
  const client = createClient({ baseUrl, headers: { 'X-Workspace': name } });
  const login = { username: `admin@${name}.example`, password: adminPassword };
  return clientOf(baseUrl, { ...term, token: (await client.login(login)).data.accessToken });
}

test('after a restore of yesterday nothing is sent twice, and nothing new looks like something old', async () => {
  const term = await makeFullTerm(place, supervisor.baseUrl(), name, bills);
  const client = clientOf(supervisor.baseUrl(), term);
  for (const step of ['generate', 'post', 'publish'] as const) {
    await jobEnds(rows, term, await ask(client, step));
  }
  await jobEnds(rows, term, await ask(client, 'distribute'));
  const waiting = `select status, count(*)::integer as count from deliveries
    where tenant_id = $1 and channel = 'Email' group by status`;
  assert.deepEqual(await rows(waiting, [term.tenantId]), [{ status: 'Queued', count: bills }]);
  const types = ['payment.created' as const];
  await client.makeWebhooks({ webhooks: [{ url: receiver.url, secret, types }] });
  const [{ party_number: party }] = await rows(
    'select party_number::integer from parties where tenant_id = $1 order by party_id limit 1',
    [term.tenantId],
  );
  await pay(client, party, 'before');
  const [before] = await messages(1);
  const file = join(folder, 'yesterday.backup');
  const backup = await supervisor.command(['backup', file]);
  assert.equal(backup.code, 0, backup.output);
  assert.match(backup.output, /The key of webhooks is not in it: keep a copy of .*secret\.key/);
  // The old installation goes on.
  const lost = paymentOf(await pay(client, party, 'after'));
  const [, told] = await messages(2);
  assert.deepEqual([told?.data.paymentID, told?.sequence], [lost, 2]);

  const { output, code } = await command(['restore', file, '--suspend']);
  assert.equal(code, 0, output);
  assert.match(output, /Secrets of webhooks were encrypted with another key: copy the file/);
  assert.match(output, /^Last numbers of yesterday; what was numbered after 20\S+ is not in the /m);
  assert.match(output, new RegExp(`^ {2}bills \\S+ {2}${bills}$`, 'm'));
  assert.match(output, /Mails that waited are Uncertain: they are sent only if an operator asks/);
  copyFileSync(join(supervisor.dataFolder, 'secret.key'), join(there, 'secret.key'));

  const mails = await startMailServer({ port: mailPort.port });
  after(() => mails.close());
  const program = programs.run(['start'], { ...env, BILLWRIGHT_DATA: there });
  const baseUrl = await program.ready();
  await sleep(3_000);
  assert.deepEqual([mails.received.length, receiver.received.length], [0, 2]);
  const resumed = await command(['workspace', 'resume', name]);
  assert.equal(resumed.code, 0, resumed.output);
  const again = await loggedIn(baseUrl, term);
  // The client sends the call of today again: it is not known here, and done.
  const repeated = paymentOf(await pay(again, party, 'after'));
  const [, , renewed] = await messages(3);
  assert.equal(renewed?.data.paymentID, repeated);
  assert.equal(new Set([before?.id, told?.id, renewed?.id]).size, 3);
  assert.ok(Number(renewed?.eventID) > Number(told?.eventID) + 1_000_000);
  assert.ok(Number(renewed?.sequence) > 1_000_000);
  await sleep(3_000);
  assert.equal(mails.received.length, 0);
  const socket = { host: join(there, 'postgres', 'socket'), user: 'postgres' };
  const own = { ...socket, port: 5432, database: 'billwright' };
  const reader = new pg.Client(own);
  await reader.connect();
  const found = await reader.query(waiting, [term.tenantId]);
  await reader.end();
  assert.deepEqual(found.rows, [{ status: 'Uncertain', count: bills }]);
  const moved: Place = {
    cluster: { owner: own, api: own, superuser: own },
    databaseName: 'billwright',
  };
  await assertChecks(moved, term.tenantId);
  assert.equal((await program.end('SIGTERM')).code, 0);
});
