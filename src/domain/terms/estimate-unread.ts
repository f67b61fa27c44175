// Estimates for counters that were not read in time.
import { dateOfDay, dayOf } from '../../base/days.ts';
import { decimalText } from '../../base/numbers/decimal-text.ts';
import { RatingError } from '../rating/rating-error.ts';
import { estimateReading, type PastTerm } from '../rating/usage/estimates.ts';
import { type NewReading, plainReading } from '../readings/reading.ts';
import { estimateSource } from './open-registers-store.ts';
import type { StandIn, UnreadRegister } from './substitute-readings-store.ts';
import type { Estimation } from './term-rules.ts';

export type EstimateMade = {
  standIn: Omit<StandIn, 'readingId'>;
  reading: NewReading;
};

/** A term that ended within this many days of a year ago is the same term of last year. */
const sameTermDays = 15;

type EstimatedTerm = {
  term_id: number;
  start_date: string;
  end_date: string;
  bills_after_period: boolean;
};

/** Undefined where no estimate can be made: the register is left open. */
export function estimateUnread(
  register: UnreadRegister,
  term: EstimatedTerm,
  estimation: Estimation | undefined,
): EstimateMade | undefined {
  if (!estimation) return undefined;
  const day = lastDay(register, term);
  const days = daysUntil(day, register, term);
  if (days <= 0) return undefined;
  const past = pastTerms(register);
  try {
    const estimate = estimateReading({
      previous: register.previous_value,
      mf: register.mf,
      days,
      digits: register.digits,
      decimals: register.decimals,
      sameTermLastYear: past.find((one) => isOfLastYear(one, term.end_date)) ?? null,
      previousTerm: past[0] ?? null,
      actualTerms: past,
      defaultDaily: estimation.defaultDaily,
      consecutive: register.previous_estimates,
      ...(estimation.consecutiveMax === undefined
        ? {}
        : { consecutiveMax: estimation.consecutiveMax }),
    });
    const value = decimalText(estimate.reading);
    const { rollover } = estimate;
    const consumption = decimalText(estimate.quantity);
    return made(register, term.term_id, { day, days, value, rollover, consumption });
  } catch (error) {
    if (error instanceof RatingError && error.code === 'ESTIMATE_NOT_POSSIBLE') return undefined;
    throw error;
  }
}

function made(
  register: UnreadRegister,
  termId: number,
  estimate: { day: number; days: number; value: string; rollover: boolean; consumption: string },
): EstimateMade {
  const { day, days, value, rollover, consumption } = estimate;
  const place = { assignmentId: register.assignment_id, position: register.position };
  return {
    standIn: {
      ...place,
      subscriptionId: register.subscription_id,
      previousDate: register.previous_date,
      previousValue: register.previous_value,
      previousType: register.previous_type,
      readingDate: dateOfDay(day).toString(),
      value,
      rollover,
      estimates: register.previous_estimates + 1,
    },
    reading: {
      ...plainReading({ ...place, day, value }, 'Estimated'),
      rollover,
      consumption,
      days,
      source: estimateSource(termId),
    },
  };
}

/**
 * The last day of the term, or the last before the subscription was switched off. A term that is
 * billed in advance bills what was used before it.
 */
function lastDay({ off_since }: UnreadRegister, term: EstimatedTerm): number {
  const dayOfDate = (date: string) => dayOf(Temporal.PlainDate.from(date));
  const end = term.bills_after_period ? dayOfDate(term.end_date) : dayOfDate(term.start_date) - 1;
  return off_since === null ? end : Math.min(end, dayOfDate(off_since) - 1);
}

/** The day of an installation counts if it is billed: not where it is before the term's units. */
function daysUntil(day: number, register: UnreadRegister, term: EstimatedTerm): number {
  const { previous_date, previous_type } = register;
  const days = day - dayOf(Temporal.PlainDate.from(previous_date));
  const isFirst = previous_type === 'Installation' && previous_date >= firstDayOfUnits(term);
  return isFirst ? days + 1 : days;
}

/** YYYY-MM-DD. A term that is billed in advance bills the units of the period before it. */
function firstDayOfUnits({ start_date, end_date, bills_after_period }: EstimatedTerm): string {
  if (bills_after_period) return start_date;
  const start = Temporal.PlainDate.from(start_date);
  const next = Temporal.PlainDate.from(end_date).add({ days: 1 });
  return start.subtract(start.until(next, { largestUnit: 'month' })).toString();
}

type Past = PastTerm & { endDate: string };

/** Newest first: of the register itself, then of its input while another register measured it. */
function pastTerms({ terms, history, input }: UnreadRegister): Past[] {
  const own = (terms ?? []).map(({ endDate, days, quantity, type }) => ({
    endDate,
    days,
    quantity,
    isEstimated: type === 'Estimated',
  }));
  const first = own.at(-1)?.endDate;
  const before = (history ?? []).flatMap(({ endDate, days, usage }) => {
    const used = usage[input];
    if (endDate === undefined || !days || used === undefined) return [];
    if (first !== undefined && endDate >= first) return [];
    return [{ endDate, days, quantity: used.quantity, isEstimated: used.type === 'Estimated' }];
  });
  return [...own, ...before];
}

function isOfLastYear({ endDate }: Past, termEnd: string): boolean {
  const wanted = dayOf(Temporal.PlainDate.from(termEnd).subtract({ years: 1 }));
  return Math.abs(dayOf(Temporal.PlainDate.from(endDate)) - wanted) <= sameTermDays;
}
