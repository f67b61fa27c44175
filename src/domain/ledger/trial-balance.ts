// The trial balance: what was debited and credited on each ledger account. The operation, the
// command and the demo run all show this one.
import type { Tx } from '../../base/db/pool.ts';
import { type AccountTotals, listAccountTotals, type PostingDays } from './totals-store.ts';

/** Minor units; a balance above zero is a debit balance. */
export type TrialBalance = {
  accounts: readonly AccountBalance[];
  totals: { debit: bigint; credit: bigint; difference: bigint };
};

export type AccountBalance = {
  code: string;
  name: string;
  kind: string;
  debit: bigint;
  credit: bigint;
  balance: bigint;
};

export type TrialBalanceQuery = PostingDays & {
  /** Shows this account alone; the totals are of the whole ledger all the same. */
  accountCode: string | null;
};

export async function findTrialBalance(
  tx: Tx,
  tenantId: number,
  { accountCode, ...days }: TrialBalanceQuery,
): Promise<TrialBalance> {
  const all = (await listAccountTotals(tx, tenantId, days)).map(balanceOf);
  const debit = all.reduce((sum, account) => sum + account.debit, 0n);
  const credit = all.reduce((sum, account) => sum + account.credit, 0n);
  return {
    accounts: accountCode === null ? all : all.filter(({ code }) => code === accountCode),
    totals: { debit, credit, difference: debit - credit },
  };
}

function balanceOf({ debit, credit, ...account }: AccountTotals): AccountBalance {
  const [debited, credited] = [BigInt(debit), BigInt(credit)];
  return { ...account, debit: debited, credit: credited, balance: debited - credited };
}
