// Metered terms that overlap: measured usage is billed once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type ShownBill } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { openHouse as houseIn } from '../support/house.ts';
import { august, july } from '../support/offer-place.ts';
import { postNothing } from '../support/post-nothing.ts';
import { openScene } from '../support/scene.ts';
import { billOf, daysOf, readingsOn, skipBill } from '../support/skipped-bills.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const openHouse = (service?: object, tariff?: object) => houseIn(scene, service, tariff);

const part = { startDate: '01/07/2026', endDate: '20/07/2026' };

const usedOn = (bill: ShownBill) => readingsOn(bill).map(([, from, , to]) => [from, to]);

for (const type of forms(['OffCycle', 'Final'] as const)) {
  for (const first of ['Regular', type]) {
    test(`use of a part of the month that a ${type} term billed; the ${first} one made first`, async () => {
      const { run, open, openFor, read, lock } = await openHouse();
      const early = first === 'Regular' ? await open(july) : 0;
      const other = await openFor(type, part);
      const regular = early || (await open(july));
      await read('60', '20/07/2026');
      await lock(other);
      await read('100', '31/07/2026');
      await lock(regular);
      await generate(run, regular);
      // As long as the other one is not posted, all of it is to be billed.
      assert.deepEqual(usedOn(await billOf(run, regular)), [['0', '100']]);
      await generate(run, other);
      await post(run, other);
      await generate(run, regular);
      const bill = await billOf(run, regular);
      assert.deepEqual(daysOf(bill), ['Draft', '21/07/2026', '31/07/2026']);
      assert.deepEqual(usedOn(bill), [['60', '100']]);
      await post(run, regular);
      await assertChecks(scene, run.tenantId);
    });
  }
}

test('a Final term of the days of a Regular one that has locked its readings', async () => {
  const { run, open, openFor, read, lock, moveOut } = await openHouse();
  const regular = await open(july);
  await moveOut('11/07/2026', '40');
  await read('100', '31/07/2026');
  await lock(regular);
  await generate(run, regular);
  assert.equal((await billOf(run, regular)).errors[0]?.code, 'TRANSFER_NOT_BILLED');
  const final = await openFor('Final', july);
  await lock(final);
  await generate(run, final);
  const first = await billOf(run, final);
  assert.deepEqual([first.partyName, usedOn(first)], ['Old', [['0', '40']]]);
  await post(run, final);
  await generate(run, regular);
  const second = await billOf(run, regular);
  assert.deepEqual([second.partyName, usedOn(second)], ['Next', [['40', '100']]]);
});

test('an OffCycle term of the same days bills a skipped bill', async () => {
  const { run, client, open, openFor, read, lock } = await openHouse();
  const regular = await open(july);
  await read('100', '31/07/2026');
  await lock(regular);
  await generate(run, regular);
  const { billID } = await billOf(run, regular);
  await client.holdBill({ data: { billID, hold: true, reason: 'disputed' } });
  await postNothing(run, regular);
  const other = await openFor('OffCycle', july);
  await lock(other);
  await generate(run, other);
  const bill = await billOf(run, other);
  assert.deepEqual(daysOf(bill), ['Draft', '01/07/2026', '31/07/2026']);
  assert.deepEqual(usedOn(bill), [['0', '100']]);
  await post(run, other);
  const next = await open(august);
  await read('150', '31/08/2026');
  await lock(next);
  await generate(run, next);
  assert.deepEqual(usedOn(await billOf(run, next)), [['100', '150']]);
  await assertChecks(scene, run.tenantId);
});

test('an estimate of another term does not count as a reading, and a term in mode estimated uses it', async () => {
  const { run, open, openFor, read, lock } = await openHouse();
  const jul = await open(july);
  await read('310', '31/07/2026');
  await lock(jul);
  await generate(run, jul);
  await post(run, jul);
  await lock(await open(august), 'estimated');
  const other = await openFor('OffCycle', august);
  assert.match((await lock(other)).message, /^0 readings locked, 1 missing\./);
  await lock(other, 'estimated');
  await generate(run, other);
  assert.deepEqual(usedOn(await billOf(run, other)), [['310', '620']]);
});

for (const [days, left] of [[part, 'some of the'] as const, [july, 'the same'] as const]) {
  for (const type of forms(['Regular', 'OffCycle'] as const)) {
    test(`the next bill does not begin from an estimate of ${left} days of a skipped bill; ${type}`, async () => {
      const { run, open, openFor, read, lock } = await openHouse({
        meteredInputs: [
          {
            name: 'energy',
            unit: 'kWh',
            register: 'kWh',
            estimation: { allowed: 1, defaultDaily: 5 },
          },
        ],
      });
      const [regular, other] = [await open(july), await openFor('OffCycle', days)];
      await lock(regular, 'previous');
      await lock(other, 'estimated');
      await skipBill(run, other);
      await generate(run, regular);
      assert.deepEqual(usedOn(await billOf(run, regular)), [['0', '0']]);
      await post(run, regular);
      const next = type === 'Regular' ? await open(august) : await openFor(type, august);
      await lock(next, 'estimated');
      await generate(run, next);
      // Five a day since the end of June.
      assert.deepEqual(usedOn(await billOf(run, next)), [['0', '310']]);
      await read('300', '31/08/2026');
      await lock(next);
      await generate(run, next);
      assert.deepEqual(usedOn(await billOf(run, next)), [['0', '300']]);
      await post(run, next);
      await assertChecks(scene, run.tenantId);
    });
  }
}

test('a reading of a term that no longer bills the customer is free for the next one', async () => {
  const { run, open, openFor, read, lock } = await openHouse();
  const [regular, other] = [await open(july), await openFor('OffCycle', july)];
  await read('100', '31/07/2026');
  await lock(other);
  await read('110', '03/08/2026');
  await lock(regular);
  await generate(run, other);
  await post(run, other);
  await generate(run, regular);
  assert.deepEqual(await billsOf(run, regular), []);
  await postNothing(run, regular);
  const next = await open(august);
  await read('150', '31/08/2026');
  await lock(next);
  await generate(run, next);
  assert.deepEqual(usedOn(await billOf(run, next)), [['100', '150']]);
});

for (const type of forms(['Regular', 'OffCycle'] as const)) {
  test(`a meter exchanged in the days of grace of a ${type} term, which bills its last reading`, async () => {
    const { run, client, number, connection, open, openFor, lock } = await openHouse();
    const jul = type === 'Regular' ? await open(july) : await openFor(type, july);
    const newNumber = await newMeter(client);
    const replaced = { connectionNumber: connection, oldNumber: number, newNumber };
    const [finalReadings, initialReadings] = [[{ value: '110' }], [{ value: '5' }]];
    const data = { ...replaced, replaceDate: '01/08/2026', finalReadings, initialReadings };
    await client.replaceMeter({ data });
    await lock(jul);
    await generate(run, jul);
    assert.deepEqual(usedOn(await billOf(run, jul)), [['0', '110']]);
    await post(run, jul);
    const aug = await open(august);
    const reading = { number: newNumber, value: '95', readingDate: '31/08/2026' };
    await client.makeReadings({ readings: [reading] });
    await lock(aug);
    await generate(run, aug);
    const bill = await billOf(run, aug);
    assert.deepEqual([bill.errors, usedOn(bill)], [[], [['5', '95']]]);
  });
}
