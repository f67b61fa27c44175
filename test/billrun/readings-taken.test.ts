// Readings that a term has taken, and what becomes of its bills when they are given back, cannot be
// estimated, or no longer fit its days.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { forms } from '../support/forms.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import {
  billOf,
  february,
  january,
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

for (const postType of forms(['Post Account', 'Post Party'] as const)) {
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
