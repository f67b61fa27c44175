// Charges of earlier terms, for bills without usage to show in the chart.
import { type StoredDocument, type StoredTerm, shownTerms } from './bill-forms.ts';
import type { AccountStatusRow } from './inputs/account-status-store.ts';
import { monthsText } from './receipts.ts';

/** Of one subscription, or of all on the bill together; newest first. */
export function chargedTerms(
  accountStatuses: readonly AccountStatusRow[],
): Pick<StoredDocument, 'history' | 'historyMonths'> {
  const terms = new Map<string, StoredTerm & { endDate: string }>();
  for (const { history } of accountStatuses) {
    for (const { label, amount, rounding = 0, endDate = '' } of history ?? []) {
      if (amount === undefined) continue;
      const key = `${endDate} ${label}`;
      const sum = (terms.get(key)?.amount ?? 0) + amount + rounding;
      terms.set(key, { label, amount: sum, endDate });
    }
  }
  const shown = [...terms.values()]
    .sort((a, b) => (a.endDate < b.endDate ? 1 : -1))
    .slice(0, shownTerms);
  if (shown.length === 0) return {};
  const historyMonths = monthsText(shown.map(({ endDate }) => endDate));
  return {
    history: shown.map(({ label, amount }) => ({ label, amount })),
    ...(historyMonths === '' ? {} : { historyMonths }),
  };
}
