// The price book and the plain, day-by-day rater make the same lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Bill } from '../../src/domain/rating/bill.ts';
import { type PlainBill, plainBill } from './plain-bill.ts';
import { dayOf } from './plain-history.ts';
import { bookOf, randomTariffs, ratedBy, tariffRuns } from './random-bills.ts';

test('the price book agrees with the plain rater, line by line', () => {
  fc.assert(
    fc.property(randomTariffs, ({ context, plans, subscriptions }) => {
      const book = bookOf({ context, plans });
      for (const facts of subscriptions) {
        // The plain rater knows no add-ons.
        const own = { ...facts, connection: { ...facts.connection, addOns: [] } };
        assertSame(ratedBy(book, own), plainBill(context, plans, own));
      }
    }),
    tariffRuns,
  );
});

function assertSame(bill: Bill, plain: PlainBill): void {
  const ours = bill.lines.map(({ component, fromDate, toDate, amount }) => {
    return `${component} ${dayOf(fromDate)} ${dayOf(toDate)} ${amount}`;
  });
  const theirs = plain.lines.map(({ component, from, to, amount }) => {
    return `${component} ${from} ${to} ${amount}`;
  });
  assert.deepEqual(ours.sort(), theirs.sort());
  assert.equal(BigInt(bill.currentCharges), plain.currentCharges);
  assert.equal(BigInt(bill.payableWithinDueDate), plain.payable);
  assert.equal(BigInt(bill.latePaymentSurcharge), plain.late);
}
