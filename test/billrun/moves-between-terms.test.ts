// A customer who moves, changes plan or batch, or is disconnected between terms: measured usage is
// billed once, to its owner.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type ShownBill } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { fee, openHouse as houseIn } from '../support/house.ts';
import { august, july } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { billOf, daysOf, linesOf, readingsOn } from '../support/skipped-bills.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const openHouse = (service?: object, tariff?: object) => houseIn(scene, service, tariff);

const usedOn = (bill: ShownBill) => readingsOn(bill).map(([, from, , to]) => [from, to]);

test('an owner who moves out unread is estimated up to the day of the transfer', async () => {
  const { run, open, openFor, read, lock, moveOut } = await openHouse();
  const jul = await open(july);
  await read('310', '31/07/2026');
  await lock(jul);
  await generate(run, jul);
  await post(run, jul);
  await moveOut('11/08/2026');
  const final = await openFor('Final', august);
  await lock(final, 'estimated');
  await generate(run, final);
  const first = await billOf(run, final);
  assert.deepEqual(daysOf(first), ['Draft', '01/08/2026', '10/08/2026']);
  // 310 units in 31 days are 10 a day.
  assert.deepEqual(readingsOn(first), [['31/07/2026', '310', '10/08/2026', '410', '100']]);
  await post(run, final);
  const regular = await open(august);
  await read('620', '31/08/2026');
  await lock(regular);
  await generate(run, regular);
  const second = await billOf(run, regular);
  assert.deepEqual(readingsOn(second), [['10/08/2026', '410', '31/08/2026', '620', '210']]);
});

for (const reading of forms(['current', 'estimated'])) {
  test(`an owner who moves out in the days of grace, billed by the previous term; ${reading}`, async () => {
    const { run, open, openFor, read, lock, moveOut } = await openHouse();
    const jul = await open(july);
    await read('110', '03/08/2026');
    await lock(jul);
    await generate(run, jul);
    assert.deepEqual(usedOn(await billOf(run, jul)), [['0', '110']]);
    await post(run, jul);
    await moveOut('04/08/2026');
    const final = await openFor('Final', august);
    const { message } = await lock(final, reading);
    assert.equal(message, '0 readings locked, 1 taken again');
    await generate(run, final);
    const last = await billOf(run, final);
    assert.deepEqual(daysOf(last), ['Draft', '01/08/2026', '03/08/2026']);
    assert.deepEqual(usedOn(last), [['110', '110']]);
    assert.deepEqual(linesOf(last), [['fee', '01/08/2026', 30]]);
    await post(run, final);
    const regular = await open(august);
    await read('210', '31/08/2026');
    await lock(regular);
    await generate(run, regular);
    const next = await billOf(run, regular);
    assert.deepEqual([next.partyName, usedOn(next)], ['Next', [['110', '210']]]);
    await post(run, regular);
    await assertChecks(scene, run.tenantId);
  });
}

test('the meter of who moved out in the days of grace was exchanged since', async () => {
  const { run, client, number, connection, open, openFor, read, lock, moveOut } = await openHouse();
  const jul = await open(july);
  await read('110', '03/08/2026');
  await lock(jul);
  await generate(run, jul);
  await post(run, jul);
  await moveOut('04/08/2026');
  const exchange = { oldNumber: number, newNumber: await newMeter(client) };
  const [finalReadings, initialReadings] = [[{ value: '150' }], [{ value: '5' }]];
  const replaced = { ...exchange, replaceDate: '20/08/2026', finalReadings, initialReadings };
  await client.replaceMeter({ data: { connectionNumber: connection, ...replaced } });
  const final = await openFor('Final', august);
  await lock(final);
  await generate(run, final);
  const bill = await billOf(run, final);
  assert.deepEqual([bill.status, linesOf(bill)], ['Draft', [['fee', '01/08/2026', 30]]]);
  await post(run, final);
  const regular = await open(august);
  const { newNumber } = exchange;
  const readings = [{ number: newNumber, value: '95', readingDate: '31/08/2026' }];
  await client.makeReadings({ readings });
  await lock(regular);
  await generate(run, regular);
  const next = await billOf(run, regular);
  const used = [
    ['110', '150'],
    ['5', '95'],
  ];
  assert.deepEqual([next.partyName, usedOn(next)], ['Next', used]);
});

test('a subscription disconnected in the days of grace takes a further reading if there is one', async () => {
  const { run, client, connection, open, read, lock } = await openHouse();
  const jul = await open(july);
  await read('110', '03/08/2026');
  await lock(jul);
  await generate(run, jul);
  await post(run, jul);
  const effectiveDate = '04/08/2026';
  await client.disconnectConnection({ data: { connectionNumber: connection, effectiveDate } });
  const aug = await open(august);
  await lock(aug);
  await generate(run, aug);
  assert.deepEqual(usedOn(await billOf(run, aug)), [['110', '110']]);
  await read('120', '31/08/2026');
  assert.equal((await lock(aug)).message, '1 reading locked');
  await generate(run, aug);
  assert.deepEqual(usedOn(await billOf(run, aug)), [['110', '120']]);
});

for (const isBack of forms([false, true])) {
  const what = isBack ? ', though it was connected again since' : '';
  test(`a subscription disconnected at the end of a term is estimated up to its last active day${what}`, async () => {
    const estimation = { allowed: 1, defaultDaily: '10' } as const;
    const { run, client, connection, open, lock } = await openHouse({
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh', estimation }],
    });
    const at = (effectiveDate: string) => ({ connectionNumber: connection, effectiveDate });
    await client.disconnectConnection({ data: at('20/07/2026') });
    if (isBack) await client.reconnectConnection({ data: at('10/08/2026') });
    const termId = await open(july);
    await lock(termId, 'estimated');
    await generate(run, termId);
    const bill = await billOf(run, termId);
    assert.deepEqual(bill.meterReadings[0]?.currentDate, '19/07/2026');
    assert.deepEqual(usedOn(bill), [['0', '190']]);
  });

  test(`a subscription read after its last active day needs no further reading${what}`, async () => {
    const { run, client, connection, open, read, lock } = await openHouse();
    const at = (effectiveDate: string) => ({ connectionNumber: connection, effectiveDate });
    const jul = await open(july);
    await read('110', '03/08/2026');
    await lock(jul);
    await generate(run, jul);
    await post(run, jul);
    await client.disconnectConnection({ data: at('04/08/2026') });
    if (isBack) await client.reconnectConnection({ data: { ...at('02/09/2026'), force: true } });
    const aug = await open(august);
    await lock(aug);
    await generate(run, aug);
    assert.deepEqual(usedOn(await billOf(run, aug)), [['110', '110']]);
  });
}

test('a subscription moved to another batch after its readings are locked is billed there', async () => {
  const { run, client, connection, open, read, lock } = await openHouse({
    batches: [{ batchCode: 'B2', label: 'Second' }],
  });
  const before = await open(july);
  await read('100', '31/07/2026');
  await lock(before);
  await client.updateConnection({ data: { connectionNumber: connection, batchCode: 'B2' } });
  const after = await open({ ...july, batchCode: 'B2' });
  await lock(after);
  await generate(run, after);
  assert.deepEqual(usedOn(await billOf(run, after)), [['0', '100']]);
  await generate(run, before);
  assert.deepEqual(await billsOf(run, before), []);
});

test('a subscription billed in another batch that comes back has that usage billed once', async () => {
  const { run, client, connection, open, read, lock } = await openHouse({
    batches: [{ batchCode: 'B2', label: 'Second' }],
  });
  const move = (batchCode: string) =>
    client.updateConnection({ data: { connectionNumber: connection, batchCode } });
  await move('B2');
  const [before, after] = [await open(july), await open({ ...august, batchCode: 'B2' })];
  await read('100', '31/07/2026');
  await read('150', '31/08/2026');
  await lock(after);
  await move('DEFAULT');
  await lock(before);
  await generate(run, before);
  await post(run, before);
  await move('B2');
  await generate(run, after);
  assert.deepEqual(usedOn(await billOf(run, after)), [['100', '150']]);
  await post(run, after);
  await assertChecks(scene, run.tenantId);
});

/** A fee alone, and no meter that it needs. */
function flatPlan(serviceCode: string, more: object) {
  const usual = { planType: 'BASE_PLAN', chargeType: 'Postpaid', componentRules: [fee] };
  return { serviceCode, code: 'FLAT', name: 'Flat', uniqueLabel: 'Flat', ...usual, ...more };
}

test('a plan of another billing period from the next month on', async () => {
  const { run, client, offer, open, read, lock, changePlan } = await openHouse();
  const tariff = flatPlan(offer.serviceCode, { billingPeriodID: 3 });
  await client.createTariff({ tariff: tariff as never });
  await changePlan('FLAT', '01/08/2026');
  const jul = await open(july);
  await read('100', '31/07/2026');
  await lock(jul);
  await generate(run, jul);
  const bill = await billOf(run, jul);
  assert.deepEqual(linesOf(bill), [
    ['energyCharge', '01/07/2026', 1000],
    ['fee', '01/07/2026', 310],
  ]);
  await post(run, jul);
  const quarter = await open({
    startDate: '01/08/2026',
    endDate: '31/10/2026',
    billingPeriodID: 3,
  });
  await lock(quarter);
  await generate(run, quarter);
  assert.deepEqual(linesOf(await billOf(run, quarter)), [['fee', '01/08/2026', 310]]);
  const aug = await open(august);
  await lock(aug);
  await generate(run, aug);
  assert.deepEqual(await billsOf(run, aug), []);
});

test('a meter that is needed by the plan of the next month is not missed in this one', async () => {
  const { run, client, offer, open, lock, changePlan } = await openHouse();
  await client.createTariff({ tariff: flatPlan(offer.serviceCode, {}) as never });
  await changePlan('FLAT', '01/07/2026');
  await changePlan(offer.tariffCode, '01/08/2026');
  const jul = await open(july);
  await lock(jul);
  await generate(run, jul);
  const bill = await billOf(run, jul);
  assert.deepEqual([bill.status, bill.errors], ['Draft', []]);
  assert.deepEqual(linesOf(bill), [['fee', '01/07/2026', 310]]);
  await post(run, jul);
  const aug = await open(august);
  await lock(aug);
  await generate(run, aug);
  assert.equal((await billOf(run, aug)).errors[0]?.code, 'READING_MISSING');
});

test('a meter that the plan of this month needs is missed when the next one does not', async () => {
  const { run, client, offer, open, lock, changePlan } = await openHouse();
  await client.createTariff({ tariff: flatPlan(offer.serviceCode, {}) as never });
  await changePlan('FLAT', '01/08/2026');
  const jul = await open(july);
  await lock(jul);
  await generate(run, jul);
  assert.equal((await billOf(run, jul)).errors[0]?.code, 'READING_MISSING');
});

test('the billing group of the next owner does not count before the transfer', async () => {
  const { run, client, open, read, lock, moveOut } = await openHouse();
  await client.addBillingGroup({ name: 'Quarterly', billingPeriodID: 3 });
  await moveOut('01/08/2026', '100');
  const data = { billingGroupID: 1, connectionGroupLabels: ['Next house'] };
  await client.assignBillingAccounts({ data });
  const jul = await open(july);
  await lock(jul);
  await generate(run, jul);
  const bill = await billOf(run, jul);
  assert.deepEqual([bill.partyName, usedOn(bill)], ['Old', [['0', '100']]]);
  await post(run, jul);
  const quarter = await open({ ...august, endDate: '31/10/2026', billingPeriodID: 3 });
  await read('300', '31/10/2026');
  await lock(quarter);
  await generate(run, quarter);
  const next = await billOf(run, quarter);
  assert.deepEqual([next.partyName, usedOn(next)], ['Next', [['100', '300']]]);
});

test('what was read after a transfer in the days of grace is not the old owner’s', async () => {
  const { run, open, read, lock, moveOut } = await openHouse();
  const jul = await open(july);
  await read('100', '31/07/2026');
  await moveOut('02/08/2026', '106');
  await read('120', '04/08/2026');
  await lock(jul);
  await generate(run, jul);
  const bill = await billOf(run, jul);
  assert.deepEqual([bill.partyName, usedOn(bill)], ['Old', [['0', '106']]]);
});

test('an owner without supply until the transfer has no Final bill, and blocks no other', async () => {
  const { run, client, connection, openFor, open, read, lock, moveOut } = await openHouse();
  const off = { connectionNumber: connection, effectiveDate: '01/07/2026' };
  await client.disconnectConnection({ data: off });
  await moveOut('02/07/2026');
  const on = { connectionNumber: connection, effectiveDate: '20/07/2026', force: true };
  await client.reconnectConnection({ data: on });
  const final = await openFor('Final', july);
  for (const reading of ['current', 'estimated']) {
    await lock(final, reading);
    await generate(run, final);
    assert.deepEqual(await billsOf(run, final), []);
  }
  await client.cancelTerm({ data: { termID: final, reason: 'It bills no days' } });
  const regular = await open(july);
  await read('120', '31/07/2026');
  await lock(regular);
  await generate(run, regular);
  const bill = await billOf(run, regular);
  assert.deepEqual([bill.partyName, usedOn(bill)], ['Next', [['0', '120']]]);
  assert.deepEqual(daysOf(bill), ['Draft', '20/07/2026', '31/07/2026']);
  await post(run, regular);
  await assertChecks(scene, run.tenantId);
});
