// What a day brings to subscriptions by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { book, settling } from '../../src/domain/ledger/book.ts';
import { listOpenItems } from '../../src/domain/ledger/items-store.ts';
import { settle } from '../../src/domain/ledger/settle.ts';
import { refuses } from '../support/client.ts';
import { asWorker, doDailyWork } from '../support/daily-work.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('days', { sandbox: true });
const tenantId = await scene.enter(admin);

let today = Temporal.PlainDate.from('2030-01-01');

/** Moves the clock of the sandbox to noon of a day and does what is due by then. */
async function goTo(date: string): Promise<void> {
  today = Temporal.PlainDate.from(date);
  await admin.moveClock({ data: { to: `${date}T12:00:00` } });
  await doDailyWork(scene, tenantId);
}

function day(offset: number, separator = '/'): string {
  return today.add({ days: offset }).toString().split('-').reverse().join(separator);
}

await goTo('2030-01-01');
const offer = await newOffer(admin);
const users = [{ partyNumber: await newParty(admin) }];

async function statusOf(connectionNumber: string) {
  return (await shown(admin, connectionNumber)).status;
}

test('a subscription that is dated ahead is served on its day, not before', async () => {
  const number = await subscribe(admin, { ...offer, users, connectionDate: day(3, '') });
  const before = await shown(admin, number);
  await goTo('2030-01-03');
  assert.equal(await statusOf(number), 'Pending');
  await goTo('2030-01-04');
  const one = await shown(admin, number);
  assert.deepEqual(
    [one.status, one.connectionDate, one.billedThrough],
    ['Active', '04012030', '03012030'],
  );
  assert.ok((one.ts ?? 0) > (before.ts ?? 0));
  const { data } = await admin.getAudit({ subject: 'subscription', subjectID: number });
  const entry = data.entries.find(({ operation }) => operation.includes('daily job'));
  assert.deepEqual(
    [entry?.actor, entry?.actorType, entry?.before, entry?.after],
    ['daily job', 'System', { status: 'Pending' }, { status: 'Active' }],
  );
  // Whoever changes something, the trail tells the machine's time, wherever the sandbox's is.
  const made = data.entries.at(-1);
  assert.equal(entry?.at.slice(0, 4), made?.at.slice(0, 4));
});

test('days that were missed are caught up, each state from its own day on', async () => {
  const number = await subscribe(admin, { ...offer, users, connectionDate: day(2, '') });
  const cut = { connectionNumber: number, effectiveDate: day(5), reason: 'Season' };
  await admin.disconnectConnection({ data: cut });
  await admin.reconnectConnection({ data: { connectionNumber: number, effectiveDate: day(8) } });
  await goTo(today.add({ days: 6 }).toString());
  assert.equal(await statusOf(number), 'Disconnected');
  await goTo(today.add({ days: 10 }).toString());
  const one = await shown(admin, number);
  assert.equal(one.status, 'Active');
  assert.deepEqual(
    one.statusHistory?.map(({ status, fromDate }) => [status, fromDate]),
    [
      ['Pending', day(-16)],
      ['Active', day(-14)],
      ['Disconnected', day(-11)],
      ['Active', day(-8)],
    ],
  );
});

async function pay(connectionNumber: string, amount: number): Promise<void> {
  const { id, partyID } = await shown(admin, connectionNumber);
  const post = async (tx: Tx) => {
    const subscriptionId = id ?? 0;
    const items = await listOpenItems(tx, tenantId, { partyId: partyID ?? 0, subscriptionId });
    const paid = settle(items, amount, { method: 'Chronology', subscriptionId });
    const booking = {
      source: 'Payment' as const,
      sourceId: 1,
      businessUnitId: 1,
      postingDate: today,
      description: 'Paid',
      entries: paid.map((one) =>
        settling(one.item, { kind: 'Payment', effect: 'paid', amount: one.amount }),
      ),
      against: [{ accountId: 1, amount }],
    };
    await book(tx, tenantId, [booking], { at: scene.clock.now(), by: 'test' });
  };
  await asWorker(scene, (worker) => tenantTransact(worker, tenantId, post));
}

test('a subscription that waits for papers or a deposit is active the day after they are there', async () => {
  const strict = await newOffer(admin, {
    requiredDocs: ['Deed'],
    requireDeposit: 1,
    securityDeposit: 50,
  });
  const number = await subscribe(admin, { ...strict, users });
  const next = () => goTo(today.add({ days: 1 }).toString());
  await next();
  assert.equal(await statusOf(number), 'Pending');
  await admin.updateConnection({ data: { connectionNumber: number, documents: ['Deed'] } });
  await next();
  assert.equal(await statusOf(number), 'Pending', 'the deposit is not paid');
  await pay(number, 5_000);
  assert.equal(await statusOf(number), 'Pending');
  await next();
  const one = await shown(admin, number);
  assert.deepEqual(
    [one.status, one.connectionDate, one.billedThrough, one.tariffHistory?.[0]?.fromDate],
    ['Active', day(0, ''), day(-1, ''), day(0)],
  );
});

test('a party with a future-dated activation is not archived', async () => {
  const partyNumber = await newParty(admin);
  const archive = () => admin.updateUser({ user: { partyNumber, archiveStatus: 1 } });
  const number = await subscribe(admin, {
    ...offer,
    users: [{ partyNumber }],
    connectionDate: day(5, ''),
  });
  const refusal = await refuses(archive(), 'PARTY_HAS_ACTIVE_SUBSCRIPTIONS', { statusCode: 422 });
  assert.match(refusal.error.message, /1 active subscription, with those that begin later/);
  await goTo(today.add({ days: 5 }).toString());
  assert.equal(await statusOf(number), 'Active');
  const change = (effectiveDate: string) => ({ data: { connectionNumber: number, effectiveDate } });
  await admin.disconnectConnection({
    data: { ...change(day(0)).data, kind: 'CustomerRequest', reason: 'Away' },
  });
  await admin.reconnectConnection(change(day(4)));
  await refuses(archive(), 'PARTY_HAS_ACTIVE_SUBSCRIPTIONS');
});

test('the papers of an archived party begin no service until it is restored', async () => {
  const strict = await newOffer(admin, { requiredDocs: ['Deed'] });
  const partyNumber = await newParty(admin);
  const number = await subscribe(admin, { ...strict, users: [{ partyNumber }] });
  await admin.updateConnection({ data: { connectionNumber: number, documents: ['Deed'] } });
  await admin.updateUser({ user: { partyNumber, archiveStatus: 1 } });
  const next = () => goTo(today.add({ days: 1 }).toString());
  await next();
  assert.equal(await statusOf(number), 'Pending');
  await admin.updateUser({ user: { partyNumber, archiveStatus: 0 } });
  await next();
  const one = await shown(admin, number);
  assert.deepEqual([one.status, one.connectionDate], ['Active', day(0, '')]);
});

test('a permanently disconnected subscription is closed after all is billed and settled', async () => {
  const accounts = [{ title: 'Receivable' as const, balance: 20 }];
  const billedThrough = day(-1, '');
  const connection = { ...offer, users, connectionDate: day(-50, ''), billedThrough, accounts };
  const number = await subscribe(admin, connection, { batchUpload: true });
  const data = { connectionNumber: number, effectiveDate: day(0) };
  await admin.disconnectConnection({ data: { ...data, kind: 'Permanent' } });
  await goTo(today.add({ days: 1 }).toString());
  assert.equal(await statusOf(number), 'Disconnected', 'something is owed');
  await pay(number, 2_000);
  await goTo(today.add({ days: 1 }).toString());
  assert.equal(await statusOf(number), 'Closed');
});
