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
} as const;
