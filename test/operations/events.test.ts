// The outbox: what happened is written with the change itself, and read in a fixed order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { refuses } from '../support/client.ts';
import { doDailyWork } from '../support/daily-work.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const ofMoney = new Set([
  ...['bill.posted', 'bill.cancelled', 'payment.created', 'payment.reversed'],
  'credit_note.created',
]);

/**
 * Those of money. Events are shown when no earlier transaction runs, which another test may have
 * open.
 */
async function eventsOf(place: Owing, count: number) {
  for (let turn = 0; ; turn += 1) {
    const { data } = await place.client.getEvents({});
    const events = data.events.filter(({ type = '' }) => ofMoney.has(type));
    if (events.length >= count || turn === 600) return events;
    await setTimeout(100);
  }
}

async function typesOf(place: Owing, count: number): Promise<(string | undefined)[]> {
  return (await eventsOf(place, count)).map((one) => one.type);
}

test('each change of money leaves its event, and a refused one leaves none', async () => {
  const place = await openOwing(scene, 'events-money');
  const { client } = place;
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 300 });
  const billID = bill?.billID ?? 0;
  const paymentID = await place.pay({ amount: 100 });
  await refuses(place.pay({ amount: 5, allocations: [{ billID, amount: 6 }] }), 'OVER_ALLOCATED');
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  const credit = { billID, lines: [{ component: 'fee', amount: 20 }], reason: 'Misread' };
  await client.makeCreditNotes({ creditNotes: [credit] });
  await client.cancelBill({ data: { billID, reason: 'Wrong' } });
  assert.deepEqual(await typesOf(place, 6), [
    ...['bill.posted', 'payment.created', 'payment.reversed', 'credit_note.created'],
    ...['bill.cancelled', 'credit_note.created'],
  ]);
  const { data } = await client.getEvents({ type: 'bill.posted' });
  const [posted] = data.events;
  assert.deepEqual(posted?.data, { termID: bill?.termID, billIDs: [billID], count: 1 });
  const { data: later } = await client.getEvents({ sinceEventID: posted?.eventID ?? 0 });
  const paid = later.events.find(({ type }) => type === 'payment.created');
  assert.deepEqual(paid?.data, { paymentID });
});

test('many payments of one call are one event, and events are kept for 30 days', async () => {
  const place = await openOwing(scene, 'events-many');
  const payments = Array.from({ length: 101 }, (_, index) => ({
    ...{ reference: `M-${index}`, partyNumber: place.party, amount: 1 },
    paymentMethod: 'Cash' as const,
  }));
  await place.client.makePayments({ payments });
  const events = await eventsOf(place, 1);
  assert.deepEqual(
    events.map(({ type, bulk, data: what }) => [type, bulk, (what as { count: number }).count]),
    [['payment.created', true, 101]],
  );
  await place.goTo('2027-01-30');
  await doDailyWork(scene, place.tenantId);
  assert.deepEqual(await typesOf(place, 1), ['payment.created']);
  const [old] = await eventsOf(place, 1);
  await place.pay({ amount: 1 });
  await place.goTo('2027-03-05');
  await doDailyWork(scene, place.tenantId);
  const [newest, ...others] = await eventsOf(place, 1);
  assert.deepEqual([newest?.type, others], ['payment.created', []]);
  const since = (event: typeof old) =>
    place.client.getEvents({ sinceEventID: event?.eventID ?? null });
  // The newest stays, so that a reader goes on after it. One that missed others gets an error.
  assert.deepEqual((await since(newest)).data.events, []);
  await refuses(since(old), 'EVENT_NOT_FOUND', { field: 'sinceEventID' });
});
