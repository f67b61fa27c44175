// The price book and the plain, day-by-day rater make the same lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/price-book.ts';
import { rateBill } from '../../src/domain/rating/rate-bill.ts';
import { plainBill } from './plain-bill.ts';
import { dayOf } from './plain-history.ts';
import { randomBills } from './random-bills.ts';
import { runs } from './random-runs.ts';

test('the price book agrees with the plain rater, line by line', () => {
  fc.assert(
    fc.property(randomBills, ({ context, plans, facts }) => {
      // The plain rater knows no add-ons.
      const connection = { ...facts.connection, addOns: [] };
      const own = { ...facts, connection };
      const bill = rateBill(compilePriceBook(singleVersion(context, plans)), own);
      assert.deepEqual(bill.errors, []);
      const plain = plainBill(context, plans, own);
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
    }),
    runs,
  );
});
