// A trial balance as lines of text.
import { amountText } from '../base/money.ts';
import type { TrialBalance } from '../domain/ledger/trial-balance.ts';

const codeWidth = 14;
const nameWidth = 22;
const amountWidth = 20;

/** Accounts without bookings are left out, unless one was chosen by its code. */
export function trialBalanceLines(
  { accounts, totals }: TrialBalance,
  { decimals, withEmpty }: { decimals: number; withEmpty: boolean },
): string[] {
  const line = (code: string, name: string, amounts: readonly string[]) =>
    `  ${code.padEnd(codeWidth)} ${name.padEnd(nameWidth)}${amounts
      .map((text) => `  ${text.padStart(amountWidth)}`)
      .join('')}`;
  const figures = (amounts: readonly bigint[]) =>
    amounts.map((minor) => grouped(amountText(minor, decimals)));
  const shown = accounts.filter(({ debit, credit }) => withEmpty || debit !== 0n || credit !== 0n);
  return [
    line('Account', 'Name', ['Debit', 'Credit', 'Balance']),
    ...shown.map(({ code, name, debit, credit, balance }) =>
      line(code, name, figures([debit, credit, balance])),
    ),
    line('Total', '', figures([totals.debit, totals.credit, totals.difference])),
  ];
}

/** 1234567.89 -> 1,234,567.89 */
function grouped(amount: string): string {
  const [whole = '', fraction] = amount.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}
