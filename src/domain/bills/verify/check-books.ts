// The nightly check of the books: journals balance, and balances are the sums of entries. All the
// laws together, which take longer, are asked by `verify`.
import type { Tx } from '../../../base/db/pool.ts';
import { judgeBalances, judgeJournals, type Verdict } from './checks-store.ts';

/** A night that is caught up on tells nothing that the last one does not. */
export async function checkBooks(
  tx: Tx,
  tenantId: number,
  { localDate, today }: { localDate: Temporal.PlainDate; today: Temporal.PlainDate },
): Promise<Verdict> {
  const verdict: Verdict = { checked: 0, wrong: 0, examples: [] };
  if (Temporal.PlainDate.compare(localDate, today.subtract({ days: 1 })) < 0) return verdict;
  for (const judge of [judgeJournals, judgeBalances]) {
    const { checked, wrong, examples } = await judge(tx, tenantId);
    verdict.checked += checked;
    verdict.wrong += wrong;
    verdict.examples.push(...examples);
  }
  return verdict;
}
