// What every bill must be, and what a worked one was published as.
import assert from 'node:assert/strict';
import { minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import type { ExpectedBill } from '../rating/tariff-cases.ts';
import type { ShownBill } from './bill-run.ts';

export const cents = (amount: number) => Math.round(amount * 100);

/** The identities that hold for every bill there is. */
export function assertIdentities(bill: ShownBill): void {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + cents(amount), 0);
  assert.equal(sum(bill.lines.map((line) => line.amount)), cents(bill.currentCharges));
  const taxes = bill.lines.filter((line) => line.type === 'Tax').map((line) => line.amount);
  assert.equal(sum(taxes), cents(bill.taxAmount));
  assert.equal(
    cents(bill.arrears),
    cents(bill.previousBalance) - cents(bill.paymentsReceived) + cents(bill.adjustments),
  );
  assert.equal(cents(bill.billAmount), cents(bill.currentCharges) + cents(bill.roundingAdjustment));
  assert.equal(cents(bill.totalAmount), cents(bill.billAmount) + cents(bill.arrears));
  const due = cents(bill.totalAmount) - cents(bill.walletApplied);
  assert.equal(cents(bill.payableWithinDueDate), Math.max(0, due));
  assert.equal(cents(bill.creditBalance), Math.max(0, -due));
  assert.equal(
    cents(bill.payableAfterDueDate),
    cents(bill.payableWithinDueDate) + cents(bill.latePaymentSurcharge),
  );
  for (const [index, line] of bill.lines.entries()) assert.equal(line.lineNo, index + 1);
}

export function assertPublished(bill: ShownBill, expected: ExpectedBill): void {
  assert.deepEqual(bill.errors, []);
  const amounts = new Map<string, number>();
  for (const line of [...bill.lines, ...bill.surcharges]) {
    amounts.set(line.component, (amounts.get(line.component) ?? 0) + cents(line.amount));
  }
  for (const [component, amount] of Object.entries(expected.amounts)) {
    assert.equal(minorUnitsText(amounts.get(component) ?? 0, 2), amount, component);
  }
  for (const name of amounts.keys()) assert.ok(name in expected.amounts, `unexpected ${name}`);
  const text = (amount: number) => minorUnitsText(cents(amount), 2);
  assert.equal(text(bill.currentCharges), expected.currentCharges);
  assert.equal(text(bill.taxAmount), expected.taxAmount);
  assert.equal(text(bill.arrears), expected.arrears);
  assert.equal(text(bill.roundingAdjustment), expected.roundingAdjustment);
  assert.equal(text(bill.payableWithinDueDate), expected.payableWithinDueDate);
  assert.equal(text(bill.latePaymentSurcharge), expected.latePaymentSurcharge);
  assert.equal(text(bill.payableAfterDueDate), expected.payableAfterDueDate);
  const usage = bill.usage.map((item) => [item.input, item.quantity]);
  assert.deepEqual(Object.fromEntries(usage), expected.usage);
}
