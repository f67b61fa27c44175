// Which subscriptions a term bills, which it does not and why, and the difference to the last term.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import { refuses } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
scene.clock.begin(Temporal.Instant.from('2026-04-03T06:00:00Z'));
const admin = await scene.workspace('population');
const fee = { name: 'fee', label: 'Fee', type: 'Charge' as const };
const offer = await newOffer(
  admin,
  {
    meteredInputs: [],
    components: [fee],
    batches: [{ batchCode: 'B2', label: 'Second' }],
    holdRules: [],
  } as never,
  { componentRules: [{ component: 'fee', formula: '100' }], usageData: [] } as never,
);
const { serviceCode } = offer;
const partyNumber = await newParty(admin, 'Asma Khan');

const add = (connectionNumber: string, facts: object = {}) =>
  subscribe(
    admin,
    {
      ...offer,
      connectionNumber,
      connectionDate: '01012026',
      users: [{ partyNumber }],
      ...facts,
    } as never,
    { batchUpload: true },
  );

await add('STAY-1');
await add('STAY-2');
await add('LEAVES');
await add('MOVES');
await add('PENDING', { status: 'Pending' });
await add('BILLED', { billedThrough: '31032026' });
await add('OTHER', { batchCode: 'B2' });

const january = { startDate: '01/01/2026', endDate: '31/01/2026', dueDate: '31/12/2026' };
const february = { startDate: '01/02/2026', endDate: '28/02/2026', dueDate: '31/12/2026' };

type Asked = Omit<RequestOf<'getTermPopulation'>, 'termID'>;
async function rowsOf(termID: number, asked: Asked = {}) {
  const { data } = await admin.getTermPopulation({ termID, ...asked });
  return data.rows.map((row) => [row.connectionNumber, row.reason ?? row.change]);
}

test('an open term lists what it will bill, and each other subscription with its reason', async () => {
  const termID = await newTerm(admin, { serviceCode, ...january, label: 'January' });
  const { data, headers } = await admin.getTermPopulation({ termID });
  assert.deepEqual(data.counts, {
    included: 4,
    excluded: 3,
    reasons: [
      { reason: 'OtherBatch', count: 1 },
      { reason: 'Pending', count: 1 },
      { reason: 'AlreadyBilled', count: 1 },
    ],
  });
  assert.equal(data.difference, null);
  assert.equal(headers.get('x-total-count'), '6');
  assert.deepEqual(data.rows[0], {
    connectionNumber: 'STAY-1',
    connectionStatus: 'Active',
    partyNumber,
    name: 'Asma Khan',
    tariffCode: offer.tariffCode,
    batchCode: 'DEFAULT',
    included: true,
    reason: null,
    change: null,
  });
  const quick = await admin.getTermPopulation({ termID, withCounts: false });
  const { counts, difference, rows } = quick.data;
  assert.deepEqual({ counts, difference }, { counts: null, difference: null });
  assert.deepEqual(rows, data.rows);
  assert.equal(quick.headers.get('x-total-count'), '6');
  assert.deepEqual(await rowsOf(termID, { included: false }), [
    ['PENDING', 'Pending'],
    ['BILLED', 'AlreadyBilled'],
  ]);
  assert.deepEqual(await rowsOf(termID, { reason: 'OtherBatch' }), [['OTHER', 'OtherBatch']]);
  const page = { pageNumber: 1, size: 3 };
  assert.deepEqual(await rowsOf(termID, { included: true, page }), [['MOVES', null]]);
  await admin.generateBills(schedule(termID));
  const { bills } = (await admin.getBills({ termID })).data;
  // What generating made is what the population showed.
  assert.equal(bills.length, data.counts?.included);
  await admin.postBills(schedule(termID));
  const posted = (await admin.getTermPopulation({ termID })).data;
  assert.deepEqual(posted.counts, data.counts);
  await admin.cancelBill({ data: { billID: bills[0]?.billID ?? 0, reason: 'Wrong' } });
  assert.deepEqual(await rowsOf(termID, { reason: 'Cancelled' }), [['STAY-1', 'Cancelled']]);
});

test('the difference to the last term names new and gone subscriptions', async () => {
  await add('NEW', { connectionDate: '10022026' });
  await add('LATER', { connectionDate: '01032026' });
  const leaves = { connectionNumber: 'LEAVES', effectiveDate: '01/02/2026' };
  await admin.disconnectConnection({ data: { ...leaves, reason: 'Moved' } } as never);
  await admin.updateConnection({
    data: { connectionNumber: 'MOVES', batchCode: 'B2' },
  } as never);
  const termID = await newTerm(admin, { serviceCode, ...february, label: 'February' });
  const { data } = await admin.getTermPopulation({ termID });
  const january = data.difference?.previousTermID ?? 0;
  assert.deepEqual(data.difference, {
    previousTermID: january,
    previousLabel: 'January',
    // The bill of STAY-1 was cancelled, so it is new, as NEW is.
    new: 2,
    gone: 2,
  });
  assert.deepEqual(await rowsOf(termID, { change: 'New' }), [
    ['STAY-1', 'New'],
    ['NEW', 'New'],
  ]);
  assert.deepEqual(await rowsOf(termID, { change: 'Gone' }), [
    ['LEAVES', 'Disconnected'],
    ['MOVES', 'OtherBatch'],
  ]);
  assert.deepEqual(await rowsOf(termID, { reason: 'NotConnected' }), [['LATER', 'NotConnected']]);
});

test('a term for chosen subscriptions lists these alone, and an unknown term is refused', async () => {
  const termID = await newTerm(admin, {
    ...{ serviceCode, ...february, label: 'Extra', type: 'OffCycle' },
    connectionNumbers: ['STAY-2'],
  });
  const { data } = await admin.getTermPopulation({ termID });
  assert.deepEqual(data.counts, { included: 1, excluded: 0, reasons: [] });
  await refuses(admin.getTermPopulation({ termID: 999_999 }), 'TERM_NOT_FOUND');
});
