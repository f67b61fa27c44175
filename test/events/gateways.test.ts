// Notices of payment gateways: signed, taken once, and booked as lines of a bank are.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { openBank } from '../support/bank.ts';
import { refuses } from '../support/client.ts';
import type { Owing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { newSecret } from '../support/webhooks.ts';

const scene = await openScene();
scene.runJobs();

type Sent = { id?: string; at?: number; key: Buffer; path: string };

/** A gateway that speaks the convention, written with the crypto of Node.js alone. */
async function notify(body: string, { id = 'msg_1', at, key, path }: Sent) {
  const timestamp = String(Math.floor((at ?? Date.now()) / 1_000));
  const text = `${id}.${timestamp}.${body}`;
  const signature = createHmac('sha256', key).update(text).digest('base64');
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const response = await fetch(`${scene.baseUrl}${path}`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as { status: string } };
}

function paid(data: object, type = 'payment.succeeded'): string {
  return JSON.stringify({ type, data: { currency: 'USD', ...data } });
}

async function open(name: string) {
  const place = await openBank(scene, name);
  const { client } = place;
  const { secret, key } = newSecret();
  const bankAccountID = 1;
  await client.makeGateways({ gateways: [{ adapter: 'standard', bankAccountID, secret }] });
  const currency = (await client.getSettings({})).data.settings.currency;
  return { place, key, path: `/gateways/${name}/standard`, bankAccountID, secret, currency };
}

async function linesOf({ client }: Owing) {
  return (await client.getBankLines({})).data.lines;
}

test('a notice that names its payer becomes one payment, however often it comes', async () => {
  const { place, key, path, currency } = await open('gateway-paid');
  const reference = String(place.party);
  const number = await place.connectOld();
  const body = paid({ id: 'pay_1', amount: '120.50', currency, reference: number });
  const answers = await Promise.all(
    [1, 2, 3].map((turn) => notify(body, { id: `m${turn}`, key, path })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const again = await notify(body, { id: 'm4', key, path });
  assert.deepEqual([again.status, again.body.status], [200, 'known']);
  const { payments } = (await place.client.getPayments({})).data;
  assert.deepEqual(
    payments.map((one) => [one.amount, String(one.partyNumber)]),
    [[120.5, reference]],
  );
  assert.equal((await linesOf(place)).length, 1);
});

test('money of an unknown payer waits in the work list, and a clerk decides', async () => {
  const { place, key, path, currency } = await open('gateway-unknown');
  const body = paid({ id: 'pay_9', amount: 40, currency, reference: 'nothing known' });
  assert.equal((await notify(body, { key, path })).status, 200);
  const [line] = await linesOf(place);
  assert.equal(line?.status, 'Unmatched');
  const trial = (await place.client.getTrialBalance({})).data;
  const suspense = trial.accounts.find((one) => one.accountCode === 'SUSPENSE');
  assert.equal(suspense?.credit, 40);
  await place.client.matchBankLine({
    data: { bankLineID: line?.bankLineID ?? 0, payer: { partyNumber: place.party } },
  });
  assert.equal((await place.client.getPayments({})).data.payments.length, 1);
  const back = paid({ id: 'pay_9', amount: 40, currency }, 'payment.reversed');
  assert.equal((await notify(back, { key, path })).status, 200);
  const reversed = (await linesOf(place)).find((one) => one.amount === -40);
  assert.equal(reversed?.status, 'Unmatched', 'a clerk reverses the payment');
});

test('forged, late, foreign and unreadable notices store nothing', async () => {
  const { place, key, path, currency } = await open('gateway-bad');
  const other = await open('gateway-other');
  const body = paid({ id: 'pay_1', amount: '10', currency });
  const status = async (text: string, sent: Sent) => (await notify(text, sent)).status;
  assert.equal(await status(body, { key: other.key, path }), 401);
  assert.equal(await status(body, { key, path, at: Date.now() - 600_000 }), 401);
  assert.equal(await status(paid({ id: 'p', amount: '10', currency: 'XTS' }), { key, path }), 422);
  assert.equal(await status(paid({ id: 'p', amount: '-1', currency }), { key, path }), 422);
  assert.equal(await status(paid({ id: 'p', amount: '1.23456', currency }), { key, path }), 422);
  assert.equal(await status(paid({ amount: '1', currency }), { key, path }), 400);
  assert.equal(await status('not json', { key, path }), 400);
  assert.equal(await status(paid({ id: 'p' }, 'customer.created'), { key, path }), 200);
  assert.equal(await status(' '.repeat(70_000), { key, path }), 413);
  assert.deepEqual(await linesOf(place), []);
  const unknown = await notify(body, { key, path: '/gateways/gateway-bad/nothing' });
  const elsewhere = await notify(body, { key, path: '/gateways/no-such-place/standard' });
  const anyPath = await notify(body, { key, path: '/nowhere' });
  for (const one of [unknown, elsewhere]) {
    assert.deepEqual([one.status, one.body.status], [anyPath.status, anyPath.body.status]);
  }
  await place.client.updateGateway({ data: { adapter: 'standard', status: 'Paused' } });
  assert.equal(await status(body, { key, path }), 404);
  const fresh = newSecret();
  const change = { adapter: 'standard', status: 'Active', secret: fresh.secret } as const;
  await place.client.updateGateway({ data: { ...change, oldSecretHours: 0 } });
  assert.equal(await status(body, { key, path }), 401);
  assert.equal(await status(body, { key: fresh.key, path }), 200);
  const gateways = [{ adapter: 'standard' as const, bankAccountID: 1, secret: fresh.secret }];
  await refuses(place.client.makeGateways({ gateways }), 'DUPLICATE');
  const listed = JSON.stringify((await place.client.getGateways({})).data);
  assert.ok(!listed.includes('whsec_') && listed.includes('/gateways/gateway-bad/standard'));
});

test('notices signed with the secret before are accepted until it ends', async () => {
  const { place, key, path, currency } = await open('gateway-rotate');
  const status = async (id: string, signer: Buffer) =>
    (await notify(paid({ id, amount: '10', currency }), { key: signer, path })).status;
  const second = newSecret();
  const change = { adapter: 'standard', secret: second.secret } as const;
  await place.client.updateGateway({ data: { ...change, oldSecretHours: 2 } });
  const until = async () =>
    (await place.client.getGateways({})).data.gateways[0]?.oldSecretUntil ?? null;
  assert.ok(await until());
  assert.equal(await status('pay_old', key), 200);
  assert.equal(await status('pay_new', second.key), 200);
  assert.equal(await status('pay_other', newSecret().key), 401);
  await refuses(
    place.client.updateGateway({ data: { ...change, oldSecretHours: 169 } }),
    'INVALID_NUMBER',
  );
  // A third secret leaves two: the first one ends.
  const third = newSecret();
  await place.client.updateGateway({ data: { ...change, secret: third.secret } });
  assert.deepEqual(
    [await status('a', key), await status('b', second.key), await status('c', third.key)],
    [401, 200, 200],
  );
  await place.client.updateGateway({ data: { adapter: 'standard', status: 'Active' } });
  assert.ok(await until(), 'a change of something else keeps both');
  assert.equal((await linesOf(place)).length, 4);
});

test('a secret that another key has encrypted asks the gateway to come again', async () => {
  const { place, key, path, currency } = await open('gateway-key');
  await scene.sql.query('update gateways set secret = $2 where tenant_id = $1', [
    place.tenantId,
    Buffer.alloc(60),
  ]);
  const body = paid({ id: 'pay_1', amount: '1', currency });
  assert.equal((await notify(body, { key, path })).status, 503);
});
