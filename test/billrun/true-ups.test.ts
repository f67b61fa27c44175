// Estimates that were too high: the next reading corrects them, what was billed too much is
// carried, and nothing that comes after takes the correction for use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post, rowsOf } from '../support/bill-run.ts';
import { forms } from '../support/forms.ts';
import { openScene } from '../support/scene.ts';
import {
  april,
  billOf,
  february,
  january,
  linesOf,
  march,
  openHome,
  readingsOn,
} from '../support/skipped-bills.ts';
import { billMonth, type Month } from '../support/uploaded-homes.ts';

const scene = await openScene();
scene.runJobs();

const may = { startDate: '01/05/2026', endDate: '31/05/2026' };

type Home = Awaited<ReturnType<typeof openHome>>;

/** A home whose meter is estimated at 10 a day. */
function openEstimated(value: string, input = {}, values?: object[]): Promise<Home> {
  const estimation = { allowed: 1, defaultDaily: '10' };
  const energy = { name: 'energy', unit: 'kWh', estimation, ...input };
  const own = { meteredInputs: [energy], ...(values && { values }) };
  return openHome(scene, own as never, { value });
}

/** From the 1st to the 31st: 310. */
async function billEstimate(home: Home): Promise<void> {
  const term = await home.open(january);
  await home.lock(term, 'estimated');
  await generate(home.run, term);
  await post(home.run, term);
}

/** January was estimated and billed. */
async function estimated(...facts: Parameters<typeof openEstimated>): Promise<Home> {
  const home = await openEstimated(...facts);
  await billEstimate(home);
  return home;
}

/** Of a term whose readings are locked. */
async function billed({ run }: Home, term: number) {
  await generate(run, term);
  const bill = await billOf(run, term);
  assert.deepEqual([bill.status, bill.errors], ['Draft', []]);
  await post(run, term);
  return bill;
}

const quantityOf = ({ usage }: { usage: { quantity: string }[] }) =>
  Number(usage[0]?.quantity ?? 0);

for (const start of forms(['0', '5000'])) {
  test(`an estimate after a correction estimates no use below zero: from ${start}`, async () => {
    const home = await estimated(start);
    const { client, connection, number } = home;
    const shown = String(Number(start) + 100);
    const feb = await billed(home, await home.read(february, [shown, '28/02/2026']));
    assert.deepEqual([quantityOf(feb), feb.usage[0]?.carried], [0, '210']);
    const term = await home.open(march);
    assert.match((await home.lock(term, 'estimated')).message, /1 estimated/);
    const mar = await billed(home, term);
    assert.deepEqual(readingsOn(mar), [['28/02/2026', shown, '31/03/2026', shown, '0']]);
    const gone = { connectionNumber: connection, number, removeDate: '10/04/2026', reason: 'old' };
    await client.removeMeter({ data: gone } as never);
    const { data } = await client.getReadings({ number } as never);
    assert.deepEqual(
      data.readings.map((one) => Number(one.value) >= Number(start)),
      data.readings.map(() => true),
    );
  });
}

test('a reading below an estimate is no use that later readings are compared with', async () => {
  const home = await estimated('0');
  await billed(home, await home.read(february, ['100', '28/02/2026']));
  await billed(home, await home.read(march, ['200', '31/03/2026']));
  const term = await home.open(april);
  await home.upload(term, [['320', '30/04/2026']]);
  const { data } = await home.client.getReadings({ status: 'Review' } as never);
  assert.deepEqual(data.readings, []);
});

/** How a home is billed in March, after 310 estimated in January and 100 shown in February. */
const ways: Record<string, Month> = {
  'read every month': { read: '150' },
  'a month without a reading': {},
  'a month with an upload in place of the meter': { read: '150', use: '50' },
};

/** What each home was billed from February to May: they are billed together. */
async function billStreet(): Promise<number[]> {
  const home = await openEstimated('0', { highLow: { highFactor: 1000, lowFactor: 0 } });
  const { connection, number, run } = home;
  const places = [{ connection, number }];
  while (places.length < Object.keys(ways).length) places.push(await home.hung({ value: '0' }));
  await rowsOf(run, `update subscriptions set billed_through = '2025-12-31' where tenant_id = $1`);
  await billEstimate(home);
  const sums = places.map(() => 0);
  const bill = async (days: typeof january, months: Month[]) => {
    const given = places.map((place, index) => ({ ...place, ...months[index] }));
    const bills = await billMonth(home, days, given);
    for (const [index, place] of places.entries()) {
      const own = bills.filter((one) => one.connectionNumber === place.connection);
      assert.equal(own.length, 1);
      for (const one of own) sums[index] = (sums[index] ?? 0) + quantityOf(one);
    }
  };
  const everywhere = (read: string) => places.map(() => ({ read }));
  await bill(february, everywhere('100'));
  await bill(march, Object.values(ways));
  await bill(april, everywhere('250'));
  await bill(may, everywhere('450'));
  return sums;
}

let street: ReturnType<typeof billStreet> | undefined;
for (const [index, way] of Object.keys(ways).entries()) {
  test(`what was billed too much is credited once: ${way}`, async () => {
    street ??= billStreet();
    const later = (await street)[index] ?? 0;
    assert.equal(310 + later, 450, 'as much as the meter went from 0 to 450');
  });
}

test('a register that had not turned over corrects an estimate that had', async () => {
  const home = await estimated('999800');
  const feb = await billed(home, await home.read(february, ['999950', '28/02/2026']));
  assert.deepEqual(readingsOn(feb), [['31/01/2026', '110', '28/02/2026', '999950', '-160']]);
  assert.equal(feb.usage[0]?.carried, '160');
  const mar = await billed(home, await home.read(march, ['200', '31/03/2026']));
  assert.equal(quantityOf(mar), 250 - 160);
});

// 310 estimated in January; 50 shown on 10 February, 100 at its end: nothing is billed and 210 are
// carried. 250 on 10 March and 350 at its end: 150 and 100 used, of which the first 210 are paid.
test('what was billed too much is credited in the order of use where prices change', async () => {
  const value = { name: 'rate', type: 'Number', default: '20', changeInTerm: 'Split' };
  const home = await estimated('0', { highLow: { highFactor: 1000, lowFactor: 0 } }, [value]);
  const [plan] = (await home.client.getTariffs({})).data.tariffs;
  const valueFormulas = [
    { name: 'rate', formula: '30', fromDate: '11/02/2026', toDate: '10/03/2026' },
    { name: 'rate', formula: '40', fromDate: '11/03/2026' },
  ];
  const { serviceCode = '', tariffCode: code = '' } = plan ?? {};
  const effectiveDate = '01/01/2026';
  await home.client.updateTariff({ tariff: { serviceCode, code, effectiveDate, valueFormulas } });
  const feb = await home.read(february, ['50', '10/02/2026'], ['100', '28/02/2026']);
  const ofFebruary = await billed(home, feb);
  assert.deepEqual([quantityOf(ofFebruary), ofFebruary.usage[0]?.carried], [0, '210']);
  assert.deepEqual([linesOf(ofFebruary), ofFebruary.currentCharges], [[], 0]);
  const mar = await home.read(march, ['250', '10/03/2026'], ['350', '31/03/2026']);
  assert.deepEqual(linesOf(await billed(home, mar)), [
    ['energyCharge', '11/03/2026', 1600],
    ['gst', '01/03/2026', 160],
  ]);
});

test('documents tell what an estimate billed too much: on the bill that finds it, and the next', async () => {
  const home = await estimated('0');
  const shown = async ({ billID }: { billID: number }) => {
    const { data } = await home.client.getBillDocument({ billID, format: 'HTML' });
    const text = Buffer.from(data.base64, 'base64')
      .toString()
      .replace(/<[^>]*>/g, '');
    return /^Usage – (.*)$/m.exec(text)?.[1];
  };
  // 100 - 310
  const feb = await billed(home, await home.read(february, ['100', '28/02/2026']));
  assert.equal(await shown(feb), 'energy: 0 kWh (210 kWh carried to your next bill)');
  // 250 - 210
  const mar = await billed(home, await home.read(march, ['350', '31/03/2026']));
  assert.equal(await shown(mar), 'energy: 40 kWh (less 210 kWh carried from before)');
  const apr = await billed(home, await home.read(april, ['400', '30/04/2026']));
  assert.equal(await shown(apr), undefined);
});
