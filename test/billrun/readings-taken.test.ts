// Readings that a term has taken, and what becomes of its bills when they are given back, cannot be
// estimated, or no longer fit its days.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import {
  billOf,
  february,
  january,
  linesOf,
  march,
  needEnergy,
  openHome,
  readingsOn,
} from '../support/skipped-bills.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

type Home = Awaited<ReturnType<typeof openHome>>;

/** 310 units in January, and a plan that needs them. */
async function billedJanuary(
  usage: object = {},
  service: Parameters<typeof openHome>[1] = {},
): Promise<Home> {
  const home = await openHome(scene, service);
  const { client, run, read } = home;
  await needEnergy(client, usage);
  const term = await read(january, ['310', '31/01/2026']);
  await generate(run, term);
  await post(run, term);
  return home;
}

test('a hold of an operator outlives readings that are given back', async () => {
  const { client, run, read, lock } = await openHome(scene);
  const term = await read(january, ['100', '31/01/2026']);
  await generate(run, term);
  const { billID } = await billOf(run, term);
  await client.holdBill({ data: { billID, hold: true, reason: 'fraud' } });
  await client.unpostMeterReadings({ data: { termID: term } });
  assert.equal((await termOf(client, term)).stale, true);
  await lock(term);
  await generate(run, term);
  const bill = await billOf(run, term);
  assert.deepEqual([bill.billID, bill.status, bill.hold], [billID, 'Hold', 1]);
  await client.cancelTerm({ data: { termID: term, reason: 'not needed' } });
  assert.deepEqual((await client.getBills({ termID: term })).data.bills, []);
});

test('readings that are given back take no drafts along but those made of them', async () => {
  const { client, run, read, lock, newSubscription } = await openHome(scene);
  const flat = await newSubscription({ billedThrough: '2025-12-31' });
  const termID = await read(january, ['100', '31/01/2026']);
  await generate(run, termID);
  const [metered, unmetered] = await billsOf(run, termID);
  assert.equal(unmetered?.connectionNumber, flat);
  const { message } = await client.unpostMeterReadings({ data: { termID } });
  assert.equal(message, '1 reading unlocked, 1 draft deleted');
  assert.deepEqual(await billsOf(run, termID), [unmetered]);
  // What is left is not posted by itself.
  const { stage, stale } = await termOf(client, termID);
  assert.deepEqual([stage, stale], ['Generated', true]);
  await refuses(post(run, termID, true), 'TERM_STALE_GENERATE_AGAIN', { statusCode: 409 });
  await refuses(generate(run, termID), 'READINGS_NOT_POSTED');

  await lock(termID);
  await generate(run, termID);
  const again = await billsOf(run, termID);
  assert.deepEqual(
    again.map((bill) => [bill.connectionNumber, bill.currentCharges]),
    [metered, unmetered].map((bill) => [bill?.connectionNumber, bill?.currentCharges]),
  );
  assert.equal(again[1]?.billID, unmetered?.billID);
  assert.deepEqual((await client.compareRuns({ termID })).data.differences, []);
  await post(run, termID);
  assert.equal((await termOf(client, termID)).status, 'Posted');
});

for (const postType of ['Post Account', 'Post Party'] as const) {
  test(`${postType}: a bill goes with the readings of one of its subscriptions`, async () => {
    const { client, run, read, newSubscription } = await openHome(scene, { postType });
    await client.makeUsers({ userType: 'customer', users: [{ name: 'B. Khan' }] });
    const connectionGroups = [{ connectionGroupLabel: 'House 2' }];
    await client.updateUser({ user: { partyID: 2, connectionGroups } });
    const facts = { billedThrough: '2025-12-31' };
    await newSubscription(facts);
    const others = [await newSubscription(facts), await newSubscription(facts)];
    await rowsOf(
      run,
      `update subscriptions set party_id = 2, account_id = 2
       where tenant_id = $1 and subscription_number = any($2)`,
      [others],
    );
    const termID = await read(january, ['100', '31/01/2026']);
    await generate(run, termID);
    const bills = await billsOf(run, termID);
    assert.deepEqual(
      bills.map((bill) => bill.partyName),
      ['Asma Khan', 'B. Khan'],
    );
    const { message } = await client.unpostMeterReadings({ data: { termID } });
    assert.equal(message, '1 reading unlocked, 1 draft deleted');
    assert.deepEqual(await billsOf(run, termID), bills.slice(1));
  });
}

test('a term cannot end before the readings that it has taken', async () => {
  const { client, run, read, lock, upload } = await openHome(scene);
  const termID = await read(january, ['310', '31/01/2026']);
  const refused = client.updateTerm({ data: { termID, endDate: '15/01/2026' } });
  await refuses(refused, 'READING_LOCKED', { field: 'data.endDate', statusCode: 409 });
  assert.equal((await termOf(client, termID)).endDate, '31/01/2026');
  // The reading lies in the days of grace after the new end.
  await client.updateTerm({ data: { termID, endDate: '30/01/2026' } });
  await client.unpostMeterReadings({ data: { termID } });
  await client.updateTerm({ data: { termID, endDate: '15/01/2026' } });
  await upload(termID, [['150', '15/01/2026']]);
  await lock(termID);
  await generate(run, termID);
  assert.deepEqual(readingsOn(await billOf(run, termID)), [
    ['01/01/2026', '0', '15/01/2026', '150', '150'],
  ]);
});

test('a plan that allows no estimates has none', async () => {
  for (const estimate of ['Allowed', 'NotAllowed']) {
    const { run, open, lock } = await billedJanuary({ estimate });
    const term = await open(february);
    const { message } = await lock(term, 'estimated');
    await generate(run, term);
    const bill = await billOf(run, term);
    if (estimate === 'Allowed') {
      assert.equal(message, '0 readings locked, 1 estimated');
      assert.equal(bill.status, 'Draft');
    } else {
      assert.match(message, /^0 readings locked, 1 missing\./);
      assert.equal(bill.status, 'Error');
    }
  }
});

test('a bill reports that no estimate was possible, or that estimates were not requested', async () => {
  const estimation = { allowed: 1, maxConsecutive: 1 };
  const meteredInputs = [{ name: 'energy', unit: 'kWh', estimation }];
  const { client, run, open, lock } = await billedJanuary({}, { meteredInputs } as never);
  const feb = await open(february);
  await lock(feb, 'estimated');
  await generate(run, feb);
  await post(run, feb);
  const termID = await open(march);
  const codeAfter = async (reading: string) => {
    await lock(termID, reading);
    await generate(run, termID);
    const bill = await billOf(run, termID);
    return bill.errors.map(({ code }) => code);
  };
  assert.deepEqual(await codeAfter('current'), ['READING_MISSING']);
  assert.deepEqual(await codeAfter('estimated'), ['ESTIMATE_NOT_POSSIBLE']);
  const { data } = await client.getBillTerm({ billTermID: termID });
  assert.deepEqual(
    data.exceptions.map(({ code }) => code),
    ['ESTIMATE_NOT_POSSIBLE'],
  );
  assert.deepEqual(await codeAfter('previous'), []);
});

/**
 * A home that used 310 units in January 2025 and 62 in December, with a new meter installed since.
 */
async function yearWithNewMeter(way: 'exchanged' | 'added') {
  const estimation = { allowed: 1 };
  const meteredInputs = [{ name: 'energy', unit: 'kWh', estimation }];
  const service = { meteredInputs, holdRules: [] } as never;
  const place = await openMetered(scene, `new-meter-${way}`, service);
  const { admin: client, tenantId, newMeter } = place;
  const run = { scene, client, tenantId };
  const facts = { connectionDate: '2024-12-31', billedThrough: '2024-12-31' };
  const connectionNumber = await place.newSubscription(facts);
  const [number, newNumber] = [await newMeter(), await newMeter()];
  const meteredInput = 'energy';
  const hang = (one: number, installDate: string) => {
    const data = { connectionNumber, number: one, installDate, meteredInput };
    return client.assignMeter({ data: { ...data, initialReadings: [{ value: '0' }] } });
  };
  const { data } = await client.getServices({});
  const serviceCode = data.services[0]?.serviceCode ?? '';
  /** A term, with what each meter shows on its last day. */
  const bill = async (startDate: string, endDate: string, shown: readonly [number, string][]) => {
    const termID = await newTerm(client, { serviceCode, startDate, endDate });
    const readings = shown.map(([one, value]) => ({ number: one, value, readingDate: endDate }));
    if (readings.length > 0) await client.makeReadings({ readings });
    const reading = 'estimated';
    await client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
    await generate(run, termID);
    const made = await billOf(run, termID);
    await post(run, termID);
    return made.meterReadings.find((one) => one.meterNumber === newNumber);
  };
  await hang(number, '01/01/2025');
  await bill('01/01/2025', '31/01/2025', [[number, '310']]);
  await bill('01/02/2025', '30/11/2025', [[number, '613']]);
  if (way === 'exchanged') {
    const meters = { connectionNumber, oldNumber: number, newNumber };
    const [finalReadings, initialReadings] = [[{ value: '613' }], [{ value: '0' }]];
    const replaced = { ...meters, replaceDate: '01/12/2025', finalReadings, initialReadings };
    await client.replaceMeter({ data: replaced });
  } else {
    await hang(newNumber, '01/12/2025');
  }
  const old = (value: string): [number, string][] => (way === 'added' ? [[number, value]] : []);
  await bill('01/12/2025', '31/12/2025', [[newNumber, '62'], ...old('623')]);
  return bill('01/01/2026', '31/01/2026', old('633'));
}

test('a meter that was exchanged is estimated by the same term last year', async () => {
  const reading = await yearWithNewMeter('exchanged');
  // 62 + 310, as in January 2025; December had 62.
  assert.deepEqual([reading?.currentReading, reading?.readingType], ['372', 'Estimated']);
});

test('a meter that was added is not estimated by what another has measured', async () => {
  const reading = await yearWithNewMeter('added');
  // 62 in the 31 days since its installation: 62 + 62.
  assert.deepEqual([reading?.currentReading, reading?.readingType], ['124', 'Estimated']);
});

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
