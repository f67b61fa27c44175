// Every type of event: the calls that lead to it, and what its event says.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type EventType, eventTypes } from '../../src/domain/events/events-store.ts';
import { billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { read } from '../support/entered-readings.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openHouse } from '../support/house.ts';
import { openMetered } from '../support/metered.ts';
import { july } from '../support/offer-place.ts';
import { openOwing } from '../support/owing.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { allowLoopback, hook, startSender, until } from '../support/webhooks.ts';

allowLoopback();
const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());

/** Types whose events other files test. */
const elsewhere: EventType[] = [
  ...(['bill.overdue', 'bill.surcharged', 'bill.cancelled', 'wallet.low'] as const),
  ...(['payment.reversed', 'payment.refunded', 'credit_note.created'] as const),
  'adjustment.created',
];
const met = new Set<string>(elsewhere);

type Shown = { type: string; bulk: boolean; data: Record<string, unknown> };

/** Reads on after the last event that it has read. */
function reader(client: TestClient) {
  let sinceEventID: number | null = null;
  const next = async () => {
    const { events } = (await client.getEvents({ sinceEventID })).data;
    sinceEventID = events.at(-1)?.eventID ?? sinceEventID;
    for (const { type = '' } of events) met.add(type);
    return events as Shown[];
  };
  const flush = async () => {
    // Events are shown when no earlier transaction runs, which another test may have open.
    await setTimeout(50);
    return next();
  };
  return {
    /** Waits until there are as many; returns their types with the ids. */
    async take(count: number): Promise<Shown[]> {
      const found: Shown[] = [];
      await until(`${count} events`, async () => {
        found.push(...(await next()));
        return found.length >= count;
      });
      assert.deepEqual(await flush(), []);
      assert.equal(found.length, count, JSON.stringify(found));
      return found;
    },
    async skip(): Promise<void> {
      await until('all events so far are shown', async () => {
        const { rows } = await scene.sql.query(
          `select coalesce(bool_and(written_in < pg_snapshot_xmin(pg_current_snapshot())), true)
             as shown from events`,
        );
        return rows[0].shown;
      });
      while ((await next()).length > 0);
    },
  };
}

function inShort(events: readonly Shown[]) {
  return events.map(({ type, data }) => [type, ...Object.values(data)]);
}

test('parties and their accounts are created, changed, archived and restored', async () => {
  const client = await scene.workspace('types-parties');
  const events = reader(client);
  const partyNumber = await newParty(client, 'Asma');
  await client.updateUser({
    user: { partyNumber, connectionGroups: [{ connectionGroupLabel: 'House' }] },
  });
  await client.updateUser({ user: { partyNumber, name: 'Asma Khan' } });
  await client.updateUser({ user: { partyNumber, archiveStatus: 1 } });
  await refuses(client.updateUser({ user: { partyNumber, name: 'A' } }), 'PARTY_ARCHIVED');
  await client.updateUser({ user: { partyNumber, archiveStatus: 0 } });
  await client.updateUser({ user: { partyNumber, archiveStatus: 1 } });
  await client.eraseParty({ user: { partyNumber, reason: 'Asked for' } });
  assert.deepEqual(inShort(await events.take(8)), [
    ['party.created', partyNumber],
    ['account.created', 1],
    ['party.updated', partyNumber],
    ['party.updated', partyNumber],
    ['party.archived', partyNumber],
    ['party.restored', partyNumber],
    ['party.archived', partyNumber],
    ['party.updated', partyNumber],
  ]);
  const users = Array.from({ length: 101 }, (_, index) => ({ name: `Party ${index}` }));
  await client.makeUsers({ userType: 'customer', users });
  const [many] = await events.take(1);
  assert.deepEqual([many?.type, many?.bulk, many?.data.count], ['party.created', true, 101]);
});

test('services and plans are created and changed', async () => {
  const client = await scene.workspace('types-plans');
  const events = reader(client);
  const { serviceCode, tariffCode } = await newOffer(client);
  const { data } = await client.getTariffs({ serviceCode });
  const tariffID = data.tariffs[0]?.tariffID;
  await client.updateService({ service: { code: serviceCode, name: 'Another' } });
  await client.updateTariff({ tariff: { serviceCode, code: tariffCode, name: 'Another' } });
  assert.deepEqual(inShort(await events.take(4)), [
    ['service.created', serviceCode],
    ['plan.created', tariffID],
    ['service.updated', serviceCode],
    ['plan.updated', tariffID],
  ]);
});

test('a subscription has an event for each change of its life', async () => {
  const owing = await openOwing(scene, 'types-life');
  const { client, offer } = owing;
  const other = await newTariff(client, offer.serviceCode, {
    componentRules: [{ component: 'fee', formula: '5' }],
  });
  const buyer = await newParty(client, 'Buyer');
  const events = reader(client);
  await events.skip();
  const connectionNumber = await subscribe(client, {
    ...offer,
    connectionDate: '01112026',
    users: [{ partyNumber: owing.party, connectionGroupLabel: 'House' }],
  });
  const data = { connectionNumber };
  await client.updateConnection({ data: { ...data, paymentMethod: 'Bank' } });
  await client.changeTariff({ data: { ...data, tariffCode: other.code } });
  await client.disconnectConnection({ data });
  await client.reconnectConnection({ data });
  const move = { toPartyNumber: buyer, connectionGroupLabel: 'House' };
  await client.transferConnection({ data: { ...data, ...move } });
  await client.disconnectConnection({ data });
  await refuses(client.disconnectConnection({ data }), 'INVALID_STATE');
  await client.closeConnection({ data });
  const found = await events.take(11);
  const types = found.map(({ type }) => type).filter((type) => type !== 'account.created');
  assert.deepEqual(types, [
    'subscription.created',
    'subscription.activated',
    'subscription.updated',
    'subscription.plan_changed',
    'subscription.disconnected',
    'subscription.reconnected',
    'subscription.transferred',
    'subscription.disconnected',
    'subscription.closed',
  ]);
  const own = found.filter(({ type }) => type.startsWith('subscription.'));
  assert.ok(own.every((one) => one.data.connectionNumber === connectionNumber));
});

test('meters and readings have events, also those that wait for review', async () => {
  const { admin, newMeter, newSubscription } = await openMetered(scene, 'types-meters');
  const events = reader(admin);
  await events.skip();
  const [connectionNumber, first, second] = [
    await newSubscription(),
    await newMeter(),
    await newMeter(),
  ];
  const initialReadings = [{ value: '100' }];
  const place = { connectionNumber, installDate: '01/01/2026', initialReadings };
  await admin.assignMeter({ data: { ...place, number: first } });
  await read(admin, { number: first, readingDate: '01/02/2026', value: '150' });
  await read(admin, { number: first, readingDate: '01/03/2026', value: '120' });
  const { readings } = (await admin.getReadings({ number: first })).data;
  const low = readings.find((one) => one.status === 'Review')?.readingID ?? 0;
  await admin.reviewReading({ data: { readingID: low, decision: 'Accept', value: 180 } });
  await admin.reviewReading({ data: { readingID: low, decision: 'Reject' } });
  const final = (value: string) => ({ finalReadings: [{ value }] });
  const swap = { oldNumber: first, newNumber: second, replaceDate: '01/04/2026', initialReadings };
  await admin.replaceMeter({ data: { connectionNumber, ...swap, ...final('200') } });
  const removal = { number: second, removeDate: '01/05/2026', ...final('300') };
  await admin.removeMeter({ data: { connectionNumber, ...removal } });
  const found = await events.take(14);
  assert.deepEqual(
    found.map(({ type }) => type),
    [
      ...['meter.registered', 'meter.registered', 'reading.recorded', 'meter.assigned'],
      ...['reading.recorded', 'reading.recorded', 'reading.review_needed'],
      ...['reading.accepted', 'reading.rejected'],
      ...['reading.recorded', 'reading.recorded', 'meter.replaced'],
      ...['reading.recorded', 'meter.removed'],
    ],
  );
});

test('the steps of a bill run have an event for the term, and one for the bills of each chunk', async () => {
  const owing = await openOwing(scene, 'types-run');
  const { client, party } = owing;
  const silent = await newParty(client, 'No address');
  const contacts = [{ contactType: 'Mobile', contactValue: '+923001234567' }];
  // No gateway for short messages is configured.
  await client.updateUser({
    user: { partyNumber: silent, deliveryChannels: ['SMS'], contacts },
  });
  const users = [{ partyNumber: silent, connectionGroupLabel: 'House' }];
  const numbers = [await owing.connectOld(), await owing.connectOld({ users })];
  await client.updateUser({ user: { partyNumber: party, email: 'a.khan@example.com' } });
  const events = reader(client);
  await events.skip();
  const termID = await owing.openMonth(Object.fromEntries(numbers.map((one) => [one, 50])));
  await generate(owing, termID);
  await post(owing, termID);
  await unpost(owing, termID);
  await post(owing, termID);
  await client.publishBills(schedule(termID));
  await client.distributeBills(schedule(termID));
  const made = await billsOf(owing, termID);
  const bills = made.map((one) => one.billID);
  const silentBill = made.find((one) => one.partyNumber === silent)?.billID;
  const chunk = { termID, billIDs: bills, count: 2 };
  const found = await events.take(13);
  assert.deepEqual(
    found.map(({ type, data }) => [type, type.startsWith('bill') ? data : data.termID]),
    [
      ['term.created', termID],
      ['term.components_posted', termID],
      ['term.generated', termID],
      ['bill.posted', chunk],
      ['term.posted', termID],
      ['term.unposted', termID],
      ['bill.posted', chunk],
      ['term.posted', termID],
      ['bill.published', chunk],
      ['term.published', termID],
      ['bill.delivery_failed', { billID: silentBill }],
      ['bill.delivered', { billID: bills.find((one) => one !== silentBill) }],
      ['term.distributed', termID],
    ],
  );
});

test('a term that is cancelled, and a job that failed, have their events', async () => {
  const house = await openHouse(scene);
  const { client, number } = house;
  const termID = await house.open(july);
  const events = reader(client);
  await events.skip();
  await house.read('100', '31/07/2026');
  await house.lock(termID);
  assert.deepEqual(
    inShort(await events.take(2)).map(([type]) => type),
    ['reading.recorded', 'term.readings_posted'],
  );
  assert.ok(number > 0);
  await client.cancelTerm({ operation: 'schedule', data: { termID, reason: 'Wrong month' } });
  assert.deepEqual(inShort(await events.take(1)), [['term.cancelled', termID]]);
});

test('a scheduled step that is refused in the end is a failed job', async () => {
  const owing = await openOwing(scene, 'types-failed');
  const { client } = owing;
  const number = await owing.connectOld();
  const termID = await owing.openMonth({ [number]: 50 });
  await generate(owing, termID);
  await client.postBills(schedule(termID, '2027-01-05T10:00:00'));
  const compsData = [[number, 'fee', '60']];
  const data = JSON.stringify({ termID, compsData });
  await client.postManualComponentValues({ operation: 'schedule', data: { data } });
  const events = reader(client);
  await events.skip();
  await owing.goTo('2027-01-06');
  const [failed] = (await events.take(1)).filter(({ type }) => type === 'job.failed');
  const { jobs } = (await client.getJobs({ termID, status: 'Failed' })).data;
  const jobID = jobs[0]?.jobID;
  assert.deepEqual(failed?.data, { termID, code: 'TERM_STALE_GENERATE_AGAIN', jobID });
});

test('a bill is paid once: by the payment that settles the rest of it', async () => {
  const owing = await openOwing(scene, 'types-paid');
  const { client } = owing;
  const [bill] = await owing.bill({ [await owing.connectOld()]: 300 });
  const billID = bill?.billID ?? 0;
  const events = reader(client);
  await events.skip();
  await owing.pay({ amount: 100 });
  assert.deepEqual(
    inShort(await events.take(1)).map(([type]) => type),
    ['payment.created'],
  );
  const paymentID = await owing.pay({ amount: 250 });
  const found = await events.take(2);
  assert.deepEqual(
    new Set(found.map(({ type }) => type)),
    new Set(['payment.created', 'bill.paid']),
  );
  assert.equal(found.find(({ type }) => type === 'bill.paid')?.data.billID, billID);
  await owing.pay({ amount: 10 });
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  const types = (await events.take(2)).map(({ type }) => type);
  assert.deepEqual(types, ['payment.created', 'payment.reversed']);
});

test('a webhook gets a thing of each kind as the API shows it', async () => {
  const owing = await openOwing(scene, 'types-things');
  const { client, tenantId } = owing;
  const { receiver } = await hook(scene, client);
  const sender = startSender(scene, tenantId);
  const connectionNumber = await owing.connectOld();
  const termID = await owing.openMonth({ [connectionNumber]: 10 });
  const names = ['subscription.created', 'term.created'];
  const had = () => receiver.received.map((one) => one.body.type);
  await until('both', () => names.every((name) => had().includes(name)));
  const dataOf = (type: string) =>
    receiver.received.find((one) => one.body.type === type)?.body.data;
  assert.equal(dataOf('subscription.created')?.status, 'Active');
  assert.equal(dataOf('subscription.created')?.connectionNumber, connectionNumber);
  assert.equal(dataOf('term.created')?.termID, termID);
  const partyNumber = await newParty(client, 'Late');
  await until('the party', () => had().includes('party.created'));
  assert.equal(dataOf('party.created')?.name, 'Late');
  assert.equal(dataOf('party.created')?.partyNumber, partyNumber);
  await sender.stop();
  await receiver.close();
});

test('every type of event was met', () => {
  assert.deepEqual(
    eventTypes.filter((type) => !met.has(type)),
    [],
  );
});
