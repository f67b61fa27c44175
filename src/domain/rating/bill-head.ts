// The part of a bill that says whose and what it is, and the bill that could not be rated.
import { formatDay } from '../../base/days.ts';
import type { Bill, BillError } from './bill.ts';
import { type CompiledContext, currencyScaleDefault } from './compiled-context.ts';
import type { RatedTerm } from './evaluation.ts';
import type { Facts } from './facts.ts';
import type { PriceBook } from './price-book.ts';
import type { Track } from './tracks.ts';

export type BillHead = Pick<
  Bill,
  | 'serviceCode'
  | 'tariffCode'
  | 'tariffLabel'
  | 'connectionNumber'
  | 'currency'
  | 'currencyScale'
  | 'termLabel'
  | 'startDate'
  | 'endDate'
  | 'dueDate'
  | 'billedFrom'
  | 'billedTo'
  | 'days'
  | 'segments'
  | 'meterReadings'
  | 'usage'
>;

export function billHead(facts: Facts, context: CompiledContext, term: RatedTerm): BillHead {
  const { window, usage } = term;
  const track = term.tracks[0] as Track;
  const dateText = (day: number) => {
    if (day === window.start) return term.startText;
    return day === window.end ? term.endText : formatDay(day);
  };
  const isBilled = window.billedDays > 0;
  return {
    serviceCode: context.definition.code,
    tariffCode: track.edition.code,
    tariffLabel: track.edition.label,
    connectionNumber: facts.connection?.connectionNumber ?? null,
    currency: context.definition.currency ?? null,
    currencyScale: context.currencyScale,
    termLabel: facts.term.label ?? null,
    startDate: facts.term.startDate,
    endDate: facts.term.endDate,
    dueDate: facts.term.dueDate ?? null,
    billedFrom: isBilled ? dateText(window.firstDay) : null,
    billedTo: isBilled ? dateText(window.lastDay) : null,
    days: window.billedDays,
    segments: track.segments.map((segment) => ({
      fromDate: dateText(segment.from),
      toDate: dateText(segment.to),
      days: segment.days,
      tariffCode: segment.edition.code,
    })),
    meterReadings: usage.readings,
    usage: usage.printed,
  };
}

/** A bill that shows why there is none. */
export function errorBill(book: PriceBook, facts: Facts, errors: readonly BillError[]): Bill {
  const context = book.contexts[book.contexts.length - 1]?.item.definition;
  return {
    status: 'Error',
    serviceCode: context?.code ?? '',
    tariffCode: facts.connection?.tariffHistory?.at(-1)?.tariffCode ?? facts.tariffCode ?? null,
    tariffLabel: null,
    connectionNumber: facts.connection?.connectionNumber ?? null,
    currency: context?.currency ?? null,
    currencyScale: context?.currencyScale ?? currencyScaleDefault,
    termLabel: facts.term.label ?? null,
    startDate: facts.term.startDate,
    endDate: facts.term.endDate,
    dueDate: facts.term.dueDate ?? null,
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
