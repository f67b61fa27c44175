// Estimates for the term after the first: the rate per day counts the days that were billed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type Running } from '../support/bill-run.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

type Meter = { installDate: string; read: [value: string, date: string]; connectionDate?: string };

let places = 0;

/** Each meter has factor 2 and shows 1000 when installed; August is read, billed and posted. */
async function openAugust(meters: readonly Meter[]) {
  places += 1;
  const place = await openMetered(scene, `first-${places}`, { holdRules: [] });
  const { admin: client, tenantId, serviceCode } = place;
  const run: Running = { scene, client, tenantId };
  const numbers: number[] = [];
  const connections: string[] = [];
  for (const { installDate, connectionDate } of meters) {
    const [day, month, year] = (connectionDate ?? installDate).split('/');
    const connection = await place.newSubscription({ connectionDate: `${year}-${month}-${day}` });
    const number = await place.newMeter({ mf: 2 });
    const initialReadings = [{ value: '1000' }];
    await client.assignMeter({
      data: { connectionNumber: connection, number, installDate, initialReadings },
    });
    numbers.push(number);
    connections.push(connection);
  }
  const lock = (termID: number, reading: string) =>
    client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
  const august = await newTerm(client, {
    serviceCode,
    startDate: '01/08/2026',
    endDate: '31/08/2026',
  });
  await client.makeReadings({
    readings: meters.map(({ read: [value, readingDate] }, at) => ({
      number: numbers[at] ?? 0,
      value,
      readingDate,
    })),
  });
  await lock(august, 'current');
  await generate(run, august);
  const bills = await billsOf(run, august);
  await post(run, august);
  return { run, client, serviceCode, lock, bills, numbers, connections };
}

type August = Awaited<ReturnType<typeof openAugust>>;

async function estimatedSeptember({ run, client, serviceCode, lock }: August): Promise<string[]> {
  const term = await newTerm(client, {
    serviceCode,
    startDate: '01/09/2026',
    endDate: '30/09/2026',
  });
  await lock(term, 'estimated');
  await generate(run, term);
  return usesOf(await billsOf(run, term));
}

const usesOf = (bills: August['bills']) => bills.map((bill) => bill.usage[0]?.quantity ?? '');

const twins: Meter[] = [
  { installDate: '01/08/2026', read: ['1100', '31/08/2026'] },
  { installDate: '31/07/2026', read: ['1100', '31/08/2026'] },
];

test('meters installed on the first day of a term and the day before have one estimate', async () => {
  const august = await openAugust(twins);
  assert.deepEqual(
    august.bills.map((bill) => [bill.days, bill.usage[0]?.quantity]),
    [
      [31, '200'],
      [31, '200'],
    ],
  );
  // 200 units in 31 days; in 30 days 193.5, of a register that counts twos 194.
  assert.deepEqual(await estimatedSeptember(august), ['194', '194']);
});

test('a meter installed inside a term is estimated by the days since its installation', async () => {
  const inside = { installDate: '15/08/2026', read: ['1034', '31/08/2026'] } as const;
  const later = { ...inside, connectionDate: '01/08/2026' };
  const august = await openAugust([inside, later].map((one) => ({ ...one, read: [...one.read] })));
  assert.deepEqual(
    august.bills.map((bill) => bill.days),
    [17, 31],
  );
  // 68 units in the 17 days from 15/08 to 31/08: 4 a day, also where days without a meter are
  // billed.
  assert.deepEqual(await estimatedSeptember(august), ['120', '120']);
});

test('the first term is estimated for all its days at the default rate', async () => {
  const estimation = { allowed: 1, defaultDaily: '4' };
  const place = await openMetered(scene, 'first-default', {
    holdRules: [],
    meteredInputs: [{ name: 'energy', unit: 'kWh', estimation }],
  } as never);
  const { admin: client, tenantId, serviceCode } = place;
  const run: Running = { scene, client, tenantId };
  for (const installDate of ['01/08/2026', '31/07/2026']) {
    const [day, month, year] = installDate.split('/');
    const connectionDate = `${year}-${month}-${day}`;
    const connectionNumber = await place.newSubscription({ connectionDate });
    await client.assignMeter({
      data: { connectionNumber, number: await place.newMeter(), installDate },
    });
  }
  const days = { startDate: '01/08/2026', endDate: '31/08/2026' };
  const termID = await newTerm(client, { serviceCode, ...days });
  const data = { termID, reading: 'estimated' };
  await client.postMeterReadings({ operation: 'schedule', data });
  await generate(run, termID);
  assert.deepEqual(usesOf(await billsOf(run, termID)), ['124', '124']);
});

test('the estimate of a removed meter has the same rate per day', async () => {
  const { client, numbers, connections } = await openAugust(twins);
  const uses: (string | null | undefined)[] = [];
  for (const [at, number] of numbers.entries()) {
    const connectionNumber = connections[at] ?? '';
    await client.removeMeter({ data: { connectionNumber, number, removeDate: '30/09/2026' } });
    const { data } = await client.getReadings({ number });
    uses.push(data.readings.find((one) => one.readingDate === '30/09/2026')?.consumption);
  }
  assert.deepEqual(uses, ['194', '194']);
});
