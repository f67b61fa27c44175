// The sums of a bill: what was owed before and paid since, what is charged now, what is to be paid.
import type { BillDocument } from './bill-document.ts';
import type { Fact } from './fact.ts';
import { sumOfAmounts } from './line-sum.ts';
import { type Wording, wordedDate } from './wording.ts';

export type TotalRow = Fact & { readonly weight: 'detail' | 'plain' | 'strong' };

type TotalItem = [label: string, amount: number, weight: TotalRow['weight'], always?: boolean];

/** Rows of zero are left out where they say nothing; the sums always appear. */
export function totalRows(bill: BillDocument, wording: Wording): TotalRow[] {
  const { labels } = wording;
  const hasPast = bill.paymentsReceived !== 0 || bill.adjustments !== 0;
  // A bill with nothing to pay cannot be paid late.
  const late = bill.payableWithinDueDate > 0 ? bill.latePaymentSurcharge : 0;
  return shownRows(wording, [
    [labels.previousBill, hasPast ? bill.previousBalance : 0, 'plain'],
    ...paymentItems(bill, wording),
    [labels.adjustments, bill.adjustments, 'plain'],
    [labels.arrears, bill.arrears, 'plain', hasPast],
    [labels.currentCharges, bill.currentCharges, 'plain', true],
    [labels.ofWhichTaxes, bill.taxAmount, 'detail'],
    [labels.rounding, bill.roundingAdjustment, 'plain'],
    [labels.walletApplied, -bill.walletApplied, 'plain'],
    [labels.payableWithin, bill.payableWithinDueDate, 'strong', true],
    [labels.lateSurcharge, late, 'plain'],
    [labels.payableAfterDue, late && bill.payableAfterDueDate, 'strong'],
    [labels.creditBalance, bill.creditBalance, 'strong'],
  ]);
}

/** Of more payments, the newest have a row each and the others one. */
const paymentRowsMax = 5;

/** Each payment with its day or, if those are not known, their sum. */
function paymentItems(bill: BillDocument, wording: Wording): TotalItem[] {
  const { labels } = wording;
  const { payments = [] } = bill;
  if (payments.length === 0) return [[labels.paymentsReceived, -bill.paymentsReceived, 'plain']];
  const isCut = payments.length > paymentRowsMax + 1;
  const shown = isCut ? payments.slice(-paymentRowsMax) : payments;
  const rest = payments.slice(0, payments.length - shown.length);
  const earlier = sumOfAmounts(rest.map(({ amount }) => amount));
  return [
    [labels.earlierPayments, -earlier, 'plain'],
    ...shown.map(({ date, amount }): TotalItem => {
      const label = amount < 0 ? 'paymentBack' : 'paymentOn';
      return [wordedDate(wording, label, date), -amount, 'plain'];
    }),
  ];
}

/** What was billed and is taken back. Arrears are left out: another bill asks for them. */
export function cancelledRows(bill: BillDocument, wording: Wording): TotalRow[] {
  const { labels } = wording;
  return shownRows(wording, [
    [labels.currentCharges, bill.currentCharges, 'plain', true],
    [labels.ofWhichTaxes, bill.taxAmount, 'detail'],
    [labels.rounding, bill.roundingAdjustment, 'plain'],
    [labels.cancelledAmount, bill.billAmount, 'strong', true],
  ]);
}

function shownRows({ formats }: Wording, rows: readonly TotalItem[]): TotalRow[] {
  return rows
    .filter(([, amount, , always]) => always === true || amount !== 0)
    .map(([label, amount, weight]) => ({ label, value: formats.amount(amount), weight }));
}
