// What every method of settlement keeps to, on any amounts: the shares add up, and no item gets
// more than is open on it. SETTLEMENT_RUNS sets how many cases are tried.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OpenItem } from '../../src/domain/ledger/open-item.ts';
import { settle, settlementMethods } from '../../src/domain/ledger/settle.ts';

const numRuns = Number(process.env.SETTLEMENT_RUNS ?? 250);
/** Minor units: the most that an amount may be, and what small currencies have. */
const largest = 10 ** 15 - 1;
const openAmount = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: 100_000 }),
  fc.integer({ min: largest - 10, max: largest }),
);
const days = ['2027-01-15', '2027-02-15', '2027-03-15'];

const debts = fc
  .array(
    fc.record({ open: openAmount, day: fc.nat(2), subscriptionId: fc.integer({ min: 1, max: 3 }) }),
    { minLength: 1, maxLength: 500, size: 'max' },
  )
  .map((rows) =>
    rows.map(({ open, day, subscriptionId }, index): OpenItem => {
      const dueDate = days[day] ?? '';
      const ids = { itemId: index + 1, billId: null, subscriptionId, partyId: 1, accountId: 2 };
      return {
        ...ids,
        kind: 'Fee',
        component: 'fee',
        dueDate,
        issueDate: dueDate,
        open,
      } as OpenItem;
    }),
  );

test('what a payment lays on 1 to 500 items adds up to it, to the last unit', () => {
  const share = fc.bigInt({ min: 0n, max: 1_100n });
  const method = fc.constantFrom(...settlementMethods);
  fc.assert(
    fc.property(debts, share, method, (items, thousandths, methodOf) => {
      const opens = new Map(items.map((item) => [item, BigInt(item.open)]));
      const total = [...opens.values()].reduce((sum, open) => sum + open, 0n);
      const wanted = (total * thousandths) / 1_000n;
      const amount = Number(wanted > BigInt(largest) ? BigInt(largest) : wanted);
      const laid = settle(items, amount, { method: methodOf, subscriptionId: 1 });
      const sum = laid.reduce((so, one) => so + BigInt(one.amount), 0n);
      const expected = BigInt(amount) < total ? BigInt(amount) : total;
      assert.equal(sum, methodOf === 'Manual' ? 0n : expected);
      assert.equal(new Set(laid.map((one) => one.item)).size, laid.length, 'each item once');
      for (const { item, amount: part } of laid) {
        assert.ok(Number.isSafeInteger(part) && part > 0);
        assert.equal(BigInt(item.open) + BigInt(part), opens.get(item));
        assert.ok(item.open >= 0);
      }
    }),
    { numRuns },
  );
});

test('Proportional gives each item its floor or one unit more, the larger ones first', () => {
  fc.assert(
    fc.property(debts, fc.nat(largest), (items, amount) => {
      const opens = new Map(items.map((item) => [item, BigInt(item.open)]));
      const total = [...opens.values()].reduce((sum, open) => sum + open, 0n);
      fc.pre(BigInt(amount) < total);
      const laid = settle(items, amount, { method: 'Proportional', subscriptionId: null });
      const parts = new Map(laid.map((one) => [one.item, BigInt(one.amount)]));
      const extras = items.map((item) => {
        const open = opens.get(item) ?? 0n;
        return { open, extra: (parts.get(item) ?? 0n) - (open * BigInt(amount)) / total };
      });
      assert.ok(extras.every(({ extra }) => extra === 0n || extra === 1n));
      const without = extras.filter((one) => one.extra === 0n).map((one) => one.open);
      const most = without.reduce((max, open) => (open > max ? open : max), 0n);
      assert.ok(extras.every(({ extra, open }) => extra === 0n || open >= most));
    }),
    { numRuns },
  );
});
