// Assembles a bill, and makes the Error bill if it cannot be rated.
import { firstDay, formatDay, lastDay, parseDay } from '../../../base/days.ts';
import type { Bill, BillError, BillLine, SegmentDays } from '../bill.ts';
import { type CompiledContext, currencyScaleDefault } from '../compile/compiled-context.ts';
import type { PriceBook } from '../compile/price-book.ts';
import type { FrozenInputs } from '../frozen-inputs.ts';
import { requiredDay } from '../periods/billable-days.ts';
import type { Track } from '../periods/plan-tracks.ts';
import type { Segment } from '../periods/segments.ts';
import type { RatedTerm } from './evaluation.ts';
import type { Totals } from './totals.ts';

export type RatedContents = {
  readonly frozen: FrozenInputs;
  readonly context: CompiledContext;
  readonly term: RatedTerm;
  readonly lines: readonly BillLine[];
  readonly surcharges: readonly BillLine[];
  readonly totals: Totals;
  readonly late: number;
};

/** Field by field: copying objects with a spread costs more than rating them. */
export function assembledBill(parts: RatedContents): Bill {
  const { frozen, context, term, totals, late } = parts;
  const { window, usage } = term;
  const { compiledPlan, segments } = term.tracks[0] as Track;
  const isBilled = window.billedDays > 0;
  return {
    status: 'Draft',
    serviceCode: context.definition.code,
    tariffCode: compiledPlan.code,
    tariffLabel: compiledPlan.label,
    connectionNumber: frozen.connection?.connectionNumber ?? null,
    currency: context.definition.currency ?? null,
    currencyScale: context.currencyScale,
    termLabel: frozen.term.label ?? null,
    startDate: frozen.term.startDate,
    endDate: frozen.term.endDate,
    dueDate: frozen.term.dueDate ?? null,
    billedFrom: isBilled ? dateText(term, window.firstDay) : null,
    billedTo: isBilled ? dateText(term, window.lastDay) : dayOff(frozen),
    days: window.billedDays,
    segments: segments.map((segment) => segmentDays(term, segment)),
    meterReadings: usage.readings,
    usage: usage.printed,
    lines: parts.lines,
    surcharges: parts.surcharges,
    currentCharges: totals.currentCharges,
    taxAmount: totals.taxAmount,
    arrears: totals.arrears,
    roundingAdjustment: totals.roundingAdjustment,
    billAmount: totals.billAmount,
    totalAmount: totals.totalAmount,
    walletApplied: totals.walletApplied,
    payableWithinDueDate: totals.payableWithinDueDate,
    creditBalance: totals.creditBalance,
    latePaymentSurcharge: late,
    payableAfterDueDate: totals.payableWithinDueDate + late,
    errors: [],
  };
}

/**
 * A bill with only the usage of the previous term has the first day after the last billed one as
 * its day: nothing was supplied on it, and it is billed once like any other. If that day is the
 * next owner's, the bill ends with the last billed day.
 */
function dayOff({ connection, previousTerm }: FrozenInputs): string | null {
  const billed = connection?.billedThrough ?? null;
  if (!previousTerm || billed === null) return null;
  if (connection?.isHandedOn) return billed;
  return formatDay(requiredDay(billed, 'billedThrough') + 1);
}

function segmentDays(term: RatedTerm, segment: Segment): SegmentDays {
  return {
    fromDate: dateText(term, segment.from),
    toDate: dateText(term, segment.to),
    days: segment.days,
    tariffCode: segment.compiledPlan.code,
  };
}

function dateText(term: RatedTerm, day: number): string {
  if (day === term.window.start) return term.startText;
  return day === term.window.end ? term.endText : formatDay(day);
}

/** A bill in Error, with the reasons. */
export function errorBill(
  book: PriceBook,
  frozen: FrozenInputs,
  errors: readonly BillError[],
): Bill {
  const context = book.contexts[book.contexts.length - 1]?.item.definition;
  return {
    status: 'Error',
    serviceCode: context?.code ?? '',
    tariffCode: planOf(frozen),
    tariffLabel: null,
    connectionNumber: frozen.connection?.connectionNumber ?? null,
    currency: context?.currency ?? null,
    currencyScale: context?.currencyScale ?? currencyScaleDefault,
    termLabel: frozen.term.label ?? null,
    startDate: frozen.term.startDate,
    endDate: frozen.term.endDate,
    dueDate: frozen.term.dueDate ?? null,
    billedFrom: null,
    billedTo: null,
    days: 0,
    segments: [],
    meterReadings: [],
    usage: [],
    lines: [],
    surcharges: [],
    currentCharges: 0,
    taxAmount: 0,
    arrears: 0,
    roundingAdjustment: 0,
    billAmount: 0,
    totalAmount: 0,
    walletApplied: 0,
    payableWithinDueDate: 0,
    creditBalance: 0,
    latePaymentSurcharge: 0,
    payableAfterDueDate: 0,
    errors,
  };
}

/** In force on the last day of the term: one that was chosen ahead is not yet. */
function planOf({ term, connection, tariffCode }: FrozenInputs): string | null {
  const history = connection?.tariffHistory ?? [];
  // Dates may be what is wrong with the bill.
  const dayOf = (text: unknown) => (typeof text === 'string' ? parseDay(text) : undefined);
  const end = dayOf(term.endDate) ?? lastDay;
  const entry = history.findLast(({ fromDate }) => (dayOf(fromDate) ?? firstDay) <= end);
  return (entry ?? history.at(-1))?.tariffCode ?? tariffCode ?? null;
}
