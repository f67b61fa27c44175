// Whole bill runs, steps 1 to 9, as an operator goes through them: by calls alone, on a moved
// clock, with a real mail server. The bills are the worked ones of the specification.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownBill } from '../support/bill-run.ts';
import { assertPublished } from '../support/published-bill.ts';
import * as story from '../support/story.ts';

const { scene, mailServer } = await story.openMailedScene();

const amountsOf = (bill: ShownBill | undefined) =>
  Object.fromEntries((bill?.lines ?? []).map(({ component, amount }) => [component, amount]));

type Story = Awaited<ReturnType<typeof story.openStory>>;

/** Three customers of another system, with their meters, debts and earlier use. */
async function takeOverThree(elec: Story): Promise<void> {
  const khan = await story.addCustomer(elec, 'A. Khan', 'khan@example.com');
  const bibi = await story.addCustomer(elec, 'Z. Bibi', 'bibi@example.com');
  const shah = await story.addCustomer(elec, 'M. Shah', 'shah@example.com');
  await story.addMeter(elec, { number: 700101, mf: 1, register: 'kWh', digits: 5 });
  await story.addMeter(elec, { number: 700202, mf: 2, register: 'kWh', digits: 6 });
  await story.addMeter(elec, { number: 700303, mf: 1, register: 'kWh', digits: 6 });
  await story.addMeter(elec, { number: 700404, mf: 1, register: 'kWh', digits: 6 });
  const hung = (number: number, initialReading: string) => ({
    meters: [{ number, installDate: '30/06/2025', initialReading }],
  });
  const inputs = (load: string) => ({
    connectionInputs: [
      { name: 'sanctionedLoad', value: load },
      { name: 'phase', value: 'Single' },
    ],
  });
  const owes = (balance: string) => ({ accounts: [{ title: 'Receivable' as const, balance }] });
  await story.takeOver(elec, khan, {
    connectionNumber: 'E-000101',
    tariffCode: 'RES-A1',
    connectionDate: '10032021',
    ...inputs('5'),
    ...hung(700101, '48210'),
    ...owes('1249.60'),
  });
  await story.takeOver(elec, bibi, {
    connectionNumber: 'E-000102',
    tariffCode: 'RES-A1-PRV',
    connectionDate: '01012020',
    ...inputs('3'),
    ...hung(700303, '15040'),
  });
  await story.takeOver(elec, shah, {
    connectionNumber: 'E-000103',
    tariffCode: 'RES-A1',
    connectionDate: '01012020',
    ...inputs('1'),
    ...hung(700404, '2210'),
    ...owes('-40'),
  });
  // What was used before the books moved house: no call brings that.
  await bringHistory(elec.tenantId, [
    [431, 376],
    [350, 290],
    [0, 12],
  ]);
}

function assertElectricity(bills: readonly ShownBill[]): void {
  const [a, b, c] = bills;
  // (48352 - 48210) * 1 + (131 - 0) * 2
  assert.equal(a?.usage[0]?.quantity, '404');
  assert.deepEqual(amountsOf(a), {
    energyCharge: 9_988.12, // 100 * 16.48 + 100 * 22.95 + 100 * 27.14 + 104 * 32.03
    fixedCharge: 1_000, // 5 kW * 200, for 404 is above 300
    meterRent: 25,
    fuelAdjustment: 321.22, // 376 of May * 0.8543
    electricityDuty: 154.64, // (9988.12 + 321.22) * 1.5 %
    gst: 2_068.02, // (9988.12 + 1000 + 25 + 321.22 + 154.64) * 18 %
    tvFee: 35,
  });
  assert.equal(a?.payableWithinDueDate, 14_842); // 13592.00 + 1249.60, rounded up by 0.40
  assert.equal(a?.payableAfterDueDate, 16_201); // 14842 + 1359, which is 10 % of 13592.00
  assert.deepEqual([b?.billedFrom, b?.billedTo], ['01/07/2025', '20/07/2025']);
  assert.deepEqual(amountsOf(b), {
    energyCharge: 7_381.35, // limits * 20 / 31: 193.55 * 27.14 + (260 - 193.55) * 32.03
    meterRent: 16.13, // 25 * 20 / 31
    fuelAdjustment: 247.75, // 290 of May * 0.8543
    electricityDuty: 114.44, // (7381.35 + 247.75) * 1.5 %
    gst: 1_396.74, // (7381.35 + 16.13 + 247.75 + 114.44) * 18 %
  });
  assert.deepEqual(amountsOf(c), {
    meterRent: 25,
    fuelAdjustment: 10.25, // 12 of May * 0.8543
    minimumAdjustment: 75, // 75 - 0
    electricityDuty: 0.15, // 10.25 * 1.5 %
    gst: 19.87, // (25 + 10.25 + 75 + 0.15) * 18 %
    tvFee: 35,
  });
  assert.equal(c?.payableWithinDueDate, 125); // 165.27 - 40, rounded down by 0.27
}

test('electricity: a meter is exchanged, a customer leaves, a house is empty', async () => {
  const elec = await story.openStory(scene, mailServer, { id: 'ELEC', date: '01/07/2025' });
  const { client, one } = elec;
  const mailboxes = ['khan@example.com', 'bibi@example.com', 'shah@example.com'];
  await takeOverThree(elec);
  await story.onDay(scene, '14/07/2025', client);
  await client.replaceMeter({
    data: {
      connectionNumber: 'E-000101',
      oldNumber: 700101,
      newNumber: 700202,
      replaceDate: '14/07/2025',
      finalReadings: [{ value: '48352' }],
      initialReadings: [{ value: '0' }],
      reason: 'Meter stopped',
    },
  });
  await story.onDay(scene, '21/07/2025', client);
  await client.disconnectConnection({
    data: {
      connectionNumber: 'E-000102',
      effectiveDate: '21/07/2025',
      kind: 'Permanent',
      readings: [{ number: 700303, value: '15300' }],
    },
  });

  await story.onDay(scene, '02/08/2025', client);
  const july = { startDate: '01/07/2025', endDate: '31/07/2025', dueDate: '15/08/2025' };
  const termID = await story.openTerm(elec, { label: 'Jul-2025', ...july });
  await story.read(elec, termID, [
    ['E-000101', '700202', '131', '31/07/2025'],
    ['E-000103', '700404', '2210', '31/07/2025'],
  ]);
  const drafts = await story.generate(elec, termID);
  const bills = await story.bringOut(elec, termID, drafts);
  for (const [index, { expected }] of one.scenarios.entries()) {
    assertPublished(bills[index] ?? assert.fail(), expected);
  }
  assertElectricity(bills);
  await story.assertMailed(elec, bills, mailboxes);

  // What is owed: 14842.00, 9156.00 and 125.00, as the bills say.
  const { users } = (await client.listUsers({})).data;
  assert.equal(users.length, 3);
  for (const [index, owed] of [14_842, 9_156, 125].entries()) {
    const partyNumber = users[index]?.partyNumber ?? 0;
    const { user } = (await client.getUsers({ partyNumber })).data as never as {
      user: { outstandingAccount: { balance: number } };
    };
    assert.equal(user.outstandingAccount.balance, owed);
  }
});

/** June and May of each subscription. */
async function bringHistory(tenantId: number, uses: [june: number, may: number][]): Promise<void> {
  for (const [index, [june, may]] of uses.entries()) {
    const terms = [
      { termId: null, label: 'Jun-2025', days: 30, quantity: june },
      { termId: null, label: 'May-2025', days: 31, quantity: may },
    ].map(({ quantity, ...term }) => ({
      ...term,
      usage: { energy: { quantity: String(quantity), type: 'Actual' } },
    }));
    await scene.sql.query(
      'insert into usage_histories (tenant_id, subscription_id, terms) values ($1, $2, $3)',
      [tenantId, index + 1, terms.map((term) => JSON.stringify(term))],
    );
  }
}

test('housing society: funds by area and cost, a hall booked by hand, interest on what is overdue', async () => {
  // Dues of 9200 are taken over on 10 May and are overdue on all 30 days of June.
  const soc = await story.openStory(scene, mailServer, { id: 'SOC', date: '10/05/2025' });
  const { client, one } = soc;
  const owner = await story.addCustomer(soc, 'R. Iyer', 'iyer@example.com');
  await story.takeOver(soc, owner, {
    connectionNumber: 'S-000501',
    tariffCode: 'SOC-FLAT',
    connectionDate: '01012015',
    connectionInputs: [
      { name: 'areaSqFt', value: '1150' },
      { name: 'constructionCost', value: '1800000' },
      { name: 'occupancy', value: 'Tenant' },
    ],
    unmeteredInputs: [{ name: 'parkingSlots', value: '2', fromDate: '01/01/2015' }],
    accounts: [{ title: 'Receivable', balance: '9200' }],
  });

  await story.onDay(scene, '01/07/2025', client);
  const june = { startDate: '01/06/2025', endDate: '30/06/2025', dueDate: '10/07/2025' };
  const termID = await story.openTerm(soc, { label: 'Jun-2025', ...june });
  await story.giveByHand(soc, termID, [['S-000501', 'hallBooking', '2500']]);
  const drafts = await story.generate(soc, termID);
  const bills = await story.bringOut(soc, termID, drafts);
  const [bill] = bills;
  assertPublished(bill ?? assert.fail(), one.scenarios[0]?.expected ?? assert.fail());
  assert.deepEqual(amountsOf(bill), {
    maintenance: 3_737.5, // 1150 * 3.25
    sinkingFund: 375, // 1800000 * 0.25 % / 12
    repairFund: 1_125, // 1800000 * 0.75 % / 12
    parking: 600, // 2 * 300
    nonOccupancy: 373.75, // 3737.50 * 10 %, for it is let
    hallBooking: 2_500, // by hand
    interest: 158.79, // 9200 * 30 days * 21 % / 365
    gst: 1_568.03, // (3737.50 + 375 + 1125 + 600 + 373.75 + 2500) * 18 %, above 7500
  });
  assert.equal(bill?.payableWithinDueDate, 19_638); // 10438.07 + 9200, rounded down by 0.07
  await story.assertMailed(soc, bills, ['iyer@example.com']);
});

test('software: seats added inside the term, calls beyond those included, a commitment', async () => {
  const app = await story.openStory(scene, mailServer, { id: 'SAAS', date: '05/01/2026' });
  const { client, one } = app;
  const customer = await story.addCustomer(app, 'Initech', 'accounts@initech.example');
  const from = { fromDate: '01/01/2026' };
  await story.takeOver(app, customer, {
    connectionNumber: 'A-000601',
    tariffCode: 'APP-TEAM',
    connectionDate: '01012026',
    billedThrough: '31032026',
    connectionInputs: [{ name: 'taxRegion', value: 'US-NY-NYC' }],
    unmeteredInputs: [{ name: 'seats', value: '12', ...from }],
    variants: [
      { name: 'platformFee', value: '79', ...from },
      { name: 'discountPct', value: '0.10', ...from },
      { name: 'commitment', value: '450', ...from },
    ],
  });
  await story.onDay(scene, '11/04/2026', client);
  await client.updateConnection({
    data: {
      connectionNumber: 'A-000601',
      unmeteredInputs: [{ name: 'seats', value: '20', fromDate: '11/04/2026' }],
    },
  });

  await story.onDay(scene, '01/05/2026', client);
  const april = { startDate: '01/04/2026', endDate: '30/04/2026', dueDate: '30/05/2026' };
  const termID = await story.openTerm(app, { label: 'Apr-2026', ...april });
  await story.giveUsage(app, termID, [['A-000601', 'apiCalls', '1284350']]);
  const drafts = await story.generate(app, termID);
  const bills = await story.bringOut(app, termID, drafts);
  const [bill] = bills;
  assertPublished(bill ?? assert.fail(), one.scenarios[0]?.expected ?? assert.fail());
  const seats = bill?.lines.filter(({ component }) => component === 'seatCharge');
  assert.deepEqual(
    seats?.map(({ days, amount }) => [days, amount]),
    [
      [10, 60], // 12 * 15 * 10 / 30
      [20, 160], // 20 * 12 * 20 / 30
    ],
  );
  const { seatCharge: _, ...others } = amountsOf(bill);
  assert.deepEqual(others, {
    platform: 79, // as agreed, not 99
    apiOverage: 101.09, // 200 * 0.40 + 84.35 * 0.25
    discount: -29.9, // -(79 + 220) * 10 %
    commitShortfall: 79.81, // 450 - (79 + 220 + 101.09 - 29.90)
    tax: 39.94, // 450 * 8.875 %
  });
  assert.equal(bill?.payableWithinDueDate, 489.94); // 450 + 39.94
  await story.assertMailed(app, bills, ['accounts@initech.example']);
});

test('no mail was sent twice, and none without a request', () => {
  // 3 of electricity, 1 of the society, 1 of the software.
  assert.equal(mailServer.received.length, 3 + 1 + 1);
});
