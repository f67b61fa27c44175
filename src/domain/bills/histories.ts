// Charges of earlier terms, for bills without usage to show in the chart.
import { type StoredTerm, shownTerms } from './bill-forms.ts';
import type { AccountStatusRow } from './inputs/account-status-store.ts';

/** Of one subscription, or of all on the bill together; newest first. */
export function chargedTerms(accountStatuses: readonly AccountStatusRow[]): StoredTerm[] {
  const terms = new Map<string, StoredTerm & { endDate: string }>();
  for (const { history } of accountStatuses) {
    for (const { label, amount, rounding = 0, endDate = '' } of history ?? []) {
      if (amount === undefined) continue;
      const key = `${endDate} ${label}`;
      const sum = (terms.get(key)?.amount ?? 0) + amount + rounding;
      terms.set(key, { label, amount: sum, endDate });
    }
  }
  return [...terms.values()]
    .sort((a, b) => (a.endDate < b.endDate ? 1 : -1))
    .slice(0, shownTerms)
    .map(({ label, amount }) => ({ label, amount }));
}
