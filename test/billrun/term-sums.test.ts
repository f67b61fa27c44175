// The sums of a term are those of its bills: of all while it is open, of the posted ones after.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  type BillRun,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  tariffCase,
  unpost,
} from '../support/bill-run.ts';
import { schedule } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { readNext } from '../support/meter-rows.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const elec = tariffCase('ELEC');
const scenario = elec.scenarios[2] as unknown as FrozenInputs;
const august = {
  label: 'Aug-2025',
  startDate: '01/08/2025',
  endDate: '31/08/2025',
  dueDate: '15/09/2025',
};

type Changed = Parameters<typeof openBillRun>[2];

/** A generated term with a subscription for each use. */
async function generated(uses: readonly number[], changed: Changed = {}) {
  const run = await openBillRun(scene, elec, changed);
  const termId = await addTerm(run);
  const subscriptions: number[] = [];
  for (const [index, use] of uses.entries()) {
    const facts = { ...copyOf(scenario, index, use), account: {} };
    subscriptions.push(await addSubscription(run, termId, facts));
  }
  await generate(run, termId);
  return { run, termId, subscriptions };
}

const cents = (amount: number) => Math.round(amount * 100);

function added(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + cents(amount), 0);
}

/** Every sum is added up once more from the bills that count. */
async function assertSums(
  run: BillRun,
  termId: number,
  expected: { use: number; counted: number },
) {
  const { data } = await run.client.getBillTerm({ billTermID: termId });
  const { summary, term } = data;
  const isPosted = term.status !== 'Open';
  const counted = data.bills.filter((bill) => !isPosted || bill.billNumber !== null);
  assert.equal(counted.length, expected.counted);
  const sumOf = (
    name: 'currentCharges' | 'taxAmount' | 'arrears' | 'payableWithinDueDate' | 'paidAmount',
  ) => {
    assert.equal(cents(summary[name]), added(counted.map((bill) => bill[name])), name);
  };
  sumOf('currentCharges');
  sumOf('taxAmount');
  sumOf('arrears');
  sumOf('payableWithinDueDate');
  sumOf('paidAmount');
  const components = new Map<string, number>();
  for (const { component, amount } of counted.flatMap((bill) => bill.lines)) {
    components.set(component, (components.get(component) ?? 0) + cents(amount));
  }
  assert.deepEqual(
    new Map(summary.components.map(({ component, amount }) => [component, cents(amount)])),
    components,
  );
  assert.equal(added(summary.components.map((one) => one.amount)), cents(summary.currentCharges));
  const used = [{ input: 'energy', unit: 'kWh', quantity: String(expected.use) }];
  assert.deepEqual(summary.usage, expected.use === 0 ? [] : used);
  assert.equal(data.bills.length, summary.bills + summary.errors);
  return summary;
}

test('a posted term counts posted bills, and the next one is held against those', async () => {
  const { run, termId, subscriptions } = await generated([300, 200, 100]);
  const all = await assertSums(run, termId, { use: 600, counted: 3 });
  const [first, left, last] = await billsOf(run, termId);
  await run.client.holdBill({ data: { billID: left?.billID ?? 0, hold: true, reason: 'ask' } });
  await assertSums(run, termId, { use: 600, counted: 3 });
  await post(run, termId, true);
  const some = await assertSums(run, termId, { use: 400, counted: 2 });
  assert.equal(
    cents(some.currentCharges),
    added([first?.currentCharges ?? 0, last?.currentCharges ?? 0]),
  );
  assert.deepEqual([some.bills, some.onHold, some.errors], [3, 1, 0]);
  await run.client.publishBills(schedule(termId));
  assert.deepEqual(await assertSums(run, termId, { use: 400, counted: 2 }), some);
  assert.ok(some.currentCharges < all.currentCharges);

  const next = await addTerm(run, august);
  const date = '2025-08-31';
  for (const id of subscriptions) await readNext(scene, run.tenantId, next, id, { date, use: 300 });
  await generate(run, next);
  const { data } = await run.client.getBillTerm({ billTermID: next });
  const change = (data.summary.currentCharges / some.currentCharges - 1) * 100;
  assert.deepEqual(data.summary.comparison, {
    previousTermID: termId,
    currentChargesChangePct: String(Number(change.toFixed(1))),
  });
});

for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
  test(`${postType}: sums follow drafts that go when readings are unlocked`, async () => {
    const { run, termId } = await generated([150, 200], { postType });
    const isCombined = postType === 'Post Account';
    const before = await assertSums(run, termId, { use: 350, counted: isCombined ? 1 : 2 });
    const connectionNumber = `${scenario.connection?.connectionNumber}-0`;
    await run.client.unpostMeterReadings({ data: { termID: termId, connectionNumber } });
    const left = isCombined ? { use: 0, counted: 0 } : { use: 200, counted: 1 };
    const after = await assertSums(run, termId, left);
    assert.ok(after.currentCharges < before.currentCharges);
    const next = await addTerm(run, august);
    const { data } = await run.client.getBillTerm({ billTermID: next });
    const whole = isCombined ? null : '-100';
    assert.equal(data.summary.comparison?.currentChargesChangePct, whole);
  });
}

test('if most bills are skipped, the totals are those of the posted ones', async () => {
  const { run, termId } = await generated([300, 200, 100]);
  const bills = await billsOf(run, termId);
  for (const { billID } of bills.slice(1)) {
    await run.client.holdBill({ data: { billID, hold: true, reason: 'ask' } });
  }
  await post(run, termId, true);
  const one = await assertSums(run, termId, { use: 300, counted: 1 });
  assert.deepEqual([one.currentCharges, one.onHold], [bills[0]?.currentCharges, 2]);
});

test('sums of accounts are those of posted bills, and of all again when they are unposted', async () => {
  const { run, termId } = await generated([150, 200], { postType: 'Post Account' });
  const connectionGroups = ['House 12-B', 'Shop'].map((label) => ({ connectionGroupLabel: label }));
  await run.client.updateUser({ user: { partyNumber: 100001, connectionGroups } });
  for (const [index, use] of [100, 120].entries()) {
    const facts = { ...copyOf(scenario, 10 + index, use), account: {} };
    await addSubscription(run, termId, facts, { accountId: 2 });
  }
  await generate(run, termId);
  const before = await assertSums(run, termId, { use: 570, counted: 2 });
  const bills = await billsOf(run, termId);
  const hold = (index: number, isHeld: boolean) => {
    const billID = bills[index]?.billID ?? 0;
    return run.client.holdBill({ data: { billID, hold: isHeld, reason: 'ask' } });
  };
  await hold(0, true);
  await post(run, termId, true);
  const one = await assertSums(run, termId, { use: 220, counted: 1 });
  assert.deepEqual([one.subscriptions, one.bills, one.onHold], [4, 2, 1]);
  await unpost(run, termId);
  await hold(0, false);
  const { retiredNumbers, ...again } = await assertSums(run, termId, { use: 570, counted: 2 });
  assert.equal(retiredNumbers.length, 1);
  assert.deepEqual({ ...again, retiredNumbers: [] }, before);
  await hold(0, true);
  await hold(1, true);
  await post(run, termId, true);
  const none = await assertSums(run, termId, { use: 0, counted: 0 });
  assert.deepEqual([none.currentCharges, none.components], [0, []]);
});

test('a bill that was released from a rule does not count as held when it is made again', async () => {
  const rule = { name: 'large', when: 'bill.current > 5000', reason: 'Too much' };
  const { run, termId } = await generated([100, 300, 400], { holdRules: [rule] });
  const held = (await billsOf(run, termId)).filter((bill) => bill.status === 'Hold');
  assert.equal(held.length, 2);
  const [released] = held;
  await run.client.holdBill({
    data: { billID: released?.billID ?? 0, hold: false, reason: 'It was read again' },
  });
  const { message } = await generate(run, termId);
  assert.match(message, /3 bills generated, 0 in error, 1 on hold/);
  const { data } = await run.client.getBillTerm({ billTermID: termId });
  assert.equal(data.summary.onHold, 1);
  assert.deepEqual(
    data.bills.map((bill) => bill.status),
    ['Draft', 'Draft', 'Hold'],
  );
});
