// The nightly check of the books: journals balance, and balances are the sums of entries. All the
// checks together, which take longer, are asked by `verify`.
import type { Tx } from '../../../base/db/pool.ts';
import { type Counts, checkBalances, checkJournals } from './checks-store.ts';

/** A missed night need not be checked: the last night shows the same. */
export async function checkBooks(
  tx: Tx,
  tenantId: number,
  { localDate, today }: { localDate: Temporal.PlainDate; today: Temporal.PlainDate },
): Promise<Counts> {
  const outcome: Counts = { checked: 0, wrong: 0, examples: [] };
  if (Temporal.PlainDate.compare(localDate, today.subtract({ days: 1 })) < 0) return outcome;
  for (const runCheck of [checkJournals, checkBalances]) {
    const { checked, wrong, examples } = await runCheck(tx, tenantId);
    outcome.checked += checked;
    outcome.wrong += wrong;
    outcome.examples.push(...examples);
  }
  return outcome;
}
