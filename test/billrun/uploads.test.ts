// Uploaded use on bills: of an input that is also measured, and where bills are made in advance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type Running } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { billOf, january, linesOf, openHome } from '../support/skipped-bills.ts';
import { newParty } from '../support/subscriptions.ts';
import type { TermData } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const upload = ({ client }: Pick<Running, 'client'>, termID: number, usage: string[][]) => {
  const data = JSON.stringify({ termID, usage });
  return client.uploadUsage({ operation: 'schedule', data: { data } });
};

test('uploaded usage replaces measured usage, and appears once', async () => {
  const { run, client, connection, read } = await openHome(scene);
  const term = await read(january, ['310', '31/01/2026']);
  await upload(run, term, [[connection, 'energy', '50']]);
  await generate(run, term);
  const bill = await billOf(run, term);
  assert.deepEqual(
    bill.usage.map(({ input, quantity }) => [input, quantity]),
    [['energy', '50']],
  );
  assert.deepEqual(linesOf(bill)[0], ['energyCharge', '01/01/2026', 50 * 20]);
  const { data } = await client.getBillTerm({ billTermID: term });
  assert.equal(data.summary.usage[0]?.quantity, '50');
});

type AdvanceRule = { scope: 'Segment' | 'Term'; name?: string };

/** 310 a month ahead, and 2 for each GB of the month before. */
const inAdvance = (rule: object) => [
  { component: 'fee', formula: '310', prorate: 'Days' as const },
  { component: 'extra', window: 'Previous' as const, formula: 'usage.data * 2', ...rule },
];

async function openInAdvance({ name = 'ahead', ...rule }: AdvanceRule = { scope: 'Term' }) {
  const run = await openOffer(
    scene,
    `${name}-${rule.scope.toLowerCase()}`,
    {
      postBilling: 0,
      unmeteredInputs: [{ name: 'data', unit: 'GB', source: 'Uploaded' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'extra', label: 'Data', type: 'Charge', sequence: 2 },
      ],
    },
    { componentRules: inAdvance(rule) },
  );
  return { run, connection: await run.connectOld(), open: run.open };
}

test('dated use where bills are made in advance is billed with the next one', async () => {
  const { run, connection, open } = await openInAdvance();
  const jul = await open(july);
  await generate(run, jul);
  await post(run, jul);
  const aug = await open(august);
  const before = [connection, 'data', '100', '30/06/2026'];
  await refuses(upload(run, aug, [before]), 'INVALID_DATE', { field: 'data.data.usage[0][3]' });
  await upload(run, aug, [
    [connection, 'data', '3'],
    [connection, 'data', '7', '15/07/2026'],
    [connection, 'data', '5', '02/08/2026'],
  ]);
  await generate(run, aug);
  // 3 and 7 of July; the 5 of August come with September.
  assert.deepEqual(linesOf((await billsOf(run, aug))[0] as never), [
    ['fee', '01/08/2026', 310],
    ['extra', '01/07/2026', 20],
  ]);
  await post(run, aug);
  const sep = await open(september);
  await upload(run, sep, [[connection, 'data', '1', '31/08/2026']]);
  await generate(run, sep);
  assert.deepEqual(linesOf((await billsOf(run, sep))[0] as never), [
    ['fee', '01/09/2026', 310],
    ['extra', '01/08/2026', 12],
  ]);
});

test('compare-runs distinguishes usage of the previous term from that of the term', async () => {
  const { run, connection, open } = await openInAdvance({ scope: 'Term', name: 'compared' });
  const jul = await open(july);
  await generate(run, jul);
  await post(run, jul);
  const aug = await open(august);
  await upload(run, aug, [
    [connection, 'data', '3'],
    [connection, 'data', '5', '02/08/2026'],
  ]);
  await generate(run, aug);
  await upload(run, aug, [[connection, 'data', '4']]);
  await generate(run, aug);
  const { data } = await run.client.compareRuns({ termID: aug });
  assert.deepEqual(data.differences[0]?.causes, [
    { kind: 'Usage', name: 'data previous', before: '3', after: '4' },
  ]);
});

test('dated use of the term before is of the plan of its day', async () => {
  const { run, connection, open } = await openInAdvance({ scope: 'Segment' });
  const jul = await open(july);
  await generate(run, jul);
  await post(run, jul);
  const componentRules = inAdvance({ scope: 'Segment', formula: 'usage.data * 3' });
  const { serviceCode } = run.offer;
  const { code: tariffCode } = await newTariff(run.client, serviceCode, { componentRules });
  const change = { connectionNumber: connection, tariffCode, effectiveDate: '11/07/2026' };
  await run.client.changeTariff({ data: change });
  const aug = await open(august);
  await upload(run, aug, [
    [connection, 'data', '31'],
    [connection, 'data', '10', '05/07/2026'],
    [connection, 'data', '100', '20/07/2026'],
  ]);
  await generate(run, aug);
  // 10 + 10 at 2, 100 + 21 at 3
  assert.deepEqual(linesOf((await billsOf(run, aug))[0] as never), [
    ['fee', '01/08/2026', 310],
    ['extra', '01/07/2026', 40],
    ['extra', '11/07/2026', 363],
  ]);
});

/** 31 a month for each seat, of which 5 are agreed. */
async function openSeats(name: string) {
  const run = await openOffer(
    scene,
    name,
    {
      unmeteredInputs: [{ name: 'seats', unit: 'seat', required: 1, changeInTerm: 'Split' }],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
    },
    { componentRules: [{ component: 'fee', formula: 'qty.seats * 31', prorate: 'Days' }] },
  );
  const { client } = run;
  const unmeteredInputs = [{ name: 'seats', value: '5' }];
  const connection = await run.connectOld({ unmeteredInputs });
  /** Days from which so much is billed; `upload` has a quantity and maybe a day. */
  const drafted = async (days: object, ...uploads: string[][]) => {
    const term = await run.open(days);
    await upload(
      run,
      term,
      uploads.map((row) => [connection, 'seats', ...row]),
    );
    await generate(run, term);
    const bill = await billOf(run, term);
    const lines = bill.lines.map(({ fromDate, amount }) => [fromDate, amount]);
    return { term, bill, lines };
  };
  return {
    client,
    connection,
    billed: async (...given: Parameters<typeof drafted>) => {
      const { term, bill, lines } = await drafted(...given);
      await post(run, term);
      return [bill.usage, lines];
    },
    skip: async (...given: Parameters<typeof drafted>) => {
      const { term, bill } = await drafted(...given);
      const { billID } = bill;
      await client.holdBill({ data: { billID, hold: true, reason: 'disputed' } });
      await post(run, term, true);
    },
  };
}

test('an uploaded quantity replaces the agreed one, in that term only', async () => {
  const { billed } = await openSeats('seats');
  assert.deepEqual(await billed(july, ['50']), [[], [['01/07/2026', 50 * 31]]]);
  // 5 on ten days, 8 on the other 21.
  assert.deepEqual(await billed(august, ['8', '11/08/2026']), [
    [],
    [
      ['01/08/2026', 5 * 10],
      ['11/08/2026', 8 * 21],
    ],
  ]);
  const both = [['8'], ['9', '16/09/2026']];
  assert.deepEqual(await billed(september, ...both), [
    [],
    [
      ['01/09/2026', 8 * 15.5],
      ['16/09/2026', 9 * 15.5],
    ],
  ]);
  const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
  assert.deepEqual(await billed(october), [[], [['01/10/2026', 5 * 31]]]);
});

test('an uploaded quantity of a skipped bill applies to the days of that bill', async () => {
  const whole = await openSeats('seats-whole');
  await whole.skip(july, ['50']);
  assert.deepEqual(await whole.billed(august), [
    [],
    [
      ['01/07/2026', 50 * 31],
      ['01/08/2026', 5 * 31],
    ],
  ]);
  const both = await openSeats('seats-both');
  await both.skip(july, ['50']);
  assert.deepEqual(await both.billed(august, ['8']), [
    [],
    [
      ['01/07/2026', 50 * 31],
      ['01/08/2026', 8 * 31],
    ],
  ]);
  assert.deepEqual(await both.billed(september), [[], [['01/09/2026', 5 * 31]]]);
});

test('quantities from a date on, of several skipped bills, apply to their days', async () => {
  const { client, connection, skip, billed } = await openSeats('seats-days');
  const unmeteredInputs = [{ name: 'seats', value: '6', fromDate: '16/08/2026' }];
  await client.updateConnection({ data: { connectionNumber: connection, unmeteredInputs } });
  await skip(july, ['20', '11/07/2026']);
  await skip(august, ['9', '21/08/2026'], ['7', '06/08/2026']);
  // By the days of September.
  const fee = (seats: number, days: number) => Math.round((seats * 3_100 * days) / 30) / 100;
  assert.deepEqual(await billed(september, ['8', '16/09/2026']), [
    [],
    [
      ['01/07/2026', fee(5, 10)],
      ['11/07/2026', fee(20, 21)],
      ['01/08/2026', fee(5, 5)],
      ['06/08/2026', fee(7, 10)],
      ['16/08/2026', fee(6, 5)],
      ['21/08/2026', fee(9, 11)],
      ['01/09/2026', fee(6, 15)],
      ['16/09/2026', fee(8, 15)],
    ],
  ]);
});

/** 310 a month, a hall by hand, and 2 for a call; billed through June. */
async function openHall(name: string) {
  const run = await openOffer(
    scene,
    name,
    {
      unmeteredInputs: [{ name: 'calls', unit: 'call', source: 'Uploaded' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'hall', label: 'Hall', type: 'Charge', sequence: 2, manual: 'Optional' },
        { name: 'use', label: 'Calls', type: 'Charge', sequence: 3 },
      ],
    },
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'hall', scope: 'Term', formula: '0' },
        { component: 'use', scope: 'Term', formula: 'usage.calls * 2' },
      ],
    },
  );
  const { client, open } = run;
  const connection = await run.connectOld();
  return {
    run,
    client,
    connection,
    open,
    /** A term for this customer alone. */
    openFor: (days: Partial<TermData>) =>
      open({ type: 'OffCycle', ...days, connectionNumbers: [connection] }),
    /** A hall for 50, and 7 calls. */
    uploadTo: async (termID: number) => {
      const data = JSON.stringify({ termID, compsData: [[connection, 'hall', '50']] });
      await client.postManualComponentValues({ operation: 'schedule', data: { data } });
      await upload(run, termID, [[connection, 'calls', '7']]);
    },
    /** What a term charges besides the fee. */
    extrasOf: async (termID: number) => {
      await generate(run, termID);
      const lines = (await billOf(run, termID)).lines.filter((line) => line.component !== 'fee');
      return lines.map(({ component, amount }) => [component, amount]);
    },
  };
}

const hallAndCalls = [
  ['hall', 50],
  ['use', 14],
];

test('values and use of a term that goes on are not taken over by one of some of its days', async () => {
  const { run, open, openFor, uploadTo, extrasOf } = await openHall('hall-part');
  const regular = await open(july);
  await uploadTo(regular);
  const part = await openFor({ startDate: '10/07/2026', endDate: '20/07/2026' });
  assert.deepEqual(await extrasOf(part), []);
  await post(run, part);
  assert.deepEqual(await extrasOf(regular), hallAndCalls);
});

test('values and usage of a skipped bill are on the bill of the same days', async () => {
  const { run, client, open, openFor, uploadTo, extrasOf } = await openHall('hall-again');
  const regular = await open(july);
  await uploadTo(regular);
  await generate(run, regular);
  const { billID } = await billOf(run, regular);
  await client.holdBill({ data: { billID, hold: true, reason: 'disputed' } });
  await post(run, regular, true);
  const other = await openFor(july);
  assert.deepEqual(await extrasOf(other), hallAndCalls);
  // Sent once more, they are those of the bill, and not added to it.
  await uploadTo(other);
  assert.deepEqual(await extrasOf(other), hallAndCalls);
  await post(run, other);
  assert.deepEqual(await extrasOf(await open(august)), []);
});

test('what comes in for a term makes stale what may have taken it over', async () => {
  const { run, open, openFor, uploadTo, extrasOf } = await openHall('hall-stale');
  const [regular, other] = [await open(july), await openFor(july)];
  assert.deepEqual(await extrasOf(other), []);
  await uploadTo(regular);
  await refuses(post(run, other), 'TERM_STALE_GENERATE_AGAIN');
  assert.deepEqual(await extrasOf(other), hallAndCalls);
  await post(run, other);
  await generate(run, regular);
  assert.deepEqual(await billsOf(run, regular), []);
});

test('values and use of the term of a new owner are not taken over for the old one', async () => {
  const { run, client, connection, open, openFor, uploadTo, extrasOf } =
    await openHall('hall-moved');
  const regular = await open(july);
  await uploadTo(regular);
  const data = { connectionNumber: connection, transferDate: '11/07/2026' };
  const next = { toPartyNumber: await newParty(client, 'Next'), connectionGroupLabel: 'Next' };
  await client.transferConnection({ data: { ...data, ...next } });
  const final = await openFor({ ...july, type: 'Final' });
  assert.deepEqual(await extrasOf(final), []);
  await post(run, final);
  assert.deepEqual(await extrasOf(regular), hallAndCalls);
});

test('values and use that were caught up on are not billed again after days off', async () => {
  const { run, client, connection, open, openFor, uploadTo, extrasOf } = await openHall('hall-off');
  const regular = await open(july);
  await uploadTo(regular);
  await generate(run, regular);
  const { billID } = await billOf(run, regular);
  await client.holdBill({ data: { billID, hold: true, reason: 'disputed' } });
  await post(run, regular, true);
  const change = { connectionNumber: connection, force: true };
  await client.disconnectConnection({ data: { ...change, effectiveDate: '21/07/2026' } });
  const other = await openFor(july);
  assert.deepEqual(await extrasOf(other), hallAndCalls);
  await post(run, other);
  await client.reconnectConnection({ data: { ...change, effectiveDate: '11/08/2026' } });
  assert.deepEqual(await extrasOf(await open(august)), []);
});

test('values and use that another term billed are not billed by their own after days off', async () => {
  const { run, client, connection, open, openFor, uploadTo, extrasOf } = await openHall('hall-on');
  const regular = await open(july);
  await uploadTo(regular);
  const change = { connectionNumber: connection, force: true };
  await client.disconnectConnection({ data: { ...change, effectiveDate: '21/07/2026' } });
  const other = await openFor(july);
  assert.deepEqual(await extrasOf(other), hallAndCalls);
  await post(run, other);
  await client.reconnectConnection({ data: { ...change, effectiveDate: '25/07/2026' } });
  assert.deepEqual(await extrasOf(regular), []);
  // What comes in from now on is new.
  const data = JSON.stringify({ termID: regular, compsData: [[connection, 'hall', '60']] });
  await client.postManualComponentValues({ operation: 'schedule', data: { data } });
  assert.deepEqual(await extrasOf(regular), [['hall', 60]]);
});
