// Substitutes for missing readings, and readings that arrive after them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post, rowsOf } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { forms } from '../support/forms.ts';
import { openScene } from '../support/scene.ts';
import {
  billOf,
  february,
  january,
  needEnergy,
  openHome,
  readingsOn,
} from '../support/skipped-bills.ts';

const scene = await openScene();
scene.runJobs();

type Home = Awaited<ReturnType<typeof openHome>>;

/** January is billed, 310 units; February is open, and estimated up to 590 at 10 a day. */
async function openEstimated(): Promise<{ home: Home; term: number }> {
  const home = await openHome(scene);
  const first = await home.read(january, ['310', '31/01/2026']);
  await generate(home.run, first);
  await post(home.run, first);
  const term = await home.open(february);
  await home.lock(term, 'estimated');
  return { home, term };
}

async function billed({ run }: Home, term: number) {
  await generate(run, term);
  return readingsOn(await billOf(run, term));
}

test('a reading of the days before an estimate takes its place', async () => {
  const { home, term } = await openEstimated();
  const [[, , , estimate] = []] = await billed(home, term);
  await home.upload(term, [['620', '25/02/2026']]);
  assert.ok(Number(estimate) < 620, 'the estimate is below what was read three days before it');
  assert.equal((await home.lock(term)).message, '1 reading locked');
  assert.deepEqual(await billed(home, term), [['31/01/2026', '310', '25/02/2026', '620', '310']]);
  const rejected = await rowsOf(
    home.run,
    `select trim_scale(value)::text as value from readings
     where tenant_id = $1 and status = 'Rejected'`,
  );
  assert.deepEqual(rejected, [{ value: estimate }]);
});

test('two runs differ by an estimate that was read, and still do when the bill is cancelled', async () => {
  const { home, term } = await openEstimated();
  const [[, , , estimate] = []] = await billed(home, term);
  await home.upload(term, [[estimate ?? '', '28/02/2026']]);
  await home.lock(term);
  await generate(home.run, term);
  const causes = async () => {
    const { data } = await home.client.compareRuns({ termID: term, runID: 2, againstRunID: 1 });
    return data.differences.map((one) => one.causes.map(({ before, after }) => [before, after]));
  };
  const day = `${estimate} on 28/02/2026`;
  assert.deepEqual(await causes(), [[[`${day} (estimated)`, day]]]);
  await post(home.run, term);
  const { billID } = await billOf(home.run, term);
  await home.client.cancelBill({ data: { billID, reason: 'wrong' } });
  assert.deepEqual(await causes(), [[[`${day} (estimated)`, day]]]);
});

test('one that comes after it is judged by what was read, and not by the estimate', async () => {
  const { home, term } = await openEstimated();
  // 330 units since 31/01, 11 a day; since the estimate it would be 25 a day.
  await home.upload(term, [['640', '02/03/2026']]);
  const { data } = await home.client.getReadings({ status: 'Review' });
  assert.deepEqual(data.readings, []);
});

test('a meter is removed on a date before an estimate', async () => {
  const { home, term } = await openEstimated();
  const newNumber = await home.newMeter();
  const [finalReadings, initialReadings] = [[{ value: '570' }], [{ value: '0' }]];
  const meters = { connectionNumber: home.connection, oldNumber: home.number, newNumber };
  const data = { ...meters, replaceDate: '25/02/2026', finalReadings, initialReadings };
  await home.client.replaceMeter({ data });
  await home.upload(term, [['30', '28/02/2026', '', newNumber]]);
  await home.lock(term);
  assert.deepEqual(await billed(home, term), [
    ['31/01/2026', '310', '25/02/2026', '570', '260'],
    ['25/02/2026', '0', '28/02/2026', '30', '30'],
  ]);
});

test('a term for which readings are estimated keeps its end', async () => {
  const { home, term } = await openEstimated();
  const move = (endDate: string) => home.client.updateTerm({ data: { termID: term, endDate } });
  for (const day of ['26/02/2026', '05/03/2026']) {
    await refuses(move(day), 'READING_LOCKED', { field: 'data.endDate', statusCode: 409 });
  }
  await home.client.unpostMeterReadings({ data: { termID: term } });
  await move('05/03/2026');
});

/**
 * A home whose meter sends what was used, or shows the highest load; January is read and billed.
 */
async function openOther(kind: 'Consumptive' | 'Demand') {
  const home = await openHome(scene);
  await needEnergy(home.client);
  const { client, connection, number: oldNumber } = home;
  const registers = [{ register: 'kWh', unit: 'kWh', kind, digits: 6 }];
  const type = { name: kind, utility: 'Electricity', registers };
  const { headers } = await client.makeMeterTypes({ meterTypes: [type] });
  const number = await home.newMeter({ meterType: Number(headers.get('x-resource-id')) });
  const meters = { connectionNumber: connection, oldNumber, newNumber: number };
  const finalReadings = [{ value: '0' }];
  const data = { ...meters, replaceDate: '01/01/2026', finalReadings, initialReadings: [] };
  await client.replaceMeter({ data });
  const rows = ['100 10/01', '100 20/01', '110 31/01'].map((row) => rowOf(row, number));
  const first = await home.read(january, ...rows);
  await generate(home.run, first);
  await post(home.run, first);
  return { home, number };
}

const rowOf = (row: string, number: number): [string, string, string, number] => {
  const [value = '', day = ''] = row.split(' ');
  return [value, `${day}/2026`, '', number];
};

for (const kind of forms(['Consumptive', 'Demand'] as const)) {
  test(`${kind}: it was not read, and has no usage`, async () => {
    const { home } = await openOther(kind);
    const term = await home.open(february);
    assert.match((await home.lock(term, 'previous')).message, /^0 readings locked, 1 /);
    await generate(home.run, term);
    const bill = await billOf(home.run, term);
    assert.deepEqual([bill.status, bill.usage[0]?.quantity], ['Draft', '0']);
    await post(home.run, term);
  });
}

test('of use that is sent, a reading in the middle that is under review is waited for', async () => {
  const { home, number } = await openOther('Consumptive');
  const term = await home.open(february);
  const rows = ['100 10/02', '500 20/02', '90 28/02'].map((row) => rowOf(row, number));
  await home.upload(term, rows);
  await home.lock(term);
  await generate(home.run, term);
  const bill = await billOf(home.run, term);
  assert.deepEqual(
    bill.errors.map(({ code }) => code),
    ['READING_UNDER_REVIEW'],
  );
  const { data } = await home.client.getReadings({ status: 'Review' });
  const readingID = data.readings[0]?.readingID ?? 0;
  await home.client.reviewReading({
    data: { readingID, decision: 'Accept', remark: 'so it is' },
  });
  await home.lock(term);
  await generate(home.run, term);
  // 100 + 500 + 90.
  assert.equal((await billOf(home.run, term)).usage[0]?.quantity, '690');
});
