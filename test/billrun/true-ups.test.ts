// Estimates that were too high: the next reading corrects them, what was billed too much is
// carried, and nothing that comes after takes the correction for use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post } from '../support/bill-run.ts';
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

const scene = await openScene();
scene.runJobs();

const may = { startDate: '01/05/2026', endDate: '31/05/2026' };

type Home = Awaited<ReturnType<typeof openHome>>;

/** January was estimated at 10 a day from the 1st to the 31st: 310. */
async function estimated(value: string, input = {}, values?: object[]): Promise<Home> {
  const estimation = { allowed: 1, defaultDaily: '10' };
  const energy = { name: 'energy', unit: 'kWh', estimation, ...input };
  const own = { meteredInputs: [energy], ...(values && { values }) };
  const home = await openHome(scene, own as never, { value });
  const term = await home.open(january);
  await home.lock(term, 'estimated');
  await generate(home.run, term);
  await post(home.run, term);
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

for (const start of ['0', '5000']) {
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

// 310 estimated in January, 100 shown in February: 210 are carried.
const ways = {
  'read every month': async (home: Home) => home.read(march, ['150', '31/03/2026']),
  'a month without a reading': async (home: Home) => {
    const term = await home.open(march);
    await home.lock(term);
    return term;
  },
  'a month with an upload in place of the meter': async (home: Home) => {
    const term = await home.read(march, ['150', '31/03/2026']);
    const usage = [[home.connection, 'energy', '50']];
    const data = JSON.stringify({ termID: term, usage });
    await home.client.uploadUsage({ operation: 'schedule', data: { data } });
    return term;
  },
};
for (const [way, ofMarch] of Object.entries(ways)) {
  test(`what was billed too much is credited once: ${way}`, async () => {
    const home = await estimated('0', { highLow: { highFactor: 1000, lowFactor: 0 } });
    const feb = await billed(home, await home.read(february, ['100', '28/02/2026']));
    const mar = await billed(home, await ofMarch(home));
    const apr = await billed(home, await home.read(april, ['250', '30/04/2026']));
    const last = await billed(home, await home.read(may, ['450', '31/05/2026']));
    const later = [feb, mar, apr, last].reduce((sum, bill) => sum + quantityOf(bill), 0);
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
