// The accounts that every workspace begins with, by the ids they have everywhere.
export const ledgerAccounts = {
  cash: 1,
  receivable: 2,
  advance: 3,
  deposit: 4,
  tax: 5,
  income: 6,
  rounding: 7,
  opening: 8,
  badDebt: 9,
  disputed: 10,
  // Far above what the numbers of a workspace's own accounts come to.
  payable: 1_000_001,
  expense: 1_000_002,
} as const;

/** Accounts that the customers' entries add up to: nothing else may be booked on them. */
export const controlAccounts: readonly number[] = [
  ledgerAccounts.receivable,
  ledgerAccounts.advance,
  ledgerAccounts.deposit,
  ledgerAccounts.disputed,
  ledgerAccounts.payable,
];

export type ContextType = 'Sale' | 'Purchase' | 'Payroll';

/** Whether the workspace owes what it bills: to vendors, to employees. */
export function isOwedByUs(contextType: ContextType): boolean {
  return contextType !== 'Sale';
}

/** The ledger account of the open items of a context's subscriptions. */
export function openItemsAccount(contextType: ContextType): number {
  return isOwedByUs(contextType) ? ledgerAccounts.payable : ledgerAccounts.receivable;
}
