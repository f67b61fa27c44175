// The owner of a bill is the owner of the subscription on the billed days; and what each of several
// subscriptions on one bill still owes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  tariffCase,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, openOffer, september } from '../support/offer-place.ts';
import { postNothing } from '../support/post-nothing.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { insertOpening } from '../support/term-rows.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
const client = await scene.workspace('owners');
const tenantId = await scene.tenantOf(client);
const july = { startDate: '01/07/2026', endDate: '31/07/2026' };

/** 310 a month and 10 a unit; handed over on 11 July, the meter perhaps read then. */
async function handOver(isRead: boolean) {
  const offer = await newOffer(
    client,
    {
      meteredInputs: [
        {
          name: 'energy',
          unit: 'kWh',
          register: 'kWh',
          estimation: { allowed: 1, defaultDaily: 3 },
        },
      ],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 2 },
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 },
      ],
      holdRules: [],
    },
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
      ],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
  const [old, next] = [await newParty(client, 'Old'), await newParty(client, 'Next')];
  const number = await newMeter(client);
  const connection = await subscribe(
    client,
    {
      ...offer,
      connectionDate: '01062026',
      billedThrough: '30062026',
      users: [{ partyNumber: old, connectionGroupLabel: `Old ${number}` }],
      meters: [{ number, installDate: '30/06/2026', initialReading: '0' }],
    },
    { batchUpload: true },
  );
  await client.transferConnection({
    data: {
      connectionNumber: connection,
      transferDate: '11/07/2026',
      toPartyNumber: next,
      connectionGroupLabel: `Next ${number}`,
      readings: isRead ? [{ number, value: '40' }] : [],
    },
  });
  return { ...offer, connection, number, old, next };
}

/** The meter showing 40 when it is handed over, and 100 at last. */
async function handOverRead() {
  const made = await handOver(true);
  const reading = { number: made.number, value: '100', readingDate: '31/07/2026' };
  await client.makeReadings({ readings: [reading] });
  return made;
}

async function readAndGenerate(termID: number, reading = 'current') {
  await client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
  await client.generateBills(schedule(termID));
  return (await client.getBills({ termID })).data.bills;
}

for (const order of forms(['before', 'after'] as const)) {
  test(`a transfer inside a term: two bills, the Final term made ${order} the regular one`, async () => {
    const { serviceCode, connection, number, old, next } = await handOverRead();
    const makeFinal = () =>
      newTerm(client, {
        serviceCode,
        ...july,
        type: 'Final',
        connectionNumbers: [connection],
      });
    const early = order === 'before' ? await makeFinal() : 0;
    const regular = await newTerm(client, { serviceCode, ...july });
    const [refused] = await readAndGenerate(regular);
    assert.deepEqual(
      [refused?.status, refused?.errors.map(({ code }) => code)],
      ['Error', ['TRANSFER_NOT_BILLED']],
    );
    assert.equal(await codeOf(client.postBills(schedule(regular))), 'TERM_HAS_OPEN_BILLS');
    await client.unpostMeterReadings({ data: { termID: regular } });

    const final = early || (await makeFinal());
    const [first] = await readAndGenerate(final);
    assert.deepEqual(
      [first?.partyNumber, first?.connectionGroupLabel, first?.billedFrom, first?.billedTo],
      [old, `Old ${number}`, '01/07/2026', '10/07/2026'],
    );
    assert.deepEqual(
      first?.lines.map(({ component, amount }) => [component, amount]),
      [
        ['energyCharge', 400], // (40 - 0) * 10
        ['fee', 100], // 310 * 10 / 31
      ],
    );
    await client.postBills(schedule(final));

    const [second] = await readAndGenerate(regular);
    assert.deepEqual(
      [second?.partyNumber, second?.connectionGroupLabel, second?.billedFrom, second?.billedTo],
      [next, `Next ${number}`, '11/07/2026', '31/07/2026'],
    );
    assert.deepEqual(
      second?.lines.map(({ component, amount }) => [component, amount]),
      [
        ['energyCharge', 600], // (100 - 40) * 10
        ['fee', 210], // 310 * 21 / 31
      ],
    );
    // What the old owner owes is not brought forward to the next one.
    assert.equal(second?.arrears, 0);
    await client.postBills(schedule(regular));
    await assertChecks(scene, tenantId);
  });
}

async function exchange(connectionNumber: string, oldNumber: number, day: string, last: string) {
  const newNumber = await newMeter(client);
  const [finalReadings, initialReadings] = [[{ value: last }], [{ value: '0' }]];
  const meters = { connectionNumber, oldNumber, newNumber, replaceDate: day };
  await client.replaceMeter({ data: { ...meters, finalReadings, initialReadings } });
  return newNumber;
}

type Shown = Awaited<ReturnType<typeof readAndGenerate>>[number] | undefined;

const readingsOf = (bill: Shown) =>
  bill?.meterReadings.map((one) => [one.meterNumber, one.previousReading, one.currentReading]);

test('a meter exchanged after an unread transfer is estimated for the former owner', async () => {
  const { serviceCode, connection, number, old, next } = await handOver(false);
  const newNumber = await exchange(connection, number, '13/07/2026', '42');
  const last = { number: newNumber, value: '58', readingDate: '31/07/2026' };
  await client.makeReadings({ readings: [last] });
  const whose = { type: 'Final' as const, connectionNumbers: [connection] };
  const final = await newTerm(client, { serviceCode, ...july, ...whose });
  const [first] = await readAndGenerate(final, 'estimated');
  assert.deepEqual(first?.errors, []);
  assert.deepEqual([first?.partyNumber, first?.billedTo], [old, '10/07/2026']);
  // Ten days of 3; the new meter does not concern this owner.
  assert.deepEqual(readingsOf(first), [[number, '0', '30']]);
  await client.postBills(schedule(final));

  const [second] = await readAndGenerate(await newTerm(client, { serviceCode, ...july }));
  assert.equal(second?.partyNumber, next);
  assert.deepEqual(readingsOf(second), [
    [number, '30', '42'],
    [newNumber, '0', '58'],
  ]);
  assert.equal(second?.lines.find((line) => line.component === 'energyCharge')?.amount, 700);
});

test('a former owner is not billed up to a reading that a skipped term took later', async () => {
  const { serviceCode, connection, number } = await handOver(false);
  const regular = await newTerm(client, { serviceCode, ...july });
  const [refused] = await readAndGenerate(regular, 'estimated');
  assert.deepEqual(
    refused?.errors.map(({ code }) => code),
    ['TRANSFER_NOT_BILLED'],
  );
  await postNothing({ scene, client }, regular);
  await exchange(connection, number, '05/08/2026', '99');
  const days = { startDate: '02/07/2026', endDate: '31/08/2026' };
  const whose = { type: 'Final' as const, connectionNumbers: [connection] };
  const final = await newTerm(client, { serviceCode, ...days, ...whose });
  const [unread] = await readAndGenerate(final);
  assert.deepEqual(
    unread?.errors.map(({ code, meterNumber }) => [code, meterNumber]),
    [['READING_MISSING', number]],
  );
  const [bill] = await readAndGenerate(final, 'estimated');
  assert.deepEqual(readingsOf(bill), [[number, '0', '30']]);
});

test('an owner without supply on all days does not prevent the next owner from being billed', async () => {
  const { serviceCode, connection, number, next } = await handOver(false);
  const change = { connectionNumber: connection };
  await client.disconnectConnection({
    data: { ...change, effectiveDate: '01/07/2026', kind: 'Temporary' },
  });
  await client.reconnectConnection({
    data: { ...change, effectiveDate: '16/07/2026', force: true },
  });
  const third = await newParty(client, 'Third');
  await client.transferConnection({
    data: {
      ...change,
      transferDate: '21/07/2026',
      toPartyNumber: third,
      connectionGroupLabel: `Third ${number}`,
      readings: [{ number, value: '40' }],
    },
  });
  await client.makeReadings({ readings: [{ number, value: '100', readingDate: '31/07/2026' }] });
  const whose = { type: 'Final' as const, connectionNumbers: [connection] };
  const final = await newTerm(client, { serviceCode, ...july, ...whose });
  const regular = await newTerm(client, { serviceCode, ...july });
  const billed: unknown[] = [];
  for (const term of [final, regular]) {
    const [bill] = await readAndGenerate(term);
    billed.push([bill?.partyNumber, bill?.billedFrom, bill?.billedTo, bill?.usage[0]?.quantity]);
    await client.postBills(schedule(term));
  }
  assert.deepEqual(billed, [
    [next, '16/07/2026', '20/07/2026', '40'],
    [third, '21/07/2026', '31/07/2026', '60'],
  ]);
});

test('a term that ended before the transfer is the old owner’s, however late it is made', async () => {
  const { serviceCode, connection, old } = await handOverRead();
  const days = { startDate: '01/07/2026', endDate: '10/07/2026' };
  const [bill] = await readAndGenerate(await newTerm(client, { serviceCode, ...days }));
  assert.deepEqual([bill?.connectionNumber, bill?.partyNumber], [connection, old]);
});

test('what is overdue on bills of accounts is overdue of each subscription on them', async () => {
  const soc = tariffCase('SOC');
  const run = await openBillRun(scene, soc, { postType: 'Post Account' } as never);
  const termId = await addTerm(run);
  const [scenario] = soc.scenarios;
  const facts = { ...(scenario ?? assert.fail()), manual: [], account: {} };
  for (const index of [1, 2]) await addSubscription(run, termId, copyOf(facts, index));
  await generate(run, termId);
  const [june] = await billsOf(run, termId);
  // Twice 3737.50 + 375 + 1125 + 600 + 373.75, rounded up by 0.50 on the second.
  assert.deepEqual([june?.currentCharges, june?.billAmount], [12_422.5, 12_423]);
  await post(run, termId);
  const next = await addTerm(run, {
    label: 'Jul-2025',
    startDate: '01/07/2025',
    endDate: '31/07/2025',
    dueDate: '10/08/2025',
  });
  await generate(run, next);
  const [bill] = await billsOf(run, next);
  assert.deepEqual(
    bill?.lines.filter((line) => line.component === 'interest').map((line) => line.amount),
    // Due on 10 July, so overdue on 21 days: 6211.25 * 21 * 21 % / 365, and of 6211.75.
    [75.05, 75.05],
  );
  assert.equal(bill?.arrears, 12_423);
});

test('the summary of a term lists its components as they are printed', async () => {
  const { serviceCode, connection } = await handOverRead();
  const days = { startDate: '01/07/2026', endDate: '10/07/2026' };
  const termID = await newTerm(client, { serviceCode, ...days });
  const [bill] = await readAndGenerate(termID);
  const { summary } = (await client.getBillTerm({ billTermID: termID })).data;
  const printed = ['energyCharge', 'fee'];
  assert.deepEqual(
    summary.components.map(({ component }) => component),
    printed,
    connection,
  );
  assert.deepEqual(
    bill?.lines.map(({ component }) => component),
    printed,
  );
});

for (const [balanceHandling, interest] of [
  ['StayWithOld', [0, 31]],
  // 10 % of the July bill, then of that, its interest and the August bill.
  ['MoveToNew', [31, 65.1]],
] as const) {
  test(`an overdue balance of the old owner is overdue for the new one: ${balanceHandling}`, async () => {
    const run = await openOffer(
      scene,
      `owed-${balanceHandling.toLowerCase()}`,
      {
        components: [
          { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
          { name: 'interest', label: 'Interest', type: 'Surcharge', sequence: 2 },
        ],
      },
      {
        componentRules: [
          { component: 'fee', formula: '310', prorate: 'Days' },
          { component: 'interest', scope: 'Term', formula: 'account.overdue * 10%' },
        ],
      },
    );
    const connectionNumber = await run.connectOld();
    const before = await run.open({ ...july, dueDate: '05/08/2026' });
    await generate(run, before);
    await post(run, before);
    const toPartyNumber = await newParty(run.client, 'Next');
    const transfer = { connectionNumber, transferDate: '01/08/2026', toPartyNumber };
    const named = { connectionGroupLabel: 'Next', balanceHandling };
    await run.client.transferConnection({ data: { ...transfer, ...named } });
    const charged: number[] = [];
    for (const [days, dueDate] of [
      [august, '05/09/2026'],
      [september, '05/10/2026'],
    ] as const) {
      const term = await run.open({ ...days, dueDate });
      await generate(run, term);
      const [bill] = await billsOf(run, term);
      const line = bill?.lines.find(({ component }) => component === 'interest');
      charged.push(line?.amount ?? 0);
      await post(run, term);
    }
    assert.deepEqual(charged, interest);
  });
}

test('a payment of the old owner is not a payment of the new one', async () => {
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];
  const componentRules = [{ component: 'fee', formula: '310', prorate: 'Days' as const }];
  const run = await openOffer(scene, 'paid-before', { components }, { componentRules });
  const connectionNumber = await run.connectOld();
  const before = await run.open(july);
  await generate(run, before);
  await post(run, before);
  await insertOpening(scene, run.tenantId, 1, -100_00, 'Payment');
  const toPartyNumber = await newParty(run.client, 'Next');
  const transfer = { connectionNumber, transferDate: '01/08/2026', toPartyNumber };
  await run.client.transferConnection({ data: { ...transfer, balanceHandling: 'MoveToNew' } });
  const after = await run.open(august);
  await generate(run, after);
  const [bill] = await billsOf(run, after);
  assert.deepEqual(
    [bill?.previousBalance, bill?.paymentsReceived, bill?.adjustments, bill?.arrears],
    [0, 0, 210, 210],
  );
});

for (const postType of forms(['Post Subscription', 'Post Party'] as const)) {
  test(`an owner who gets a subscription back sees the last own bill and payments since: ${postType}`, async () => {
    const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];
    const componentRules = [{ component: 'fee', formula: '310', prorate: 'Days' as const }];
    const workspace = `back-${postType.slice(5).toLowerCase()}`;
    const run = await openOffer(scene, workspace, { components, postType }, { componentRules });
    const connectionNumber = await run.connectOld({ postType });
    const next = await newParty(run.client, 'Next');
    const bill = async (days: object) => {
      const term = await run.open({ ...days, postType });
      await generate(run, term);
      const [one] = await billsOf(run, term);
      await post(run, term);
      return one && [one.previousBalance, one.paymentsReceived, one.adjustments, one.arrears];
    };
    const handTo = (toPartyNumber: number, transferDate: string) =>
      run.client.transferConnection({ data: { connectionNumber, transferDate, toPartyNumber } });
    assert.deepEqual(await bill(july), [0, 0, 0, 0]);
    await insertOpening(scene, run.tenantId, 1, -100_00, 'Payment');
    await handTo(next, '01/08/2026');
    assert.deepEqual(await bill(august), [0, 0, 0, 0]);
    await handTo(run.party, '01/09/2026');
    assert.deepEqual(await bill(september), [310, 100, 0, 210]);
    await handTo(next, '01/10/2026');
    const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
    assert.deepEqual(await bill(october), [310, 0, 0, 310]);
    await assertChecks(scene, run.tenantId);
  });
}
