// What an operator reads who makes mistakes in a month.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDate } from '../../src/base/calendar.ts';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
const { admin, serviceCode, hung } = await openMetered(scene, 'messages', { holdRules: [] });
const [plan] = (await admin.getTariffs({})).data.tariffs;
await admin.updateTariff({
  tariff: {
    serviceCode,
    code: plan?.tariffCode ?? '',
    usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    effectiveDate: '01/01/2026',
  },
});
const homes = [await hung(), await hung(), await hung(), await hung(), await hung()];

/** A day of the workspace's clock, counted from today. */
const day = (offset: number) => {
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  return formatDate(today.add({ days: offset }));
};

const operation = 'schedule' as const;
const at = (termID: number) => ({ operation, data: { termID } });

function upload(
  termID: number,
  rows: readonly (readonly [home: number, value: string, date: string])[],
) {
  const readings = rows.map(([home, value, date]) => {
    const { connection = '', number = 0 } = homes[home] ?? {};
    return [connection, String(number), value, date];
  });
  const data = JSON.stringify({ termID, readings });
  return admin.uploadMeterReadings({ operation, data: { data } });
}

const termID = await newTerm(admin, { serviceCode });
const { label } = await termOf(admin, termID);

test('a step that is asked for too early is refused with the missing step and its operation', async () => {
  const messageOf = async (call: Promise<unknown>, code: Parameters<typeof refuses>[1]) =>
    (await refuses(call, code)).error.message;
  assert.equal(
    await messageOf(admin.generateBills(at(termID)), 'READINGS_NOT_POSTED'),
    `Term ${label} bills by meter, and its readings are not posted. \
Post them with post-meter-readings (step 4).`,
  );
  const missing = `Term ${label} is Created. Its bills are not generated. \
Generate them with generate-bills (step 6).`;
  assert.equal(await messageOf(admin.postBills(at(termID)), 'INVALID_STATE'), missing);
  assert.equal(await messageOf(admin.publishBills(at(termID)), 'INVALID_STATE'), missing);
  const distributing = admin.distributeBills({ ...at(termID), billId: null } as never);
  assert.equal(await messageOf(distributing, 'TERM_NOT_PUBLISHED'), missing);
});

test('an upload names the readings under review with their reasons, and those outside the term', async () => {
  const [, second, third] = homes;
  const { message } = await upload(termID, [
    [0, '100', '31/01/2026'],
    [1, '100', '20/01/2026'],
    [1, '90', '31/01/2026'],
    [2, '50', '15/03/2026'],
  ]);
  assert.equal(
    message,
    `4 readings stored, 1 under review: meter ${second?.number} on 31/01/2026 \
(it is lower than the reading before it, or higher than the one after it). \
Decide on each with review-reading. \
Warning: 1 reading is dated outside term ${label}, which takes readings from 01/01/2026 \
to 05/02/2026: meter ${third?.number} on 15/03/2026.`,
  );
});

test('bills in error are named with their codes, where they are made and where posting is refused', async () => {
  await admin.postMeterReadings({ operation, data: { termID, reading: 'current' } });
  const { message } = await admin.generateBills(at(termID));
  const named = (home: number) => `${homes[home]?.connection} READING_`;
  assert.match(message, /^1 bill generated, 4 in error, 0 on hold: /);
  assert.ok(message.includes(named(1)) && message.includes(named(2)), message);
  assert.match(message, / and 1 more$/);
  const { error } = await refuses(admin.postBills(at(termID)), 'TERM_HAS_OPEN_BILLS');
  assert.ok(error.message.startsWith(`Term ${label} has 4 bills in error and 0 on hold: `));
  assert.ok(error.message.includes(named(1)), error.message);
  assert.match(error.message, /send skipErrors: true to leave them for the next term\.$/);
  assert.equal(error.details[0]?.message, '4 in error');
  assert.equal(error.details.length, 5);
});

test('posting twice is refused with the time and the login of the first posting', async () => {
  const skipping = { operation, data: { termID, skipErrors: true } };
  const { message } = await admin.postBills(skipping);
  assert.match(message, /^1 bill posted, 4 left for the next term: .+ and 1 more$/);
  const { error } = await refuses(admin.postBills(skipping), 'INVALID_STATE');
  assert.match(
    error.message,
    /^Term \S+ was posted on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d by \S.*\. To bill it again, unpost its bills with unpost-bills first\.$/,
  );
});

test('bills posted before the end of their term are accepted with a warning', async () => {
  const days = { startDate: day(-20), endDate: day(5), dueDate: day(30) };
  const early = await newTerm(admin, { serviceCode, ...days });
  const { label: name } = await termOf(admin, early);
  await admin.postMeterReadings({ operation, data: { termID: early, reading: 'previous' } });
  await admin.generateBills(at(early));
  const { message } = await admin.postBills({
    operation,
    data: { termID: early, skipErrors: true },
  });
  assert.ok(
    message.endsWith(
      `. Warning: term ${name} ends on ${day(5)}, after today, ${day(0)}. \
Changes until then are not on its bills.`,
    ),
    message,
  );
});

test('an unknown column of a file is answered with the nearest name and all columns', async () => {
  const contentBase64 = Buffer.from('numbr,brand,other thing\n1,Itron,x\n').toString('base64');
  const { error } = await refuses(
    admin.importData({ kind: 'Meters', contentBase64 }),
    'UNKNOWN_FIELD',
  );
  assert.match(
    error.message,
    /^Line 1: there is no column 'numbr'\. Did you mean 'number'\? The columns are number, /,
  );
  assert.equal(error.details[1]?.message, "Line 1: there is no column 'other thing'.");
});
