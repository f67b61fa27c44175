// Amounts that customers agree to pay.
import type { RowProblem } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import type { Call } from '../operation.ts';

/** In minor units, each above zero, with what is wrong. */
export function amountsFrom(
  rows: readonly { amount: string | number }[],
  { tenant }: Call,
  path: (index: number) => { row: number; name: string } = (row) => ({ row, name: 'amount' }),
): { amounts: number[]; problems: RowProblem[] } {
  const amounts = rows.map(({ amount }) => {
    return minorUnitsFrom(String(amount), tenant.currencyDecimals) ?? 0;
  });
  const message = `The amount is ${amountWords(tenant.currencyDecimals)}, above zero`;
  const problems = amounts.flatMap((amount, index): RowProblem[] =>
    amount > 0
      ? []
      : [
          {
            ...path(index),
            code: 'INVALID_NUMBER',
            message,
            rejectedValue: rows[index]?.amount ?? null,
          },
        ],
  );
  return { amounts, problems };
}
