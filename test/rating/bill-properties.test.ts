// Laws that every bill keeps, whatever the tariff and the subscription.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Bill } from '../../src/domain/rating/bill.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { dayOf } from './plain-history.ts';
import { bookOf, dateAfter, randomTariffs, ratedBy, tariffRuns } from './random-bills.ts';

test('segments are disjoint and cover exactly the billable days', () => {
  const cases = fc.tuple(
    randomTariffs,
    fc.integer({ min: -40, max: 40 }),
    fc.boolean(),
    fc.boolean(),
  );
  fc.assert(
    fc.property(cases, ([{ subscriptions, ...tariff }, through, hasThrough, isPaused]) => {
      const book = bookOf(tariff);
      for (const plain of subscriptions) {
        const facts = withHistory(plain, hasThrough ? through : null, isPaused);
        assertCovered(ratedBy(book, facts), facts);
      }
    }),
    tariffRuns,
  );
});

function assertCovered(bill: Bill, facts: FrozenInputs): void {
  const start = dayOf(facts.term.startDate);
  const covered: number[] = [];
  for (const segment of bill.segments) {
    const [from, to] = [dayOf(segment.fromDate), dayOf(segment.toDate)];
    assert.equal(segment.days, to - from + 1);
    assert.ok(to < start || from >= start, 'a segment crosses the start of the term');
    for (let day = from; day <= to; day++) covered.push(day);
  }
  assert.deepEqual(covered, billableDays(facts));
  assert.equal(bill.days, covered.length);
}

/** Days billed through another day than the start, and a pause of three days in the term. */
function withHistory(facts: FrozenInputs, through: number | null, isPaused: boolean): FrozenInputs {
  const start = dayOf(facts.term.startDate);
  const first = dayOf(facts.connection?.connectionDate ?? facts.term.startDate);
  const date = (day: number) => dateAfter(day - dayOf('01/01/2025'));
  const statusHistory = [
    { status: 'Active', fromDate: date(first) },
    { status: 'Disconnected', fromDate: date(Math.max(first, start) + 5) },
    { status: 'Active', fromDate: date(Math.max(first, start) + 8) },
  ];
  return {
    ...facts,
    connection: {
      ...facts.connection,
      ...(through === null ? {} : { billedThrough: date(start + through) }),
      ...(isPaused ? { statusHistory } : {}),
    },
  };
}

/** Day by day, from the description. */
function billableDays(facts: FrozenInputs): number[] {
  const { connectionDate, disconnectDate, billedThrough, statusHistory } = facts.connection ?? {};
  const start = dayOf(facts.term.startDate);
  const connected = dayOf(connectionDate ?? '');
  const after = billedThrough ? dayOf(billedThrough) : Math.max(start, connected) - 1;
  const days: number[] = [];
  for (let day = after + 1; day <= dayOf(facts.term.endDate); day++) {
    const last = (statusHistory ?? []).filter((entry) => dayOf(entry.fromDate) <= day).at(-1);
    const isActive =
      statusHistory === undefined
        ? connected <= day && (!disconnectDate || day < dayOf(disconnectDate))
        : last?.status === 'Active';
    if (isActive) days.push(day);
  }
  return days;
}

test('lines add up to the total, and the totals to each other', () => {
  fc.assert(
    fc.property(randomTariffs, ({ subscriptions, ...tariff }) => {
      const book = bookOf(tariff);
      for (const facts of subscriptions) assertAddsUp(ratedBy(book, facts));
    }),
    tariffRuns,
  );
});

function assertAddsUp(bill: Bill): void {
  const sum = (lines: Bill['lines']) => lines.reduce((total, line) => total + line.amount, 0);
  const due = bill.currentCharges + bill.arrears + bill.roundingAdjustment - bill.walletApplied;
  assert.equal(sum(bill.lines), bill.currentCharges);
  assert.equal(sum(bill.lines.filter((line) => line.type === 'Tax')), bill.taxAmount);
  assert.equal(sum(bill.surcharges), bill.latePaymentSurcharge);
  assert.equal(bill.payableWithinDueDate - bill.creditBalance, due);
  assert.equal(bill.billAmount, bill.currentCharges + bill.roundingAdjustment);
  assert.equal(bill.totalAmount, bill.billAmount + bill.arrears);
  assert.equal(bill.payableAfterDueDate, bill.payableWithinDueDate + bill.latePaymentSurcharge);
  assert.ok(Math.abs(bill.roundingAdjustment) <= 50);
  const numbers = [...bill.lines, ...bill.surcharges].map((line) => line.lineNo);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  );
}
