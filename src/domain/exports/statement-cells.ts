// A statement of account as cells of a CSV file.
import { formatDate } from '../../base/calendar.ts';
import type { Cell } from '../../base/csv/write.ts';
import { wireDay } from '../../base/days.ts';
import { amountText } from '../../base/money.ts';
import type { StatementRow } from '../receivables/statement-store.ts';
import type { JobTenant } from '../tenants/tenant.ts';

export const statementColumns = [
  ...['date', 'type', 'reference', 'description', 'debit', 'credit', 'balance', 'currency'],
];

/** An entry, and the balance after it. */
export function statementCells({ currency, currencyDecimals }: JobTenant, opening: bigint) {
  return (row: StatementRow): Record<string, Cell> => {
    const amount = BigInt(row.amount);
    const shown = amountText(amount < 0n ? -amount : amount, currencyDecimals);
    return {
      date: wireDay(row.posting_date),
      type: row.kind,
      reference: row.reference ?? row.bill_number,
      description: row.description,
      debit: amount > 0n ? shown : null,
      credit: amount < 0n ? shown : null,
      balance: amountText(opening + BigInt(row.running), currencyDecimals),
      currency,
    };
  };
}

/** What was owed before the first day. */
export function openingCells(
  { currency, currencyDecimals }: JobTenant,
  from: Temporal.PlainDate,
  opening: bigint,
): Record<string, Cell> {
  return {
    date: formatDate(from),
    type: 'BalanceForward',
    balance: amountText(opening, currencyDecimals),
    currency,
  };
}
