// The ledger accounts of every new workspace. Their ids are the same in all workspaces.
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
  // Far above the ids of a workspace's own accounts.
  payable: 1_000_001,
  expense: 1_000_002,
  /** Money whose payer is not known yet. */
  suspense: 1_000_003,
  /** What a cash desk counted too much or too little. */
  cashDifference: 1_000_004,
  /** What the year end carries forward. */
  result: 1_000_005,
} as const;

/** Control accounts: their balances are the sums of subledger entries, and nothing else. */
export const controlAccounts: readonly number[] = [
  ledgerAccounts.receivable,
  ledgerAccounts.advance,
  ledgerAccounts.deposit,
  ledgerAccounts.disputed,
  ledgerAccounts.payable,
];

export type ContextType = 'Sale' | 'Purchase' | 'Payroll';

/** True if the workspace owes the amount of a bill to the party: a vendor or an employee. */
export function isOwedByWorkspace(contextType: ContextType): boolean {
  return contextType !== 'Sale';
}

/** The ledger account on which bills of a context are open items. */
export function openItemsAccount(contextType: ContextType): number {
  return isOwedByWorkspace(contextType) ? ledgerAccounts.payable : ledgerAccounts.receivable;
}
