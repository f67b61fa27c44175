// What meters showed for bills that were left out: exchanged, estimated, beyond the highest value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post } from '../support/bill-run.ts';
import { openScene } from '../support/scene.ts';
import {
  april,
  billOf,
  daysOf,
  february,
  january,
  linesOf,
  march,
  needEnergy,
  openHome,
  readingsOn,
  skipBill,
} from '../support/skipped-bills.ts';

const scene = await openScene();
scene.runJobs();

test('a meter that was exchanged in the days of a bill that was held', async () => {
  const { run, read, client, connection, number, newMeter, lock } = await openHome(scene);
  const newNumber = await newMeter();
  await client.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber,
      replaceDate: '15/01/2026',
      finalReadings: [{ value: '60' }],
      initialReadings: [{ value: '7' }],
    },
  });
  await skipBill(run, await read(january, ['47', '31/01/2026', '', newNumber]));
  const feb = await read(february, ['167', '28/02/2026', '', newNumber]);
  await lock(feb);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(daysOf(bill), ['Draft', '01/01/2026', '28/02/2026']);
  assert.deepEqual(readingsOn(bill), [
    ['01/01/2026', '0', '15/01/2026', '60', '60'],
    ['15/01/2026', '7', '28/02/2026', '167', '160'],
  ]);
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/01/2026', (60 + 40) * 20],
    ['energyCharge', '01/02/2026', 120 * 20],
  ]);
  await post(run, feb);
  await skipBill(run, await read(march, ['290', '31/03/2026', '', newNumber]));
  const apr = await read(april, ['400', '30/04/2026', '', newNumber]);
  await generate(run, apr);
  assert.deepEqual(readingsOn(await billOf(run, apr)), [
    ['28/02/2026', '167', '30/04/2026', '400', '233'],
  ]);
});

const estimated = {
  meteredInputs: [
    {
      name: 'energy',
      unit: 'kWh',
      estimation: { allowed: 1 as const, defaultDaily: 5 },
    },
  ],
};

test('an estimate of a bill that was held is put right by what is read then', async () => {
  const { run, read, open, lock } = await openHome(scene, estimated);
  const jan = await open(january);
  await lock(jan, 'estimated');
  await generate(run, jan);
  assert.equal((await billOf(run, jan)).usage[0]?.quantity, String(5 * 31));
  await skipBill(run, jan);
  const feb = await read(february, ['118', '28/02/2026']);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '0', '28/02/2026', '118', '118']]);
  // By the day: an estimate does not say how much was used until then.
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/01/2026', ((118 * 31) / 59) * 20],
    ['energyCharge', '01/02/2026', ((118 * 28) / 59) * 20],
  ]);
});

test('an estimate for an unread meter continues from the reading of the held bill', async () => {
  const { run, read, open, lock, client } = await openHome(scene, estimated);
  await needEnergy(client);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  const feb = await open(february);
  await lock(feb, 'current');
  await generate(run, feb);
  assert.deepEqual(
    (await billOf(run, feb)).errors.map(({ code }) => code),
    ['READING_MISSING'],
  );
  await lock(feb, 'estimated');
  await generate(run, feb);
  const bill = await billOf(run, feb);
  const [[from, before, to, , use]] = readingsOn(bill) as [string[]];
  assert.deepEqual([from, before, to], ['01/01/2026', '0', '28/02/2026']);
  const [first, second] = bill.lines;
  assert.equal(first?.amount, 100 * 20);
  assert.equal(second?.amount, (Number(use) - 100) * 20);
  assert.ok(Number(use) > 100);
});

test('the reading of a held bill is billed if the plan needs no new reading', async () => {
  const { run, read, open, lock } = await openHome(scene);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  const feb = await open(february);
  await lock(feb);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(daysOf(bill), ['Draft', '01/01/2026', '28/02/2026']);
  assert.deepEqual(linesOf(bill)[0], ['energyCharge', '01/01/2026', 100 * 20]);
  await post(run, feb);
  const mar = await read(march, ['300', '31/03/2026']);
  await generate(run, mar);
  assert.deepEqual(readingsOn(await billOf(run, mar)), [
    ['31/01/2026', '100', '31/03/2026', '300', '200'],
  ]);
});

test('where the reading before is taken again, what was read for the bill that was held is billed', async () => {
  const { run, read, open, lock } = await openHome(scene);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  const feb = await open(february);
  await lock(feb, 'previous');
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '0', '31/01/2026', '100', '100']]);
  assert.equal(bill.currentCharges, 100 * 20 * 1.1);
});

test('a register that passed its highest value in the days of a bill that was held', async () => {
  const { run, read, client, number } = await openHome(scene, {}, { value: '999900' });
  const jan = await read(january);
  await client.makeReadings({
    readings: [{ number, value: '50', readingDate: '31/01/2026', rollover: true }],
  });
  await client.postMeterReadings({
    operation: 'schedule',
    data: { termID: jan, reading: 'current' },
  });
  await skipBill(run, jan);
  const feb = await read(february, ['170', '28/02/2026']);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '999900', '28/02/2026', '170', '270']]);
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/01/2026', 150 * 20],
    ['energyCharge', '01/02/2026', 120 * 20],
  ]);
});

test('a register that passed its highest value, and then where it had begun', async () => {
  const { run, read, client, number } = await openHome(scene, {}, { value: '400000' });
  const turn = (value: string, readingDate: string) =>
    client.makeReadings({ readings: [{ number, value, readingDate, rollover: true }] });
  const jan = await read(january);
  await turn('100000', '31/01/2026');
  await client.postMeterReadings({
    operation: 'schedule',
    data: { termID: jan, reading: 'current' },
  });
  await skipBill(run, jan);
  const feb = await read(february, ['900000', '28/02/2026']);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '400000', '28/02/2026', '900000', '1500000']]);
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/01/2026', 700_000 * 20],
    ['energyCharge', '01/02/2026', 800_000 * 20],
  ]);
  // And a second time, before the end of March.
  await skipBill(run, feb);
  await turn('500000', '31/03/2026');
  const mar = await read(march);
  await generate(run, mar);
  const last = await billOf(run, mar);
  assert.deepEqual(readingsOn(last), [['01/01/2026', '400000', '31/03/2026', '500000', '2100000']]);
  assert.equal(last.usage[0]?.quantity, '2100000');
});

/** A home whose meter shows what was used since the last reading. */
async function openSending() {
  const sender = {
    name: 'Sends what was used',
    utility: 'Electricity',
    registers: [{ register: 'kWh', unit: 'kWh', kind: 'Consumptive' as const, digits: 7 }],
  };
  const home = await openHome(scene);
  const { client, newMeter, connection, number } = home;
  const { headers } = await client.makeMeterTypes({ meterTypes: [sender] });
  const newNumber = await newMeter({ meterType: Number(headers.get('x-resource-id')) });
  await client.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber,
      replaceDate: '01/01/2026',
      finalReadings: [{ value: '0' }],
      initialReadings: [{ value: '0' }],
    },
  });
  return { ...home, newNumber };
}

test('a register that shows use and not a count', async () => {
  const { run, read, newNumber } = await openSending();
  await skipBill(run, await read(january, ['100', '31/01/2026', '', newNumber]));
  const feb = await read(february, ['120', '28/02/2026', '', newNumber]);
  await generate(run, feb);
  assert.deepEqual(linesOf(await billOf(run, feb)).slice(0, 2), [
    ['energyCharge', '01/01/2026', 100 * 20],
    ['energyCharge', '01/02/2026', 120 * 20],
  ]);
});

test('days off between two bills are no reason to bill what was read before again', async () => {
  const { run, read, client, connection } = await openHome(scene);
  const off = { connectionNumber: connection, effectiveDate: '21/01/2026' };
  await client.disconnectConnection({ data: { ...off, kind: 'Temporary' } });
  const jan = await read(january, ['100', '31/01/2026']);
  await generate(run, jan);
  assert.equal((await billOf(run, jan)).billedTo, '20/01/2026');
  await post(run, jan);
  const on = { connectionNumber: connection, effectiveDate: '10/02/2026', force: true };
  await client.reconnectConnection({ data: on });
  const feb = await read(february, ['220', '28/02/2026']);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['31/01/2026', '100', '28/02/2026', '220', '120']]);
});

test('what the term before billed in its days of grace is not billed by one that had read less', async () => {
  const { run, open, upload, lock, read } = await openHome(scene);
  const [jan, feb] = [await open(january), await open(february)];
  await upload(feb, [['150', '02/02/2026']]);
  await lock(feb);
  await upload(jan, [['170', '04/02/2026']]);
  await lock(jan);
  const bills: unknown[] = [];
  const bill = async (term: number) => {
    await generate(run, term);
    bills.push(...readingsOn(await billOf(run, term)));
    await post(run, term);
  };
  await bill(jan);
  await bill(feb);
  await bill(await read(march, ['400', '31/03/2026']));
  assert.deepEqual(bills, [
    ['01/01/2026', '0', '04/02/2026', '170', '170'],
    ['04/02/2026', '170', '04/02/2026', '170', '0'],
    ['04/02/2026', '170', '31/03/2026', '400', '230'],
  ]);
});

test('of a register that shows use, too', async () => {
  const { run, open, upload, lock, read, newNumber } = await openSending();
  const [jan, feb] = [await open(january), await open(february)];
  await upload(feb, [['150', '02/02/2026', '', newNumber]]);
  await lock(feb);
  await upload(jan, [['20', '04/02/2026', '', newNumber]]);
  await lock(jan);
  const quantities: unknown[] = [];
  const bill = async (term: number) => {
    await generate(run, term);
    quantities.push((await billOf(run, term)).usage[0]?.quantity);
    await post(run, term);
  };
  await bill(jan);
  await bill(feb);
  await bill(await read(march, ['230', '31/03/2026', '', newNumber]));
  assert.deepEqual(quantities, [String(150 + 20), '0', '230']);
});

test('a term that locked its readings before the one before it did', async () => {
  const { run, open, upload, lock } = await openHome(scene);
  const [jan, feb] = [await open(january), await open(february)];
  await upload(jan, [['100', '31/01/2026']]);
  await upload(feb, [['220', '28/02/2026']]);
  await lock(feb);
  await lock(jan);
  await lock(feb);
  await generate(run, jan);
  assert.deepEqual(readingsOn(await billOf(run, jan)), [
    ['01/01/2026', '0', '31/01/2026', '100', '100'],
  ]);
  await post(run, jan);
  await generate(run, feb);
  assert.deepEqual(readingsOn(await billOf(run, feb)), [
    ['31/01/2026', '100', '28/02/2026', '220', '120'],
  ]);
});

test('what a later term took over is not billed again when its own term is cancelled', async () => {
  const { run, read, client, connection, number, newMeter } = await openHome(scene);
  const newNumber = await newMeter();
  await client.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber,
      replaceDate: '15/01/2026',
      finalReadings: [{ value: '60' }],
      initialReadings: [{ value: '7' }],
    },
  });
  const jan = await read(january, ['47', '31/01/2026', '', newNumber]);
  const feb = await read(february, ['167', '28/02/2026', '', newNumber]);
  await generate(run, feb);
  assert.equal((await billOf(run, feb)).usage[0]?.quantity, String(60 + 160));
  await post(run, feb);
  await client.cancelTerm({ data: { termID: jan, reason: 'its days are billed' } });
  const mar = await read(march, ['290', '31/03/2026', '', newNumber]);
  await generate(run, mar);
  assert.deepEqual(readingsOn(await billOf(run, mar)), [
    ['28/02/2026', '167', '31/03/2026', '290', '123'],
  ]);
});
