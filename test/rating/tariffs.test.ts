// The worked bills of the specification, line by line and to the minor unit.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import type { Bill } from '../../src/domain/rating/bill.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import type { LineExplanation } from '../../src/domain/rating/rate/explain.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { type ExpectedBill, tariffCases } from './tariff-cases.ts';

const totals = [
  'currentCharges',
  'taxAmount',
  'arrears',
  'roundingAdjustment',
  'payableWithinDueDate',
  'latePaymentSurcharge',
  'payableAfterDueDate',
] as const;

function amountsByComponent(bill: Bill, lineType?: string): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const line of [...bill.lines, ...bill.surcharges]) {
    if (lineType !== undefined && line.lineType !== lineType) continue;
    amounts.set(line.component, (amounts.get(line.component) ?? 0) + line.amount);
  }
  return amounts;
}

function assertBill(bill: Bill, expected: ExpectedBill): void {
  assert.deepEqual(bill.errors, []);
  const text = (minor: number) => minorUnitsText(minor, bill.currencyScale);
  const amounts = amountsByComponent(bill);
  const found = Object.keys(expected.amounts).map((name) => [name, text(amounts.get(name) ?? 0)]);
  assert.deepEqual(Object.fromEntries(found), expected.amounts);
  for (const name of amounts.keys()) assert.ok(name in expected.amounts, `unexpected ${name}`);
  for (const total of totals) assert.equal(text(bill[total]), expected[total], total);
  const usage = bill.usage.map((item) => [item.input, item.quantity]);
  assert.deepEqual(Object.fromEntries(usage), expected.usage);
  if (expected.segments !== undefined) {
    const segments = bill.segments.map(({ tariffCode: _code, ...days }) => days);
    assert.deepEqual(segments, expected.segments);
  }
  if (expected.adjustmentLines !== undefined) {
    const adjusted = [...amountsByComponent(bill, 'Adjustment')];
    const texts = adjusted.map(([name, minor]) => [name, text(minor)]);
    assert.deepEqual(Object.fromEntries(texts), expected.adjustmentLines);
  }
}

describe('worked tariffs', () => {
  for (const tariff of tariffCases) {
    const book = compilePriceBook(singleVersion(tariff.service, tariff.tariffs));
    for (const scenario of tariff.scenarios) {
      test(`${scenario.id}: ${scenario.title}`, () => {
        assertBill(rateBill(book, scenario), scenario.expected);
      });
      test(`${scenario.id} explained is the same bill`, () => {
        const { explanation, ...bill } = rateBill(book, scenario, { explain: true });
        assert.deepEqual(bill, rateBill(book, scenario));
        assert.equal(explanation?.length, bill.lines.length + bill.surcharges.length);
        for (const line of [...bill.lines, ...bill.surcharges]) {
          const found: LineExplanation | null =
            explanation?.find((item) => item.lineNo === line.lineNo) ?? null;
          assert.equal(found?.amount, line.amount);
          assert.equal(found?.component, line.component);
        }
      });
    }
  }
});
