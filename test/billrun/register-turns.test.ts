// Registers that turn over or are read late, several times a day, or when the supply is cut off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post } from '../support/bill-run.ts';
import { openScene } from '../support/scene.ts';
import {
  billOf,
  february,
  january,
  linesOf,
  openHome,
  readingsOn,
} from '../support/skipped-bills.ts';

const scene = await openScene();
scene.runJobs();

type Home = Awaited<ReturnType<typeof openHome>>;

test('a register that turned over inside the term is billed for the whole turn, wherever it ends', async () => {
  const ways = [
    // Turned over, then climbed past where it began.
    { first: ['100000', true], last: ['900000', false], use: '1500000' },
    // Climbed, then turned over and past where it began.
    { first: ['990000', false], last: ['450000', true], use: '1050000' },
    // Twice.
    { first: ['300000', true], last: ['200000', true], use: '1800000' },
  ] as const;
  for (const { first, last, use } of ways) {
    const meter = { value: '400000' };
    const { run, open, client, number, lock } = await openHome(scene, {}, meter);
    const term = await open(january);
    for (const [[value, rollover], readingDate] of [
      [first, '15/01/2026'],
      [last, '31/01/2026'],
    ] as const) {
      await client.makeReadings({ readings: [{ number, value, readingDate, rollover }] });
    }
    await lock(term);
    await generate(run, term);
    const bill = await billOf(run, term);
    const read = ['01/01/2026', '400000', '31/01/2026', last[0], use];
    assert.deepEqual(readingsOn(bill), [read]);
    assert.equal(bill.meterReadings[0]?.rollover, 1);
    assert.equal(bill.lines[0]?.amount, Number(use) * 20);
  }
});

test('an estimate that was too high after a turn is no second turn', async () => {
  const { run, open, client, number, lock } = await openHome(scene, {}, { value: '990000' });
  const term = await open(january);
  const readings = [
    { number, value: '10000', readingDate: '10/01/2026', rollover: true },
    { number, value: '20000', readingDate: '20/01/2026', readingType: 'Estimated' as const },
    { number, value: '15000', readingDate: '31/01/2026' },
  ];
  for (const reading of readings) await client.makeReadings({ readings: [reading] });
  await lock(term);
  await generate(run, term);
  assert.deepEqual(readingsOn(await billOf(run, term)), [
    ['01/01/2026', '990000', '31/01/2026', '15000', '25000'],
  ]);
});

test('several readings of a day count in the order of their times', async () => {
  const { run, open, client, number, lock } = await openHome(scene, {}, { value: '5' });
  const term = await open(january);
  for (const [value, readingDate, readingTime, rollover] of [
    ['999990', '15/01/2026', '08:00', false],
    ['10', '15/01/2026', '18:00', true],
    ['500', '31/01/2026', '08:00', false],
  ] as const) {
    const reading = { number, value, readingDate, readingTime, rollover };
    await client.makeReadings({ readings: [reading] });
  }
  await lock(term);
  await generate(run, term);
  assert.deepEqual(readingsOn(await billOf(run, term)), [
    ['01/01/2026', '5', '31/01/2026', '500', '1000495'],
  ]);
});

test('a turn before the last reading of a day is not billed again by the next term', async () => {
  const home = await openHome(scene, {}, { value: '900000' });
  const { run, open, read, client, number, connection, lock } = home;
  const jan = await open(january);
  for (const [value, readingTime, rollover] of [
    ['10000', '08:00', true],
    ['20000', '18:00', false],
  ] as const) {
    const reading = { number, value, readingDate: '31/01/2026', readingTime, rollover };
    await client.makeReadings({ readings: [reading] });
  }
  await lock(jan);
  await generate(run, jan);
  assert.deepEqual(readingsOn(await billOf(run, jan)), [
    ['01/01/2026', '900000', '31/01/2026', '20000', '120000'],
  ]);
  await post(run, jan);
  // A bill of days in several parts looks at more than its first reading and its last.
  const off = { connectionNumber: connection, effectiveDate: '10/02/2026' };
  await client.disconnectConnection({ data: { ...off, kind: 'Temporary' } });
  const on = { connectionNumber: connection, effectiveDate: '12/02/2026', force: true };
  await client.reconnectConnection({ data: on });
  const feb = await read(february, ['50000', '28/02/2026']);
  await generate(run, feb);
  assert.deepEqual(readingsOn(await billOf(run, feb)), [
    ['31/01/2026', '20000', '28/02/2026', '50000', '30000'],
  ]);
});

test('of a register that shows use, what was read twice on the last day is billed once', async () => {
  const { run, open, read, client, newMeter, connection, number, lock } = await openHome(scene);
  const sender = {
    name: 'Sends what was used',
    utility: 'Electricity',
    registers: [{ register: 'kWh', unit: 'kWh', kind: 'Consumptive' as const, digits: 7 }],
  };
  const { headers } = await client.makeMeterTypes({ meterTypes: [sender] });
  const newNumber = await newMeter({ meterType: Number(headers.get('x-resource-id')) });
  const meters = { connectionNumber: connection, oldNumber: number, newNumber };
  const [finalReadings, initialReadings] = [[{ value: '0' }], [{ value: '0' }]];
  const data = { ...meters, replaceDate: '01/01/2026', finalReadings, initialReadings };
  await client.replaceMeter({ data });
  const jan = await open(january);
  for (const [value, readingTime] of [
    ['70', '08:00'],
    ['50', '18:00'],
  ] as const) {
    const reading = { number: newNumber, value, readingDate: '31/01/2026', readingTime };
    await client.makeReadings({ readings: [reading] });
  }
  await lock(jan);
  await generate(run, jan);
  assert.equal((await billOf(run, jan)).usage[0]?.quantity, '120');
  await post(run, jan);
  const feb = await read(february, ['200', '28/02/2026', '', newNumber]);
  await generate(run, feb);
  assert.equal((await billOf(run, feb)).usage[0]?.quantity, '200');
});

/** The plan does without readings: January, in which 100 are used, is billed for nothing. */
async function billedUnread(home: Home, uploaded: [string, string][]): Promise<void> {
  const term = await home.open(january);
  await home.upload(term, uploaded);
  await home.lock(term);
  await generate(home.run, term);
  assert.equal((await billOf(home.run, term)).currentCharges, 0);
  await post(home.run, term);
}

test('use of billed days that is read after their bill is on the next one', async () => {
  const home = await openHome(scene, {}, { value: '50' });
  await billedUnread(home, []);
  const term = await home.read(february, ['150', '31/01/2026'], ['270', '28/02/2026']);
  await generate(home.run, term);
  assert.deepEqual(readingsOn(await billOf(home.run, term)), [
    ['01/01/2026', '50', '28/02/2026', '270', '220'],
  ]);
});

test('a highest load that is read after its bill is not that of the next term', async () => {
  const registers = [{ register: 'kWh', unit: 'kWh', kind: 'Demand' as const, digits: 6 }];
  const home = await openHome(scene, {}, { value: '0' });
  const { client, connection, number: oldNumber } = home;
  const type = { name: 'Highest load', utility: 'Electricity', registers };
  const { headers } = await client.makeMeterTypes({ meterTypes: [type] });
  const newNumber = await home.newMeter({ meterType: Number(headers.get('x-resource-id')) });
  const meters = { connectionNumber: connection, oldNumber, newNumber, replaceDate: '01/01/2026' };
  const finalReadings = [{ value: '0' }];
  await client.replaceMeter({ data: { ...meters, finalReadings, initialReadings: [] } });
  await billedUnread(home, []);
  const late = ['50', '31/01/2026', '', newNumber] as [string, string, string, number];
  const term = await home.read(february, late, ['30', '28/02/2026', '', newNumber]);
  await generate(home.run, term);
  assert.equal((await billOf(home.run, term)).usage[0]?.quantity, '30');
});

test('use of billed days whose reading was under review is on the next bill', async () => {
  const home = await openHome(scene, {}, { value: '50' });
  await billedUnread(home, [['15', '31/01/2026']]);
  const { data } = await home.client.getReadings({ status: 'Review' });
  const readingID = data.readings[0]?.readingID ?? 0;
  const review = { readingID, decision: 'Accept', value: '150', remark: 'misread' } as const;
  await home.client.reviewReading({ data: review });
  const term = await home.read(february, ['270', '28/02/2026']);
  await generate(home.run, term);
  assert.deepEqual(readingsOn(await billOf(home.run, term)), [
    ['01/01/2026', '50', '28/02/2026', '270', '220'],
  ]);
});

test('what a meter showed when the supply was cut off divides its use', async () => {
  const { run, client, connection, number, read } = await openHome(scene);
  const off = {
    connectionNumber: connection,
    effectiveDate: '11/01/2026',
    kind: 'Temporary',
  } as const;
  await client.disconnectConnection({ data: { ...off, readings: [{ number, value: '100' }] } });
  const on = { connectionNumber: connection, effectiveDate: '21/01/2026', force: true };
  await client.reconnectConnection({ data: on });
  const term = await read(january, ['310', '31/01/2026']);
  await generate(run, term);
  assert.deepEqual(linesOf(await billOf(run, term)), [
    ['energyCharge', '01/01/2026', 100 * 20],
    ['energyCharge', '21/01/2026', 210 * 20],
    ['gst', '01/01/2026', 620],
  ]);
});
