// Figures of a term and of its bills, where some were left out of posting or cancelled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const fee = { component: 'fee', formula: '310', prorate: 'Days' as const };
const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];

function openPlace(name: string, service: object = {}, tariff: object = {}) {
  const plan = { componentRules: [fee], ...tariff };
  return openOffer(scene, name, { components, ...service }, plan as never);
}

type Place = Awaited<ReturnType<typeof openPlace>>;

function hold(place: Place, billID = 0, isHeld = true) {
  return place.client.holdBill({ data: { billID, hold: isHeld, reason: 'To be looked at' } });
}

/** July of four subscriptions at 310: two bills cancelled, one left out, one to be paid. */
async function julyOfFour(name: string) {
  const place = await openPlace(name);
  for (let index = 0; index < 4; index += 1) await place.connectOld();
  const termID = await place.open(july);
  await generate(place, termID);
  const bills = await billsOf(place, termID);
  await hold(place, bills[3]?.billID);
  await post(place, termID, true);
  for (const { billID } of bills.slice(0, 2)) {
    await place.client.cancelBill({ data: { billID, reason: 'Wrong', rebill: false } });
  }
  return { place, termID, shown: await place.client.getBillTerm({ billTermID: termID }) };
}

test('a bill skipped while the due date moved is posted with the due date of its term', async () => {
  const place = await openPlace('due');
  await place.connectOld();
  await place.connectOld();
  const termID = await place.open({ ...july, dueDate: '15/08/2026' });
  await generate(place, termID);
  const [, left] = await billsOf(place, termID);
  await hold(place, left?.billID);
  await post(place, termID, true);
  await place.client.updateTerm({ data: { termID, dueDate: '25/08/2026' } });
  await unpost(place, termID);
  await hold(place, left?.billID, false);
  await post(place, termID);
  const dates = (await billsOf(place, termID)).map((bill) => [bill.status, bill.dueDate]);
  assert.deepEqual(dates, [
    ['Posted', '25/08/2026'],
    ['Posted', '25/08/2026'],
  ]);
});

test('the charges that are ready are those of bills neither on hold nor in error', async () => {
  const place = await openPlace('ready');
  for (let index = 0; index < 3; index += 1) await place.connectOld();
  const termID = await place.open(july);
  await generate(place, termID);
  const charges = async () => {
    const { summary } = (await place.client.getBillTerm({ billTermID: termID })).data;
    return [summary.bills - summary.onHold, summary.readyCharges, summary.currentCharges];
  };
  assert.deepEqual(await charges(), [3, 930, 930]);
  const [held] = await billsOf(place, termID);
  await hold(place, held?.billID);
  assert.deepEqual(await charges(), [2, 620, 930]);
  await post(place, termID, true);
  assert.deepEqual(await charges(), [2, 620, 620]);
});

test('a term is compared with what the one before it shows as its charges', async () => {
  const { place, shown } = await julyOfFour('compared');
  assert.equal(shown.data.summary.currentCharges, 310);
  const next = await place.open(august);
  await generate(place, next);
  const { summary } = (await place.client.getBillTerm({ billTermID: next })).data;
  // August of four, and July of the one that was left out: 5 x 310 is four times 310 more.
  assert.equal(summary.currentCharges, 1_550);
  assert.equal(summary.comparison?.currentChargesChangePct, '400');
});

test('bills are counted as they are listed, and owed as summary and party say', async () => {
  const { place, shown } = await julyOfFour('owed');
  const { bills, summary } = shown.data;
  assert.equal(bills.length, 4);
  assert.equal(shown.headers.get('x-total-count'), '4');
  const owed = bills.map(({ status, outstandingAmount }) => [status, outstandingAmount]);
  assert.deepEqual(owed, [
    ['Cancelled', 0],
    ['Cancelled', 0],
    ['Posted', 310],
    ['Hold', 0],
  ]);
  assert.equal(summary.outstandingAmount, 310);
  const { user } = (await place.client.getUsers({ partyNumber: place.party, page: null })).data;
  assert.equal(user.outstandingAccount?.balance, 310);
});

test('a filter for unpaid bills without a status returns Posted and Published bills', async () => {
  const { place } = await julyOfFour('unpaid');
  const unpaid = async (more: object) => {
    const { data } = await place.client.getBills({ paymentStatus: 'Unpaid', page: null, ...more });
    return data.bills.map((bill) => bill.status);
  };
  assert.deepEqual(await unpaid({}), ['Posted']);
  assert.deepEqual(await unpaid({ status: 'Hold' }), ['Hold']);
});

test('nothing is owed on a draft', async () => {
  const place = await openPlace('draft');
  await place.connectOld();
  const termID = await place.open(july);
  await generate(place, termID);
  const { summary, bills } = (await place.client.getBillTerm({ billTermID: termID })).data;
  assert.deepEqual([bills[0]?.billAmount, bills[0]?.outstandingAmount], [310, 0]);
  assert.equal(summary.outstandingAmount, 0);
});

test('a posted term is simulated without what the next one charges', async () => {
  const { place, termID } = await julyOfFour('simulated');
  const dearer = { ...fee, formula: '341' };
  const tariffs = [{ code: place.offer.tariffCode, componentRules: [dearer] }] as never;
  const { before, after } = (await place.client.simulateTerm({ termID, tariffs })).data;
  assert.deepEqual([before.bills, before.currentCharges, after.currentCharges], [1, 310, 341]);
});

test('history is also of bills that another subscription was on', async () => {
  const postType = 'Post Account';
  const place = await openPlace('history', { postType });
  await place.connectOld({ postType });
  const leaves = await place.connectOld({ postType });
  const run = async (days: object) => {
    const termID = await place.open({ ...july, ...days, postType });
    await generate(place, termID);
    return termID;
  };
  await post(place, await run(july));
  const data = { connectionNumber: leaves, effectiveDate: '10/08/2026', reason: 'Moved away' };
  await place.client.disconnectConnection({ data } as never);
  await post(place, await run(august));
  const [bill] = await billsOf(place, await run(september));
  const history = bill?.history.map(({ amount, paidAmount }) => [amount, paidAmount]);
  // Of the one that stays: the other's part of those bills is not in its history.
  assert.deepEqual(history, [
    [310, null],
    [310, null],
  ]);
});

test('a value that is a mean is explained by what it is the mean of', async () => {
  const values = [
    { name: 'rent', label: 'Rent', type: 'Number', default: '3', changeInTerm: 'Weighted' },
  ];
  const valueFormulas = [
    { name: 'rent', formula: '100', fromDate: '01/01/2026', toDate: '14/07/2026' },
    { name: 'rent', formula: '200', fromDate: '15/07/2026' },
  ];
  const componentRules = [{ component: 'fee', scope: 'Term', formula: 'rent * 2' }];
  const place = await openPlace('mean', { values }, { valueFormulas, componentRules });
  await place.connectOld();
  const termID = await place.open(july);
  await generate(place, termID);
  const [bill] = await billsOf(place, termID);
  const [line] = (await place.client.explainBill({ billID: bill?.billID ?? 0 })).data.lines;
  // (14 x 100 + 17 x 200) / 31 x 2
  assert.equal(line?.amount, 309.68);
  const rent = line?.names.find(({ name }) => name === 'rent');
  assert.equal(rent?.source.ref, '100 for 14 days, 200 for 17 days');
});
