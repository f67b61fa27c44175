// True-up by slabs: the use of several estimated terms and this one, known only now, spread over
// them by days, so that each term's slabs apply to its own share.
import { decimalText } from '../../../base/numbers/decimal-text.ts';
import { divide, type Exact, fraction, multiply, subtract } from '../../../base/numbers/exact.ts';
import { round } from '../../../base/numbers/rounding.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { FrozenInputs, MeterFacts, ReslabFacts } from '../frozen-inputs.ts';
import { requiredDay, runsBetween } from '../periods/billable-days.ts';
import { RatingError } from '../rating-error.ts';
import type { TermUsage } from './usage.ts';

/**
 * The frozen inputs with the input's first meter starting at the last reading that was no estimate.
 */
export function sinceLastReading(frozen: FrozenInputs, reslab: ReslabFacts): FrozenInputs {
  let earliest: MeterFacts | null = null;
  const startOf = (meter: MeterFacts) => requiredDay(meter.previous?.date, 'previous reading');
  for (const meter of frozen.meters ?? []) {
    if (meter.input !== reslab.input) continue;
    if (earliest === null || startOf(meter) < startOf(earliest)) earliest = meter;
  }
  const meters = (frozen.meters ?? []).map((meter) =>
    meter === earliest ? { ...meter, previous: reslab.since } : meter,
  );
  return { ...frozen, meters };
}

type ReslabShares = {
  readonly slot: number;
  /** Use of each estimated term. */
  readonly terms: readonly Exact[];
  /** Usage of this term, the input's share in place of the whole. */
  readonly current: TermUsage;
};

export function reslabShares(
  frozen: FrozenInputs,
  reslab: ReslabFacts,
  context: CompiledContext,
  usage: TermUsage,
  billedDays: number,
): ReslabShares {
  const slot = context.slots.inputs.get(reslab.input);
  const known = slot === undefined ? undefined : usage.inputs[slot];
  if (slot === undefined || known === undefined) {
    throw new RatingError('USAGE_MISSING', `the quantity of \`${reslab.input}\` is missing`);
  }
  const days = reslab.terms.map(({ term }) => {
    const from = requiredDay(term.startDate, 'reslab.startDate');
    const to = requiredDay(term.endDate, 'reslab.endDate');
    const runs = runsBetween(frozen.connection ?? {}, from, to);
    return runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  });
  const shares = spreadByDays(known.total, [...days, billedDays], context.metered[slot]?.decimals);
  const own = shares.pop() as Exact;
  const inputs = [...usage.inputs];
  inputs[slot] = { ...known, total: own, meters: [] };
  const totals = [...usage.totals];
  totals[slot] = own;
  const printed = usage.printed.map((item) =>
    item.input === reslab.input ? { ...item, quantity: decimalText(own) } : item,
  );
  return { slot, terms: shares, current: { ...usage, inputs, totals, printed } };
}

/** Rounded down to the input's decimals each, what remains to the last, so that nothing is lost. */
function spreadByDays(
  total: Exact,
  termDays: readonly number[],
  decimals: number | null | undefined,
): Exact[] {
  const days = termDays.reduce((sum, own) => sum + own, 0);
  let rest = total;
  return termDays.map((own, index) => {
    if (index === termDays.length - 1) return rest;
    const share = divide(multiply(total, fraction(own, 1)), fraction(days, 1));
    const part = typeof decimals === 'number' ? round(share, decimals, 'Floor') : share;
    rest = subtract(rest, part);
    return part;
  });
}
