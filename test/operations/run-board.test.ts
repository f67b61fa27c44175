// The run board through a month: what it shows of a term after each step, against the bills
// themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedule } from '../support/delivery.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newMeter, newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
scene.clock.begin(Temporal.Instant.from('2026-02-03T06:00:00Z'));
const admin = await scene.workspace('run-board');
await scene.enter(admin);
const offer = await newOffer(
  admin,
  {
    meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
    components: [{ name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 }],
    batches: [{ batchCode: 'B2', label: 'Second' }],
    holdRules: [],
  } as never,
  {
    componentRules: [{ component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' }],
    usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
  },
);
const { serviceCode } = offer;
const meters: number[] = [];
for (let index = 0; index < 4; index += 1) {
  const number = await newMeter(admin);
  meters.push(number);
  await subscribe(
    admin,
    {
      ...offer,
      connectionDate: '01012026',
      users: [{ partyNumber: await newParty(admin, `Owner ${index}`) }],
      meters: [{ number, installDate: '01/01/2026', initialReading: '0' }],
    } as never,
    { batchUpload: true },
  );
}
const days = { startDate: '01/01/2026', endDate: '31/01/2026', dueDate: '15/02/2026' };
const termID = await newTerm(admin, { serviceCode, ...days, label: 'January' });

async function boardOf(id: number) {
  const { data } = await admin.getRunBoard({});
  const term = data.terms.find((one) => one.termID === id);
  if (!term) throw new Error(`term ${id} is not on the board`);
  return term;
}

const statesOf = (term: { steps: { state: string }[] }) =>
  term.steps.map(({ state }) => state.slice(0, 1)).join('');

/** The counts and the sum that the bills themselves give. */
async function billsOf(id: number) {
  const { rows } = await scene.sql.query(
    `select status, count(*)::integer as count, sum(current_charges)::integer as charges
     from bills where term_id = $1 group by status`,
    [id],
  );
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
  return {
    drafts: of('Draft'),
    posted: of('Posted'),
    published: of('Published'),
    errors: of('Error'),
    held: of('Hold'),
    cancelled: of('Cancelled'),
  };
}

async function assertBills(id: number, charges: number): Promise<void> {
  const { counts, amounts } = await boardOf(id);
  const { drafts, posted, published, errors, held, cancelled } = counts;
  assert.deepEqual({ drafts, posted, published, errors, held, cancelled }, await billsOf(id));
  assert.equal(amounts.currentCharges, charges);
}

test('the board shows the steps, counts and sums of a term through its month', async () => {
  const opened = await boardOf(termID);
  assert.equal(statesOf(opened), 'DDNWWWWWW');
  assert.deepEqual(
    [opened.counts.subscriptions, opened.counts.readingsExpected, opened.counts.readingsIn],
    [4, 4, 0],
  );
  assert.equal(opened.steps[2]?.left, 4);
  assert.equal(opened.steps[0]?.by, opened.createdBy);
  const read = (number: number | undefined, value: string) => ({
    ...{ number: number ?? 0, value, readingDate: '31/01/2026' },
  });
  await admin.makeReadings({
    readings: [read(meters[0], '100'), read(meters[1], '200'), read(meters[2], '300')],
  });
  const readIn = await boardOf(termID);
  assert.equal(statesOf(readIn), 'DDDNWWWWW');
  assert.deepEqual([readIn.counts.readingsIn, readIn.steps[2]?.left], [3, 1]);
  await admin.postMeterReadings({
    operation: 'schedule',
    data: { termID, reading: 'current' },
  });
  const locked = await boardOf(termID);
  assert.equal(statesOf(locked), 'DDDDWNWWW');
  assert.deepEqual([locked.counts.readingsIn, locked.counts.readingsExpected], [3, 4]);
  assert.deepEqual([locked.steps[3]?.left, locked.steps[4]?.optional], [1, true]);
  await admin.generateBills(schedule(termID));
  // 100 + 200 + 300 units at 10 each; the fourth meter is unread, so its bill is in error.
  await assertBills(termID, 6_000);
  const made = await boardOf(termID);
  assert.equal(statesOf(made), 'DDDDDDBWW');
  assert.deepEqual([made.steps[5]?.count, made.steps[5]?.left], [4, 1]);
});

test('holding, cancelling, posting and publishing move the counts of the board', async () => {
  const { data } = await admin.getBills({ termID });
  const [first, second] = data.bills.filter(({ status }) => status === 'Draft');
  await admin.holdBill({ data: { billID: first?.billID ?? 0, hold: true, reason: 'Check' } });
  await assertBills(termID, 6_000);
  assert.equal((await boardOf(termID)).amounts.heldCharges, 1_000);
  await admin.postBills({
    operation: 'schedule',
    data: { termID, skipErrors: true, acceptDueDate: true },
  });
  // The held bill of 1,000 is not posted.
  await assertBills(termID, 5_000);
  assert.equal(statesOf(await boardOf(termID)), 'DDDDDDDNW');
  await admin.unpostBills({ operation: 'schedule', data: { termID, reason: 'Again' } });
  await assertBills(termID, 6_000);
  await admin.postBills({
    operation: 'schedule',
    data: { termID, skipErrors: true, acceptDueDate: true },
  });
  await admin.publishBills(schedule(termID));
  await assertBills(termID, 5_000);
  await admin.cancelBill({ data: { billID: second?.billID ?? 0, reason: 'Wrong' } });
  await assertBills(termID, 3_000);
  await admin.distributeBills(schedule(termID));
  assert.equal(statesOf(await boardOf(termID)), 'DDDDDDDDD');
});

test('the board lists open terms first, the newest jobs, and terms to be posted soon', async () => {
  const february = { startDate: '01/02/2026', endDate: '28/02/2026', dueDate: '12/02/2026' };
  const next = await newTerm(admin, { serviceCode, ...february, label: 'February' });
  const empty = await newTerm(admin, {
    ...{ serviceCode, batchCode: 'B2', label: 'Empty' },
    ...{ ...february, dueDate: '31/12/2026' },
  });
  const { data, headers } = await admin.getRunBoard({ page: { pageNumber: 0, size: 2 } });
  assert.deepEqual(
    data.terms.map((term) => term.termID),
    [empty, next],
  );
  assert.equal(headers.get('x-total-count'), '3');
  assert.equal(statesOf(await boardOf(empty)).slice(0, 2), 'DB');
  // Due on 12/02 with 7 days to pay: to be posted by 05/02, in two days.
  assert.deepEqual(
    data.due.map(({ termID: id, postBy, days: left }) => [id, postBy, left]),
    [[next, '05/02/2026', 2]],
  );
  assert.equal(data.jobs[0]?.operation, 'distribute-bills');
  assert.deepEqual(data.jobs[0]?.progress.done, data.jobs[0]?.progress.total);
  await admin.cancelTerm({ data: { termID: empty, reason: 'Not needed' } });
  const after = await admin.getRunBoard({ page: { pageNumber: 1, size: 1 } });
  assert.deepEqual(
    after.data.terms.map((term) => term.termID),
    [termID],
  );
  scene.clock.advance({ hours: 24 * 93 });
  const username = 'admin@run-board.example';
  const session = await scene.visitor('run-board').login({ username, password: adminPassword });
  admin.useToken(session.data.accessToken);
  const later = await admin.getRunBoard({});
  assert.deepEqual(
    later.data.terms.map((term) => term.termID),
    [next],
  );
});
