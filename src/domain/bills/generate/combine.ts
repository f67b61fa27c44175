// One bill for several subscriptions: their lines one after the other, their sums rounded once.
import { isoDay } from '../../../base/days.ts';
import type { CompiledContext } from '../../rating/compile/compiled-context.ts';
import { type Totals, totalsOf } from '../../rating/rate/totals.ts';
import { RatingError } from '../../rating/rating-error.ts';
import {
  addRating,
  type StoredError,
  type StoredLine,
  type StoredSection,
  storedLine,
} from '../bill-forms.ts';
import type { BillSubscription, MadeBill, Rated } from './made-bill.ts';

type Amounts = Pick<
  MadeBill,
  | 'billedFrom'
  | 'billedTo'
  | 'days'
  | 'currentCharges'
  | 'taxAmount'
  | 'roundingAdjustment'
  | 'billAmount'
  | 'arrears'
  | 'payable'
  | 'creditBalance'
  | 'lateSurcharge'
>;

export type Combined = {
  amounts: Amounts;
  lines: readonly StoredLine[];
  surcharges: readonly StoredLine[];
  sections: readonly StoredSection[];
  errors: readonly StoredError[];
  parts: readonly BillSubscription[];
};

/** An error of one subscription stops the whole bill: a customer cannot pay half a bill. */
export function combine(context: CompiledContext, rated: readonly Rated[]): Combined {
  const errors = rated.flatMap(({ row, bill }) =>
    bill.errors.map((error) => ({ ...error, connectionNumber: row.subscription_number })),
  );
  if (errors.length > 0) return { ...nothing(rated), errors };
  const totals = sumsOf(context, rated);
  if (totals instanceof RatingError) {
    const { code, message } = totals;
    return { ...nothing(rated), errors: [{ code, message }] };
  }
  const amountOf = (index: number) => {
    const own = (rated[index] as Rated).bill.currentCharges;
    // The last one takes the rounding, so that the parts add up to the bill.
    return index === rated.length - 1 ? own + totals.roundingAdjustment : own;
  };
  const days = daysOf(rated);
  const lines = (pick: 'lines' | 'surcharges') => rated.flatMap((one) => linesOf(one, pick));
  return {
    amounts: {
      ...days,
      currentCharges: totals.currentCharges,
      taxAmount: totals.taxAmount,
      roundingAdjustment: totals.roundingAdjustment,
      billAmount: totals.billAmount,
      arrears: totals.arrears,
      payable: totals.payableWithinDueDate,
      creditBalance: totals.creditBalance,
      lateSurcharge: rated.reduce((sum, { bill }) => sum + bill.latePaymentSurcharge, 0),
    },
    lines: lines('lines'),
    surcharges: lines('surcharges'),
    sections: rated.map(sectionOf),
    errors: [],
    parts: rated.map((one, index) => partOf(one, amountOf(index))),
  };
}

/** Each may be what a bill can hold, and all of them together not. */
function sumsOf(context: CompiledContext, rated: readonly Rated[]): Totals | RatingError {
  try {
    return totalsOf({
      lines: rated.flatMap(({ bill }) => bill.lines),
      arrears: rated.reduce((sum, { bill }) => sum + bill.arrears, 0),
      walletApplied: 0,
      billRounding: context.definition.billRounding ?? null,
      currencyScale: context.currencyScale,
      currencyPower: context.currencyPower,
    });
  } catch (error) {
    if (error instanceof RatingError) return error;
    throw error;
  }
}

function nothing(rated: readonly Rated[]): Combined {
  return {
    amounts: {
      billedFrom: null,
      billedTo: null,
      days: 0,
      currentCharges: 0,
      taxAmount: 0,
      roundingAdjustment: 0,
      billAmount: 0,
      arrears: 0,
      payable: 0,
      creditBalance: 0,
      lateSurcharge: 0,
    },
    lines: [],
    surcharges: [],
    sections: [],
    errors: [],
    parts: rated.map((one) => ({ ...partOf(one, 0), arrears: 0 })),
  };
}

function daysOf(rated: readonly Rated[]): Pick<Amounts, 'billedFrom' | 'billedTo' | 'days'> {
  const dates = (pick: 'billedFrom' | 'billedTo') =>
    rated.flatMap(({ bill }) => (bill[pick] === null ? [] : [isoDay(bill[pick])])).sort();
  return {
    billedFrom: dates('billedFrom')[0] ?? null,
    billedTo: dates('billedTo').at(-1) ?? null,
    days: Math.max(...rated.map(({ bill }) => bill.days)),
  };
}

/** Every line names its subscription, and has the fields that differ between subscriptions. */
function linesOf({ row, bill }: Rated, pick: 'lines' | 'surcharges'): StoredLine[] {
  const nobody = { fromDate: null, toDate: null, days: -1, tariffCode: null, tariffVersion: null };
  return bill[pick].map((line) => ({
    ...storedLine(line, nobody),
    connectionNumber: row.subscription_number,
  }));
}

function sectionOf({ row, frozen, bill }: Rated): StoredSection {
  const section: StoredSection = {
    connectionNumber: row.subscription_number,
    connectionID: row.subscription_id,
    ...(row.reference_number === null ? {} : { connectionRefNo: row.reference_number }),
    subtotal: bill.currentCharges,
  };
  addRating(section, bill, frozen);
  return section;
}

function partOf({ row, accountStatus, bill }: Rated, amount: number): BillSubscription {
  return {
    subscriptionId: row.subscription_id,
    amount,
    arrears: bill.arrears,
    days: bill.days,
    billedTo: bill.billedTo === null ? null : isoDay(bill.billedTo),
    previouslyBilledTo: row.billed_through,
    received: accountStatus.received,
    unitTs: row.ts,
  };
}
