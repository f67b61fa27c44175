// Bills that were left out: what was read for them is on the next bill of the subscription, once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { openScene } from '../support/scene.ts';
import {
  april,
  assertBothMonths,
  billOf,
  daysOf,
  february,
  hashOf,
  january,
  linesOf,
  march,
  openHome,
  readingsOn,
  skipBill,
} from '../support/skipped-bills.ts';

const scene = await openScene();
scene.runJobs();

test('what was read for a bill that was held is on the next one, and once', async () => {
  const { run, read } = await openHome(scene);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  const feb = await read(february, ['220', '28/02/2026']);
  await generate(run, feb);
  await assertBothMonths(run, feb);
  const { billID } = await billOf(run, feb);
  const hash = await hashOf(run, billID);
  await generate(run, feb);
  assert.equal(await hashOf(run, billID), hash);
  await post(run, feb);
  const { data } = await run.client.explainBill({ billID });
  assert.deepEqual(
    data.lines.map((line) => line.amount),
    [2000, 2400, 440],
  );
  const mar = await read(march, ['300', '31/03/2026']);
  await generate(run, mar);
  const bill = await billOf(run, mar);
  assert.deepEqual(readingsOn(bill), [['28/02/2026', '220', '31/03/2026', '300', '80']]);
  await assertChecks(scene, run.tenantId);
});

test('what was caught up once is not caught up again', async () => {
  const { run, read } = await openHome(scene);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  const feb = await read(february, ['220', '28/02/2026']);
  await generate(run, feb);
  await post(run, feb);
  await skipBill(run, await read(march, ['300', '31/03/2026']));
  const apr = await read(april, ['450', '30/04/2026']);
  await generate(run, apr);
  const bill = await billOf(run, apr);
  assert.deepEqual(readingsOn(bill), [['28/02/2026', '220', '30/04/2026', '450', '230']]);
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/03/2026', (300 - 220) * 20],
    ['energyCharge', '01/04/2026', (450 - 300) * 20],
  ]);
});

test('two skipped terms in a row are caught up on by the next bill', async () => {
  const { run, read } = await openHome(scene);
  await skipBill(run, await read(january, ['100', '31/01/2026']));
  await skipBill(run, await read(february, ['220', '28/02/2026']));
  const mar = await read(march, ['300', '31/03/2026']);
  await generate(run, mar);
  const bill = await billOf(run, mar);
  assert.deepEqual(daysOf(bill), ['Draft', '01/01/2026', '31/03/2026']);
  assert.deepEqual(linesOf(bill).slice(0, 2), [
    ['energyCharge', '01/01/2026', 220 * 20],
    ['energyCharge', '01/03/2026', (300 - 220) * 20],
  ]);
});

test('what was read for a bill in error is on the next one', async () => {
  const { run, read, set } = await openHome(scene, {
    components: [
      { name: 'energyCharge', label: 'Energy', type: 'Charge', categories: ['taxable'] },
      { name: 'gst', label: 'GST', type: 'Tax', manual: 'Required' },
    ],
  });
  const jan = await read(january, ['100', '31/01/2026']);
  await generate(run, jan);
  assert.equal((await billOf(run, jan)).status, 'Error');
  await post(run, jan, true);
  const feb = await read(february, ['220', '28/02/2026']);
  await set(feb, 'gst', '5');
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '0', '28/02/2026', '220', '220']]);
  assert.deepEqual(linesOf(bill).at(-1), ['gst', '01/01/2026', 5]);
});

test('what an open term has locked is billed by the one that is posted first', async () => {
  const { run, read } = await openHome(scene);
  const jan = await read(january, ['100', '31/01/2026']);
  const feb = await read(february, ['220', '28/02/2026']);
  await generate(run, feb);
  await assertBothMonths(run, feb);
  await generate(run, jan);
  await post(run, jan);
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(readingsOn(bill), [['31/01/2026', '100', '28/02/2026', '220', '120']]);
});

test('a term that is cancelled when the next one has locked its readings', async () => {
  const { run, read } = await openHome(scene);
  const jan = await read(january, ['100', '31/01/2026']);
  const feb = await read(february, ['220', '28/02/2026']);
  await run.client.cancelTerm({ data: { termID: jan, reason: 'not needed' } });
  await generate(run, feb);
  await assertBothMonths(run, feb);
});

test('a term that is unposted and cancelled when the next one was made', async () => {
  const { run, read } = await openHome(scene);
  const jan = await read(january, ['100', '31/01/2026']);
  await generate(run, jan);
  await post(run, jan);
  const feb = await read(february, ['220', '28/02/2026']);
  await generate(run, feb);
  assert.equal((await billOf(run, feb)).currentCharges, 120 * 20 * 1.1);
  await unpost(run, jan);
  await run.client.cancelTerm({ data: { termID: jan, reason: 'not needed' } });
  await generate(run, feb);
  await assertBothMonths(run, feb);
});

test('a bill of several subscriptions that was held', async () => {
  const { run, read, client, newMeter, newSubscription } = await openHome(scene, {
    postType: 'Post Account',
  });
  const [second, other] = [
    await newSubscription({ billedThrough: '2025-12-31' }),
    await newMeter(),
  ];
  const hang = { connectionNumber: second, number: other, installDate: '01/01/2026' };
  await client.assignMeter({ data: { ...hang, initialReadings: [{ value: '10' }] } });
  const both = async (days: typeof january, one: string, two: string) => {
    const term = await read(days, [one, days.endDate]);
    const readings = [[second, String(other), two, days.endDate]];
    const data = JSON.stringify({ termID: term, readings });
    await client.uploadMeterReadings({ operation: 'schedule', data: { data } });
    await client.postMeterReadings({
      operation: 'schedule',
      data: { termID: term, reading: 'current' },
    });
    return term;
  };
  const dec = await both(january, '100', '15');
  await generate(run, dec);
  await post(run, dec);
  await skipBill(run, await both(february, '220', '40'));
  const mar = await both(march, '300', '45');
  await generate(run, mar);
  const bill = await billOf(run, mar);
  const used = bill.sections?.map((section) => section.usage.map((one) => one.quantity));
  assert.deepEqual(used, [['200'], ['30']]);
  assert.equal(bill.currentCharges, (300 - 100 + 45 - 15) * 20 * 1.1);
  await post(run, mar);
  await assertChecks(scene, run.tenantId);
});
