// Bills that are not paid in time: Overdue from the day after their due date, by the daily job.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf } from '../support/bill-run.ts';
import { doDailyWork } from '../support/daily-work.ts';
import { schedule } from '../support/delivery.ts';
import { july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

type Place = OfferPlace & { username: string };

/** 310 for July. */
async function openPlace(workspace: string): Promise<Place> {
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];
  const componentRules = [{ component: 'fee', formula: '310', prorate: 'Days' as const }];
  const place = await openOffer(scene, workspace, { components }, { componentRules });
  return { ...place, username: `admin@${workspace}.example` };
}

/**
 * The clock goes to noon of a day that is so many days away, and workers do what is due. A login
 * does not last.
 */
async function goAhead(place: Place, days: number): Promise<Temporal.PlainDate> {
  const local = scene.clock.now().toZonedDateTimeISO('Asia/Karachi');
  const noon = local.add({ days }).withPlainTime('12:00');
  scene.clock.advance(local.until(noon, { largestUnit: 'seconds' }));
  await doDailyWork(scene, place.tenantId);
  const { client, username } = place;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  return noon.toPlainDate();
}

const wireDate = (date: Temporal.PlainDate) => date.toString().split('-').reverse().join('/');

async function postedTerm(place: Place, dueDate: Temporal.PlainDate): Promise<number> {
  const termId = await place.open({ ...july, dueDate: wireDate(dueDate) });
  await generate(place, termId);
  await post(place, termId);
  return termId;
}

async function statesOf(place: Place, termId: number): Promise<string[]> {
  return (await billsOf(place, termId)).map((bill) => bill.paymentStatus);
}

test('a published bill is Overdue from the day after its due date, and not before', async () => {
  const place = await openPlace('late');
  await place.connectOld();
  await place.connectOld();
  const today = await goAhead(place, 1);
  const termId = await postedTerm(place, today.add({ days: 2 }));
  await place.client.publishBills(schedule(termId));
  assert.deepEqual(await statesOf(place, termId), ['Unpaid', 'Unpaid']);
  await goAhead(place, 2);
  assert.deepEqual(await statesOf(place, termId), ['Unpaid', 'Unpaid'], 'due today');
  await goAhead(place, 1);
  assert.deepEqual(await statesOf(place, termId), ['Overdue', 'Overdue'], 'due yesterday');
  const { data } = await place.client.getBills({ paymentStatus: 'Overdue', page: null });
  assert.equal(data.bills.length, 2);
  assert.ok(data.bills.every((bill) => bill.modifiedBy === 'daily job'));
  const changed = await rowsOf(place, 'select ts from bills where tenant_id = $1 order by 1');
  await goAhead(place, 1);
  const after = await rowsOf(place, 'select ts from bills where tenant_id = $1 order by 1');
  assert.deepEqual(after, changed, 'once');
});

test('an unpublished bill is not overdue, and becomes overdue after it is published', async () => {
  const place = await openPlace('unshown');
  await place.connectOld();
  const today = await goAhead(place, 1);
  const termId = await postedTerm(place, today);
  await goAhead(place, 3);
  assert.deepEqual(await statesOf(place, termId), ['Unpaid']);
  await place.client.publishBills(schedule(termId));
  await goAhead(place, 1);
  assert.deepEqual(await statesOf(place, termId), ['Overdue']);
});

test('what the wallet paid in part falls overdue, what it paid in full does not', async () => {
  const place = await openPlace('wallets');
  await place.connectOld();
  await place.connectOld();
  const today = await goAhead(place, 1);
  // 310 of one bill and 100 of the other.
  await insertOpening(scene, place.tenantId, null, -41_000);
  const termId = await postedTerm(place, today.add({ days: 1 }));
  await place.client.publishBills(schedule(termId));
  assert.deepEqual(await statesOf(place, termId), ['Paid', 'PartiallyPaid']);
  await goAhead(place, 3);
  assert.deepEqual(await statesOf(place, termId), ['Paid', 'Overdue']);
});

test('what a credit from before covers is not late; what it leaves to be paid is', async () => {
  const place = await openPlace('credits');
  for (let bills = 0; bills < 3; bills += 1) await place.connectOld();
  const today = await goAhead(place, 1);
  const { rows: subscriptions } = await scene.sql.query(
    'select subscription_id as id from subscriptions where tenant_id = $1 order by 1',
    [place.tenantId],
  );
  // 310 - 400, 310 - 310 and 310 - 309.
  for (const [index, credit] of [40_000, 31_000, 30_900].entries()) {
    await insertOpening(scene, place.tenantId, Number(subscriptions[index]?.id), -credit);
  }
  const termId = await postedTerm(place, today.add({ days: 1 }));
  await place.client.publishBills(schedule(termId));
  const payable = (await billsOf(place, termId)).map((bill) => bill.payableWithinDueDate);
  assert.deepEqual(payable, [0, 0, 1]);
  await goAhead(place, 3);
  assert.deepEqual(await statesOf(place, termId), ['Unpaid', 'Unpaid', 'Overdue']);
});
