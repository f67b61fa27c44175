// Receivers in trouble: retries, dead messages, redelivery, and neighbours that do not notice.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { partsOf, retrySeconds } from '../../src/domain/events/messages.ts';
import { chooseWork } from '../../src/worker/webhook-sender.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, hook, newSecret, startSender, until } from '../support/webhooks.ts';

allowLoopback();
const scene = await openScene();
scene.runJobs();

const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

const soon = { retryAfter: (failures: number) => (failures < 4 ? 0.05 : null), timeoutMs: 1_000 };

async function statusesOf({ client }: Owing, webhookID: number) {
  const { data } = await client.getWebhookMessages({ webhookID });
  return data.messages.map((one) => one.status).toReversed();
}

test('pauses grow from seconds to hours, and the eighth failure is the last', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => retrySeconds(failures, 0));
  assert.deepEqual(pauses, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, null]);
  const late = retrySeconds(2, 0.999) ?? 0;
  assert.ok(late > 300 && late <= 330);
});

test('a message that is never accepted is dead, and is sent again on request', async () => {
  const place = await openOwing(scene, 'hooks-dead');
  const { client, tenantId } = place;
  const { receiver, webhookID } = await hook(scene, client, ['payment.created']);
  const sender = startSender(scene, tenantId, soon);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  receiver.answer = () => ({ status: 503 });
  await place.pay({ amount: 1 });
  await place.pay({ amount: 2 });
  const areDead = async () => (await statusesOf(place, webhookID)).join() === 'Dead,Dead';
  await until('both are dead', areDead);
  assert.equal(receiver.received.length, 8);
  const { data } = await client.getWebhookMessages({ webhookID, status: 'Dead' });
  const [newest] = data.messages;
  assert.deepEqual(
    newest?.tried.map((one) => [one.attempt, one.outcome, one.httpStatus, one.detail]),
    [4, 3, 2, 1].map((attempt) => [attempt, 'Failed', 503, 'HTTP status 503']),
  );
  const listed = (await client.getWebhooks({})).data.webhooks[0];
  assert.deepEqual([listed?.dead, listed?.waiting], [2, 0]);
  receiver.answer = () => ({ status: 200 });
  const eventID = newest?.eventID ?? 0;
  await client.redeliverEvent({ data: { eventID, webhookID } });
  await until('one is delivered', async () => {
    return (await statusesOf(place, webhookID)).join() === 'Dead,Delivered';
  });
  await client.redeliverEvent({ data: { fromEventID: 1, toEventID: eventID } });
  await until('both are delivered', async () => {
    return (await statusesOf(place, webhookID)).join() === 'Delivered,Delivered';
  });
  const ids = new Set(receiver.received.map((one) => one.id));
  assert.equal(ids.size, 2, 'a message keeps its id');
});

test('a webhook made later gets earlier events on request, and only those of its types', async () => {
  const place = await openOwing(scene, 'hooks-replay');
  const { client, tenantId } = place;
  const paymentID = await place.pay({ amount: 1 });
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  const { receiver, webhookID } = await hook(scene, client, ['payment.reversed']);
  const sender = startSender(scene, tenantId, soon);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  await place.pay({ amount: 2 });
  await setTimeout(300);
  assert.equal(receiver.received.length, 0);
  await client.redeliverEvent({ data: { fromEventID: 1, toEventID: 100, webhookID } });
  await until('the reversal', () => receiver.received.length === 1);
  assert.equal(receiver.received[0]?.body.type, 'payment.reversed');
});

test('a receiver that answers 410 is sent nothing more until it is switched on again', async () => {
  const place = await openOwing(scene, 'hooks-gone');
  const { client, tenantId } = place;
  const { receiver, webhookID } = await hook(scene, client);
  const sender = startSender(scene, tenantId, soon);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  receiver.answer = () => ({ status: 410 });
  await place.pay({ amount: 1 });
  const status = async () => (await client.getWebhooks({})).data.webhooks[0];
  await until('it is disabled', async () => (await status())?.status === 'Disabled');
  assert.equal((await status())?.reason, 'The receiver answered 410 Gone');
  const count = receiver.received.length;
  await place.pay({ amount: 2 });
  await setTimeout(300);
  assert.equal(receiver.received.length, count);
  receiver.answer = () => ({ status: 200 });
  await client.updateWebhook({ data: { webhookID, status: 'Active' } });
  await until('both payments', () => {
    return new Set(receiver.received.map((one) => one.body.data.paymentID)).size === 2;
  });
});

test('a receiver that never answers delays neither its neighbour nor another workspace', async () => {
  const place = await openOwing(scene, 'hooks-slow');
  const other = await openOwing(scene, 'hooks-beside');
  const slow = await hook(scene, place.client);
  const quick = await hook(scene, place.client);
  const beside = await hook(scene, other.client);
  const senders = [place, other].map((one) => startSender(scene, one.tenantId));
  closing.push(...senders.map((one) => () => one.stop()));
  closing.push(
    ...[slow, quick, beside].map(
      ({ receiver }) =>
        () =>
          receiver.close(),
    ),
  );
  slow.receiver.answer = () => new Promise(() => {});
  for (let count = 0; count < 30; count += 1) await place.pay({ amount: 1 });
  await other.pay({ amount: 1 });
  const started = performance.now();
  await until('the neighbours', () => {
    return quick.receiver.received.length === 30 && beside.receiver.received.length === 1;
  });
  assert.ok(performance.now() - started < 10_000);
  assert.ok(slow.receiver.received.length <= 20, 'as many as one batch has');
  slow.receiver.answer = () => ({ status: 200 });
  await slow.receiver.close();
});

test('a message that cannot be made keeps no other from being sent', async () => {
  const place = await openOwing(scene, 'hooks-poison');
  const { client, tenantId } = place;
  const { receiver, webhookID } = await hook(scene, client);
  // A party that is not there any more, and an id that no statement takes.
  await scene.sql.query(
    `insert into events (tenant_id, event_id, type, data, at)
     values ($1, 900001, 'party.updated', '{"partyNumber": 999999}', now()),
       ($1, 900002, 'term.created', '{"termID": 1e30}', now())`,
    [tenantId],
  );
  await place.pay({ amount: 1 });
  const sender = startSender(scene, tenantId, soon);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  await until('all ended', async () => {
    return (await statusesOf(place, webhookID)).join() === 'Delivered,Dead,Delivered';
  });
  const [gone, paid] = receiver.received;
  assert.deepEqual([gone?.body.type, gone?.body.data.partyNumber], ['party.updated', 999_999]);
  assert.equal(paid?.body.type, 'payment.created');
  const { data } = await client.getWebhookMessages({ webhookID, status: 'Dead' });
  assert.equal(data.messages[0]?.tried[0]?.detail, 'The message could not be made');
});

test('a secret that another key has encrypted fails attempts that say so', async () => {
  const place = await openOwing(scene, 'hooks-key');
  const { client, tenantId } = place;
  const { receiver } = await hook(scene, client);
  await scene.sql.query('update webhooks set secret = $2 where tenant_id = $1', [
    tenantId,
    Buffer.alloc(60),
  ]);
  await place.pay({ amount: 1 });
  const sender = startSender(scene, tenantId, soon);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  const listed = async () => (await client.getWebhooks({})).data.webhooks[0];
  await until('an error', async () => Boolean((await listed())?.lastError));
  assert.match((await listed())?.lastError ?? '', /another key .*\(SECRET_KEY_FILE\)/);
  assert.equal(receiver.received.length, 0);
});

test('workspaces take turns, and webhooks that fail leave places to others', () => {
  const many = Array.from({ length: 50 }, (_, id) => ({
    tenant_id: 1,
    webhook_id: id,
    failures: 0,
  }));
  const few = [2, 3].map((tenantId) => ({ tenant_id: tenantId, webhook_id: 1, failures: 0 }));
  const chosen = chooseWork([...many, ...few], []);
  assert.deepEqual(
    [1, 2, 3].map((id) => chosen.filter((one) => one.tenant_id === id).length),
    [5, 1, 1],
  );
  assert.equal(chooseWork(many, chosen).length, 0, 'its share is in use');
  const failing = Array.from({ length: 100 }, (_, id) => {
    return { tenant_id: 10 + id, webhook_id: 1, failures: 9 };
  });
  assert.equal(chooseWork(failing, []).length, 30);
  assert.equal(chooseWork([...failing, ...few], chooseWork(failing, [])).length, 2);
});

test('a chunk of a bill run is one event, and a message for each of its bills', () => {
  const data = { termID: 7, billIDs: [11, 12], count: 2 };
  assert.deepEqual(partsOf({ data }), [
    { item: 1, data: { termID: 7, billID: 11 } },
    { item: 2, data: { termID: 7, billID: 12 } },
  ]);
  assert.deepEqual(partsOf({ data: { paymentID: 3 } }), [{ item: 0, data: { paymentID: 3 } }]);
});

test('wrong webhooks are refused, and nothing of a secret is ever shown', async () => {
  const place = await openOwing(scene, 'hooks-wrong');
  const { client } = place;
  const { secret } = newSecret();
  const url = 'http://127.0.0.1:9/';
  const make = (wanted: object) => client.makeWebhooks({ webhooks: [{ url, secret, ...wanted }] });
  await refuses(make({ url: 'https://169.254.169.254/' }), 'TARGET_REFUSED');
  await refuses(make({ url: 'https://10.0.0.1/' }), 'TARGET_REFUSED');
  await refuses(make({ url: 'https://user:pass@example.com/' }), 'TARGET_REFUSED');
  await refuses(make({ secret: 'whsec_c2hvcnQ=' }), 'INVALID_FORMAT');
  await refuses(make({ secret: 'short' }), 'INVALID_FORMAT');
  await refuses(make({ types: ['nothing.happened'] }), 'INVALID_ENUM');
  await refuses(client.makeWebhooks({ url }), 'REQUIRED_FIELD');
  await refuses(client.updateWebhook({ data: { webhookID: 9 } }), 'WEBHOOK_NOT_FOUND');
  await refuses(client.redeliverEvent({ data: { eventID: 999_999 } }), 'EVENT_NOT_FOUND');
  await refuses(client.redeliverEvent({ data: { fromEventID: 1 } }), 'REQUIRED_FIELD');
  await make({ description: 'ERP' });
  await client.updateWebhook({ data: { webhookID: 1, secret: newSecret().secret } });
  const stale = { webhookID: 1, types: [], ts: 1 };
  await refuses(client.updateWebhook({ data: stale }), 'STALE_OBJECT');
  const shown = JSON.stringify([
    (await client.getWebhooks({})).data,
    (await client.getAudit({})).data,
    (await client.getWebhookMessages({})).data,
  ]);
  assert.ok(shown.includes('ERP') && !shown.includes(secret.slice(6)) && !shown.includes('whsec_'));
  const { rows } = await scene.sql.query('select secret from webhooks where tenant_id = $1', [
    place.tenantId,
  ]);
  const stored = (rows[0].secret as Buffer).toString('base64');
  assert.ok(!stored.includes(secret.slice(6)));
  // Another workspace neither sees nor changes it.
  const other = await openOwing(scene, 'hooks-foreign');
  assert.deepEqual((await other.client.getWebhooks({})).data.webhooks, []);
  await refuses(other.client.updateWebhook({ data: { webhookID: 1 } }), 'WEBHOOK_NOT_FOUND');
});
