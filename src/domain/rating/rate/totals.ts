// Totals of a bill in minor units, and the identities between them.
import { fraction } from '../../../base/numbers/exact.ts';
import { type Rounding, roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import { RatingError } from '../rating-error.ts';

export type Totals = {
  readonly currentCharges: number;
  readonly taxAmount: number;
  readonly arrears: number;
  readonly roundingAdjustment: number;
  /** What this bill adds to the receivable. */
  readonly billAmount: number;
  readonly totalAmount: number;
  readonly walletApplied: number;
  readonly payableWithinDueDate: number;
  readonly creditBalance: number;
};

type TotalsRequest = {
  readonly lines: readonly { readonly amount: number; readonly type: string }[];
  readonly arrears: number;
  readonly walletApplied: number;
  readonly billRounding: Rounding | null;
  readonly currencyScale: number;
  readonly currencyPower: number;
};

export function totalsOf(request: TotalsRequest): Totals {
  const { lines, arrears, walletApplied, billRounding } = request;
  let currentCharges = 0;
  let taxAmount = 0;
  for (const line of lines) {
    currentCharges += line.amount;
    if (line.type === 'Tax') taxAmount += line.amount;
  }
  const gross = currentCharges + arrears;
  if (!Number.isSafeInteger(gross) || !Number.isSafeInteger(currentCharges)) {
    throw new RatingError('AMOUNT_OUT_OF_RANGE', 'the total is more than a bill can hold');
  }
  const rounded =
    billRounding === null
      ? gross
      : roundToMinorUnits(
          fraction(gross, request.currencyPower),
          billRounding,
          request.currencyScale,
        );
  const roundingAdjustment = rounded - gross;
  const due = rounded - walletApplied;
  return {
    currentCharges,
    taxAmount,
    arrears,
    roundingAdjustment,
    billAmount: currentCharges + roundingAdjustment,
    totalAmount: rounded,
    walletApplied,
    payableWithinDueDate: Math.max(0, due),
    creditBalance: Math.max(0, -due),
  };
}
