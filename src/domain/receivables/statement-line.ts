// A line of a statement of account, as the API and the document show it.
import { wireDay } from '../../base/days.ts';
import type { StatementRow } from './statement-store.ts';

export function statementLine(
  row: StatementRow,
  opening: bigint,
  amount: (minor: bigint) => number,
) {
  const moved = BigInt(row.amount);
  return {
    date: wireDay(row.posting_date),
    type: row.kind,
    reference: row.reference ?? row.bill_number,
    description: row.description,
    debit: amount(moved > 0n ? moved : 0n),
    credit: amount(moved < 0n ? -moved : 0n),
    balance: amount(opening + BigInt(row.running)),
  };
}
