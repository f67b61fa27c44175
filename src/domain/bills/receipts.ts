// The payments that a bill lists, and the months of its chart.
import { wireDay } from '../../base/days.ts';
import { billedOnly, type HistoryEntry } from '../terms/usage-history-store.ts';
import { type StoredPayment, shownTerms } from './bill-forms.ts';

type Receipt = { readonly paid_on: string; readonly amount: number };

/**
 * Of one subscription, the newest payments that come to what was received since its last bill;
 * undefined if none do. Then the bill shows the sum alone.
 */
function receiptsOf(newestFirst: readonly Receipt[], received: number): Receipt[] | undefined {
  const found: Receipt[] = [];
  let sum = 0;
  for (const receipt of newestFirst) {
    if (sum === received && found.length > 0) return found;
    found.push(receipt);
    sum += receipt.amount;
  }
  return sum === received ? found : undefined;
}

type Paid = {
  readonly accountStatus: { readonly payments: number };
  readonly receipts: readonly Receipt[];
};

/** Of all subscriptions of a bill: a row for each day, the oldest first. */
export function listedPayments(all: readonly Paid[]): StoredPayment[] {
  const byDay = new Map<string, number>();
  for (const { accountStatus, receipts } of all) {
    if (accountStatus.payments === 0) continue;
    const found = receiptsOf(receipts, accountStatus.payments);
    if (found === undefined) return [];
    for (const { paid_on: day, amount } of found) byDay.set(day, (byDay.get(day) ?? 0) + amount);
  }
  return [...byDay]
    .filter(([, amount]) => amount !== 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, amount]) => ({ date: wireDay(day), amount }));
}

/** YYYYMM of each term that a bill shows by its usage, newest first; '' if one is not known. */
export function shownMonths(history: readonly HistoryEntry[] | null): string {
  const shown = billedOnly(history ?? [])
    .filter((entry) => !entry.isOfFormerOwner)
    .slice(0, shownTerms);
  return monthsText(shown.map(({ endDate }) => endDate ?? ''));
}

export function monthsText(endDates: readonly string[]): string {
  if (endDates.some((day) => day === '')) return '';
  return endDates.map((day) => day.slice(0, 4) + day.slice(5, 7)).join(' ');
}
