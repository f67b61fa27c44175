import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MadeBill } from './made-bill.ts';
import { addBill, addTotals, emptySums, totalsText } from './run-totals.ts';

const sumOf = (amounts: readonly number[]) =>
  String(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));

function billOf(amount: number): MadeBill {
  const amounts = { currentCharges: amount, taxAmount: amount, arrears: amount, payable: amount };
  const lines = [{ component: 'energy', label: 'Energy', amount }];
  return { subscriptions: 1, status: 'Draft', ...amounts, lines, usage: [] } as never;
}

test('bills add up to the last unit, however large they are together', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const amount = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(most, -most, 0, 1, -1));
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 30 }), fc.nat(30), (amounts, split) => {
      const totals = [amounts.slice(0, split), amounts.slice(split)].map((part) => {
        const sums = emptySums();
        for (const one of part) addBill(sums, billOf(one), false);
        return totalsText(sums);
      });
      const sums = emptySums();
      for (const part of totals) addTotals(sums, part);
      const { currentCharges, taxAmount, arrears, payable, components } = totalsText(sums);
      const found = [currentCharges, taxAmount, arrears, payable];
      if (amounts.length > 0) found.push(components.energy?.amount ?? '');
      assert.deepEqual(found, Array(found.length).fill(sumOf(amounts)));
    }),
  );
});
