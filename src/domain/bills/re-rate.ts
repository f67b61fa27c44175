// Rates a stored bill again from the inputs frozen with it and the prices of its run.

import { AppError } from '../../base/errors.ts';
import type { Bill, BillLine } from '../rating/bill.ts';
import type { PriceBook } from '../rating/compile/price-book.ts';
import { type FrozenBillInputs, frozenOf } from '../rating/frozen-inputs.ts';
import type { LineExplanation } from '../rating/rate/explain.ts';
import { rateBill } from '../rating/rate/rate-bill.ts';
import type { StoredDocument, StoredLine } from './bill-forms.ts';

export type ExplainedLine = LineExplanation & { connectionNumber?: string };

/** Explains the amount of every line. If re-rating gives another amount, that is a bug: throw. */
export function explainStored(
  book: PriceBook,
  frozen: FrozenBillInputs,
  document: StoredDocument,
): ExplainedLine[] {
  const isOfSeveral = 'subscriptions' in frozen;
  const bills = frozenOf(frozen).map((frozen) => rateBill(book, frozen, { explain: true }));
  const tooLong = bills
    .flatMap((bill) => bill.errors)
    .find(({ code }) => code === 'FORMULA_TOO_COSTLY');
  if (tooLong) throw new AppError('FORMULA_TOO_COSTLY', { message: tooLong.message });
  const lines = bills.flatMap((bill) => bill.lines);
  const surcharges = bills.flatMap((bill) => bill.surcharges);
  assertSame(lines, document.lines ?? []);
  assertSame(surcharges, document.surcharges ?? []);
  const own = bills.flatMap((bill) => explanationsOf(bill, isOfSeveral, 'lines'));
  const late = bills.flatMap((bill) => explanationsOf(bill, isOfSeveral, 'surcharges'));
  return [...own, ...late].map((line, index) => ({ ...line, lineNo: index + 1 }));
}

function explanationsOf(
  bill: Bill,
  isOfSeveral: boolean,
  pick: 'lines' | 'surcharges',
): ExplainedLine[] {
  const numbers = new Set(bill[pick].map((line) => line.lineNo));
  const found = (bill.explanation ?? []).filter((line) => numbers.has(line.lineNo));
  const { connectionNumber } = bill;
  if (!isOfSeveral || connectionNumber === null) return found;
  return found.map((line) => ({ ...line, connectionNumber }));
}

/** Whether the frozen inputs still give the lines and sums that were stored. */
export function isRatedAgain(
  book: PriceBook,
  frozen: FrozenBillInputs,
  document: StoredDocument,
  sums: { currentCharges: number; taxAmount: number; arrears: number; lateSurcharge: number },
): boolean {
  const bills = frozenOf(frozen).map((frozen) => rateBill(book, frozen));
  const total = (pick: (bill: Bill) => number) => bills.reduce((sum, bill) => sum + pick(bill), 0);
  return (
    bills.every((bill) => bill.status === 'Draft') &&
    isSame(
      bills.flatMap((bill) => bill.lines),
      document.lines ?? [],
    ) &&
    isSame(
      bills.flatMap((bill) => bill.surcharges),
      document.surcharges ?? [],
    ) &&
    total((bill) => bill.currentCharges) === sums.currentCharges &&
    total((bill) => bill.taxAmount) === sums.taxAmount &&
    total((bill) => bill.arrears) === sums.arrears &&
    total((bill) => bill.latePaymentSurcharge) === sums.lateSurcharge
  );
}

function assertSame(rated: readonly BillLine[], stored: readonly StoredLine[]): void {
  if (isSame(rated, stored)) return;
  throw new Error('re-rating a stored bill gave another result');
}

function isSame(rated: readonly BillLine[], stored: readonly StoredLine[]): boolean {
  if (rated.length !== stored.length) return false;
  return rated.every(({ component, amount }, index) => {
    const line = stored[index];
    return line?.component === component && line.amount === amount;
  });
}
