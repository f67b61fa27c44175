// Events reach receivers by signed webhooks, at least once, whatever receivers do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { refuses } from '../support/client.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, hook, newSecret, startSender, until } from '../support/webhooks.ts';

allowLoopback();
const scene = await openScene();
scene.runJobs();

const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

async function place(name: string) {
  const owing = await openOwing(scene, name);
  return owing;
}

test('a receiver gets each change of money once, signed, with the thing as the API shows it', async () => {
  const { client, tenantId, ...owing } = await place('hooks-money');
  const { receiver, key } = await hook(scene, client, [
    ...['bill.posted', 'payment.created', 'payment.reversed', 'credit_note.created'],
  ]);
  const sender = startSender(scene, tenantId);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  const number = await owing.connectOld();
  const bills = await owing.bill({ [number]: 300 });
  const billID = bills[0]?.billID ?? 0;
  const paymentID = await owing.pay({ amount: 100 });
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  const credit = { billID, lines: [{ component: 'fee', amount: 20 }], reason: 'Misread' };
  await client.makeCreditNotes({ creditNotes: [credit] });
  await until('four messages', () => receiver.received.length >= 4);
  const sorted = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
  assert.deepEqual(
    sorted.map(({ body }) => [body.sequence, body.type, body.bulk]),
    [
      [1, 'bill.posted', true],
      [2, 'payment.created', false],
      [3, 'payment.reversed', false],
      [4, 'credit_note.created', false],
    ],
  );
  assert.ok(receiver.received.every((one) => one.isGenuine && one.id === one.body.id));
  const [posted, paid] = sorted;
  assert.equal(posted?.body.workspace, 'hooks-money');
  const { data } = await client.getBills({ billID });
  assert.equal(posted?.body.data.billNumber, data.bills[0]?.billNumber);
  assert.equal(paid?.body.data.amount, 100);
  assert.equal(paid?.body.data.paymentID, paymentID);
  assert.equal(typeof paid?.body.data.ts, 'number');
  // The reference implementation signs in the same way.
  const { headers, body, id } = posted ?? assert.fail();
  const library = new Webhook(`whsec_${key.toString('base64')}`);
  const time = new Date(Number(headers['webhook-timestamp']) * 1_000);
  assert.equal(headers['webhook-signature'], library.sign(id, time, JSON.stringify(body)));
});

test('a filter of types, a pause and a second secret do what they say', async () => {
  const { client, tenantId, ...owing } = await place('hooks-rotate');
  const { receiver, webhookID, key } = await hook(scene, client, ['payment.created']);
  const sender = startSender(scene, tenantId);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  const paymentID = await owing.pay({ amount: 1 });
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await until('the payment', () => receiver.received.length === 1);
  await client.updateWebhook({ data: { webhookID, status: 'Paused' } });
  await owing.pay({ amount: 2 });
  const second = newSecret();
  await client.updateWebhook({ data: { webhookID, secret: second.secret } });
  assert.equal(receiver.received.length, 1);
  await client.updateWebhook({ data: { webhookID, status: 'Active' } });
  await until('the payment of the pause', () => receiver.received.length === 2);
  const [, rotated] = receiver.received;
  assert.equal(rotated?.signatures, 1, 'signed with the old secret, which the receiver has');
  assert.equal(String(rotated?.headers['webhook-signature']).split(' ').length, 2);
  const time = new Date(Number(rotated?.headers['webhook-timestamp']) * 1_000);
  const ofNew = new Webhook(second.secret).sign(
    rotated?.id ?? '',
    time,
    JSON.stringify(rotated?.body),
  );
  assert.ok(String(rotated?.headers['webhook-signature']).split(' ').includes(ofNew));
  await client.updateWebhook({
    data: { webhookID, secret: `whsec_${key.toString('base64')}`, oldSecretHours: 0 },
  });
  await owing.pay({ amount: 3 });
  await until('the third payment', () => receiver.received.length === 3);
  assert.equal(String(receiver.received[2]?.headers['webhook-signature']).split(' ').length, 1);
  assert.deepEqual(
    receiver.received.map((one) => one.body.data.amount),
    [1, 2, 3],
  );
});

test('one bill of a bill run is sent again alone', async () => {
  const { client, tenantId, ...owing } = await place('hooks-item');
  const { receiver, webhookID } = await hook(scene, client, ['bill.posted']);
  const sender = startSender(scene, tenantId);
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  const numbers = [await owing.connectOld(), await owing.connectOld()];
  await owing.bill(Object.fromEntries(numbers.map((number) => [number, 30])));
  await until('both bills', () => receiver.received.length === 2);
  const eventID = receiver.received[0]?.body.eventID ?? 0;
  const again = (item: number) => client.redeliverEvent({ data: { eventID, webhookID, item } });
  await refuses(again(3), 'EVENT_NOT_FOUND');
  await refuses(again(-1), 'INVALID_NUMBER');
  const { message } = await again(2);
  assert.equal(message, '1 message will be sent');
  await until('one of them', () => receiver.received.length === 3);
  const second = receiver.received.find((one) => one.id.endsWith('_2'));
  assert.equal(receiver.received[2]?.id, second?.id);
  assert.deepEqual(receiver.received[2]?.body.data.billID, second?.body.data.billID);
});
