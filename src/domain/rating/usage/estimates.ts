// Estimated readings, made when readings are locked for a term and one is missing.
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import {
  add,
  compare,
  divide,
  type Exact,
  fraction,
  maximum,
  multiply,
  subtract,
  zero,
} from '../../../base/numbers/exact.ts';
import { powerOfTen, round } from '../../../base/numbers/rounding.ts';
import { RatingError } from '../rating-error.ts';

/** An earlier term: what it billed, over how many days, and how its end reading came about. */
export type PastTerm = {
  readonly quantity: string;
  readonly days: number;
  readonly isEstimated?: boolean;
};

export type EstimateRequest = {
  /** Reading to start from. */
  readonly previous: string;
  readonly mf: number | string;
  /** Days to estimate. */
  readonly days: number;
  readonly digits?: number;
  /** Decimals of the register. */
  readonly decimals?: number;
  readonly sameTermLastYear?: PastTerm | null;
  readonly previousTerm?: PastTerm | null;
  /** Newest first; only the first three that were read are used. */
  readonly actualTerms?: readonly PastTerm[];
  readonly defaultDaily?: string | number | null;
  /** Estimates in a row so far, and the most allowed. */
  readonly consecutive?: number;
  readonly consecutiveMax?: number;
};

export type Estimate = {
  readonly reading: Exact;
  readonly quantity: Exact;
  readonly daily: Exact;
  readonly basis: 'LastYear' | 'PreviousTerm' | 'RecentTerms' | 'Default';
  readonly rollover: boolean;
};

const consecutiveMaxDefault = 3;
const recentTermsMax = 3;
/** A shorter term says too little about a day. */
const daysMin = 15;

/** Throws ESTIMATE_NOT_POSSIBLE where no source is good enough or too many came before. */
export function estimateReading(request: EstimateRequest): Estimate {
  if ((request.consecutive ?? 0) >= (request.consecutiveMax ?? consecutiveMaxDefault)) {
    throw notPossible('as many terms in a row as allowed were estimated already');
  }
  const { daily, basis } = dailyUse(request);
  const mf = number(request.mf, 'mf');
  const start = number(request.previous, 'previous reading');
  const units = divide(multiply(daily, fraction(request.days, 1)), mf);
  const end = round(add(start, units), request.decimals ?? 0, 'HalfUp');
  const quantity = multiply(subtract(end, start), mf);
  const capacity = request.digits === undefined ? null : fraction(powerOfTen(request.digits), 1);
  const rollover = capacity !== null && compare(end, capacity) >= 0;
  return { reading: rollover ? subtract(end, capacity) : end, quantity, daily, basis, rollover };
}

function dailyUse(request: EstimateRequest): { daily: Exact; basis: Estimate['basis'] } {
  const { sameTermLastYear, previousTerm } = request;
  if (isUsable(sameTermLastYear)) return { daily: dailyOf([sameTermLastYear]), basis: 'LastYear' };
  if (isUsable(previousTerm)) return { daily: dailyOf([previousTerm]), basis: 'PreviousTerm' };
  const actual = (request.actualTerms ?? []).filter((term) => term.isEstimated !== true);
  const recent = actual.slice(0, recentTermsMax).filter((term) => term.days > 0);
  if (recent.length > 0) return { daily: dailyOf(recent), basis: 'RecentTerms' };
  const given = request.defaultDaily;
  if (given === null || given === undefined) throw notPossible('no earlier usage is known');
  return { daily: number(given, 'defaultDaily'), basis: 'Default' };
}

function isUsable(term: PastTerm | null | undefined): term is PastTerm {
  return term !== null && term !== undefined && term.isEstimated !== true && term.days >= daysMin;
}

/** A term that corrected too high an estimate was billed nothing, and not less. */
function dailyOf(terms: readonly PastTerm[]): Exact {
  let units = zero;
  let days = 0;
  for (const term of terms) {
    units = add(units, maximum(zero, number(term.quantity, 'quantity')));
    days += term.days;
  }
  return divide(units, fraction(days, 1));
}

function number(given: string | number, what: string): Exact {
  const value = exactFrom(given);
  if (value === undefined)
    throw new RatingError('INVALID_NUMBER', `${what} is not a number: ${given}`);
  return value;
}

function notPossible(reason: string): RatingError {
  return new RatingError('ESTIMATE_NOT_POSSIBLE', `no estimate: ${reason}`);
}
