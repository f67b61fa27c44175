// The other worked tariffs through steps 1 to 9: water, gas, and internet billed in advance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownBill } from '../support/bill-run.ts';
import { assertPublished } from '../support/published-bill.ts';
import * as story from '../support/story.ts';

const { scene, mailServer } = await story.openMailedScene();

function assertAll(bills: readonly ShownBill[], { one }: story.Story): void {
  assert.equal(bills.length, one.scenarios.length);
  for (const [index, { expected }] of one.scenarios.entries()) {
    assertPublished(bills[index] ?? assert.fail(), expected);
  }
}

const amountOf = (bill: ShownBill | undefined, component: string) =>
  bill?.lines.filter((line) => line.component === component).map((line) => line.amount);

test('water: a house connected inside the term, and a shop billed by its taps', async () => {
  const water = await story.openStory(scene, mailServer, { id: 'WATER', date: '01/06/2025' });
  const { client } = water;
  const house = await story.addCustomer(water, 'P. Nair', 'nair@example.com');
  const shop = await story.addCustomer(water, 'Tea & Co', 'tea@example.com');
  const inputs = (pipeSize: string, category: string) => ({
    connectionInputs: [
      { name: 'pipeSize', value: pipeSize },
      { name: 'category', value: category },
    ],
  });
  await story.onDay(scene, '12/06/2025', client);
  await story.addMeter(water, { number: 810001, mf: 1, register: 'm3', digits: 5, decimals: 1 });
  await story.takeOver(water, house, {
    connectionNumber: 'W-000201',
    tariffCode: 'WAT-MET',
    connectionDate: '12062025',
    ...inputs('20', 'Residential'),
    meters: [{ number: 810001, installDate: '12/06/2025', initialReading: '3.1' }],
  });
  await story.takeOver(water, shop, {
    connectionNumber: 'W-000202',
    tariffCode: 'WAT-TAP',
    connectionDate: '01012019',
    ...inputs('25', 'Commercial'),
    unmeteredInputs: [
      { name: 'taps', value: '3', fromDate: '01/01/2019' },
      { name: 'taps', value: '5', fromDate: '11/06/2025' },
    ],
  });
  await story.onDay(scene, '01/07/2025', client);
  const june = { startDate: '01/06/2025', endDate: '30/06/2025', dueDate: '20/07/2025' };
  const termID = await story.openTerm(water, { label: 'Jun-2025', ...june });
  await story.read(water, termID, [['W-000201', '810001', '25.5', '30/06/2025']]);
  const bills = await story.bringOut(water, termID, await story.generate(water, termID));
  assertAll(bills, water);
  // 450 * 19 / 30
  assert.deepEqual(amountOf(bills[0], 'pipeCharge'), [285]);
  // 10 * 19 / 30 * 12 + 15 * 19 / 30 * 21.50 + (22.4 - 25 * 19 / 30) * 38
  assert.deepEqual(amountOf(bills[0], 'waterCharge'), [529.78]);
  // 3 * 180 * 10 / 30, 5 * 180 * 20 / 30
  assert.deepEqual(amountOf(bills[1], 'waterCharge'), [180, 600]);
  await story.assertMailed(water, bills, ['nair@example.com', 'tea@example.com']);
});

test('gas: the register passes its last figure, and prices change inside the term', async () => {
  const gas = await story.openStory(scene, mailServer, { id: 'GAS', date: '01/01/2026' });
  const { client } = gas;
  const customer = await story.addCustomer(gas, 'S. Malik', 'malik@example.com');
  await story.addMeter(gas, { number: 910001, mf: 1, register: 'm3', digits: 5 });
  await story.takeOver(gas, customer, {
    connectionNumber: 'G-000301',
    tariffCode: 'GAS-DOM',
    connectionDate: '01022018',
    meters: [{ number: 910001, installDate: '31/12/2025', initialReading: '99871' }],
  });
  await story.onDay(scene, '02/02/2026', client);
  const january = { startDate: '01/01/2026', endDate: '31/01/2026', dueDate: '14/02/2026' };
  const termID = await story.openTerm(gas, { label: 'Jan-2026', ...january });
  await story.read(gas, termID, [['G-000301', '910001', '143', '31/01/2026']]);
  const bills = await story.bringOut(gas, termID, await story.generate(gas, termID));
  assertAll(bills, gas);
  // 143 + 100000 - 99871
  assert.equal(bills[0]?.usage[0]?.quantity, '272');
  await story.assertMailed(gas, bills, ['malik@example.com']);
});

test('internet: billed in advance, upgraded in a billed month, data paid for afterwards', async () => {
  const net = await story.openStory(scene, mailServer, { id: 'ISP', date: '25/07/2025' });
  const { client } = net;
  const customer = await story.addCustomer(net, 'H. Raza', 'raza@example.com');
  await story.takeOver(net, customer, {
    connectionNumber: 'N-000401',
    tariffCode: 'NET-20',
    connectionDate: '01032025',
    billedThrough: '31072025',
    // August is paid ahead: 2000 + 19.5 % = 2390, + 15 % of that.
    accounts: [{ title: 'Receivable', balance: '-2748.50' }],
  });
  await story.onDay(scene, '31/07/2025', client);
  const august = { startDate: '01/08/2025', endDate: '31/08/2025', dueDate: '10/08/2025' };
  const first = await story.openTerm(net, { label: 'Aug-2025', ...august });
  const [paid] = await story.bringOut(net, first, await story.generate(net, first));
  assert.deepEqual([paid?.currentCharges, paid?.payableWithinDueDate], [2_748.5, 0]);

  await story.onDay(scene, '11/08/2025', client);
  await client.changeTariff({
    data: { connectionNumber: 'N-000401', tariffCode: 'NET-50', effectiveDate: '11/08/2025' },
  });
  await client.updateConnection({
    data: {
      connectionNumber: 'N-000401',
      addonTariffLabels: [{ label: 'Static IP', quantity: '1', fromDate: '01/09/2025' }],
    },
  });
  await story.onDay(scene, '01/09/2025', client);
  const september = { startDate: '01/09/2025', endDate: '30/09/2025', dueDate: '10/09/2025' };
  const termID = await story.openTerm(net, { label: 'Sep-2025', ...september });
  await story.giveUsage(net, termID, [['N-000401', 'data', '548.6']]);
  const bills = await story.bringOut(net, termID, await story.generate(net, termID));
  assertAll(bills, net);
  // 2000 * 10 / 31 + 3000 * 21 / 31 - 2000 for August; then 3000 for September.
  const adjusted = bills[0]?.lines.filter(({ lineType }) => lineType === 'Adjustment');
  const sum = (adjusted ?? []).reduce((total, { amount }) => total + Math.round(amount * 100), 0);
  assert.equal(sum, 67_742);
  // 548.6 less (300 * 10 + 600 * 21) / 31 included: 45.4 in 5 packs of 10 for 120 each.
  assert.deepEqual(amountOf(bills[0], 'overage'), [600]);
  await story.assertMailed(net, bills, ['raza@example.com']);
});
