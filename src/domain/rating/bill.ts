// The bill that rating makes: amounts are whole minor units, quantities and rates decimal text.
import type { SlabText } from '../../base/formula/table.ts';
import { minorUnitsText } from '../../base/numbers/decimal-text.ts';
import type { ComponentKind } from './definitions/definitions.ts';
import type { LineBasis } from './line-basis.ts';
import type { LineExplanation } from './rate/explain.ts';
import type { BillErrorCode } from './rating-error.ts';

export type BillError = {
  readonly code: BillErrorCode;
  readonly message: string;
  readonly component?: string;
  readonly meterNumber?: number;
};

/** One slab of a line's calculation. */
export type LineDetail = SlabText;

export type BillLine = {
  readonly lineNo: number;
  readonly component: string;
  readonly label: string;
  readonly type: ComponentKind;
  readonly lineType: 'Normal' | 'Adjustment' | 'Manual';
  readonly source: 'Computed' | 'Manual';
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
  readonly quantity: string | null;
  readonly unit: string | null;
  readonly rate: string | null;
  readonly amount: number;
  readonly computedAmount: number;
  readonly details: readonly LineDetail[];
  readonly tariffCode: string;
  readonly tariffVersion: number;
  readonly description: string | null;
  /** For documents, where the formula is one product that gives the whole amount. */
  readonly basis?: LineBasis;
};

export type BillReading = {
  readonly meterNumber: number;
  readonly register: string | null;
  readonly mf: number;
  readonly previousDate: string | null;
  readonly previousReading: string | null;
  readonly currentDate: string | null;
  readonly currentReading: string | null;
  readonly readingType: string | null;
  readonly estimated: 0 | 1;
  readonly rollover: 0 | 1;
  readonly consumption: string;
};

export type BillUsage = {
  readonly input: string;
  readonly unit: string | null;
  readonly quantity: string;
  /** Units that were billed before they were measured, or too many: they wait for the next term. */
  readonly carried?: string;
};

export type SegmentDays = {
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
  readonly tariffCode: string;
};

export type Bill = {
  readonly status: 'Draft' | 'Error';
  readonly serviceCode: string;
  readonly tariffCode: string | null;
  readonly tariffLabel: string | null;
  readonly connectionNumber: string | null;
  readonly currency: string | null;
  readonly currencyScale: number;
  readonly termLabel: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly dueDate: string | null;
  readonly billedFrom: string | null;
  readonly billedTo: string | null;
  readonly days: number;
  readonly segments: readonly SegmentDays[];
  readonly meterReadings: readonly BillReading[];
  readonly usage: readonly BillUsage[];
  readonly lines: readonly BillLine[];
  readonly surcharges: readonly BillLine[];
  readonly currentCharges: number;
  readonly taxAmount: number;
  readonly arrears: number;
  readonly roundingAdjustment: number;
  readonly billAmount: number;
  readonly totalAmount: number;
  readonly walletApplied: number;
  readonly payableWithinDueDate: number;
  readonly creditBalance: number;
  readonly latePaymentSurcharge: number;
  readonly payableAfterDueDate: number;
  readonly errors: readonly BillError[];
  /** Only if it was requested with `explain`. */
  readonly explanation?: readonly LineExplanation[];
};

const amountFields = [
  'currentCharges',
  'taxAmount',
  'arrears',
  'roundingAdjustment',
  'billAmount',
  'totalAmount',
  'walletApplied',
  'payableWithinDueDate',
  'creditBalance',
  'latePaymentSurcharge',
  'payableAfterDueDate',
] as const;

/** The bill with its amounts as JSON numbers in major units, as the API sends them. */
export function inMajorUnits(bill: Bill): Bill {
  const major = (minor: number) => Number(minorUnitsText(minor, bill.currencyScale));
  const line = (item: BillLine): BillLine => ({
    ...item,
    amount: major(item.amount),
    computedAmount: major(item.computedAmount),
  });
  const amounts = Object.fromEntries(amountFields.map((field) => [field, major(bill[field])]));
  const { explanation } = bill;
  return {
    ...bill,
    ...(amounts as Pick<Bill, (typeof amountFields)[number]>),
    lines: bill.lines.map(line),
    surcharges: bill.surcharges.map(line),
    ...(explanation && {
      explanation: explanation.map((item) => ({ ...item, amount: major(item.amount) })),
    }),
  };
}
