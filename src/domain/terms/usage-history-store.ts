// What was billed of a subscription in its last terms, for estimates, histories and charts.
import { sql } from '../../base/db/sql.ts';

/** Terms that are looked back on: a year of months and the same month of the year before. */
export const historyTerms = 13;

export type HistoryEntry = {
  termId: number | null;
  label: string;
  /** Where another term billed the days before: the first that this one billed. */
  fromDate?: string;
  endDate?: string;
  days?: number;
  /** Minor units. */
  amount?: number;
  /** Of a bill of several subscriptions, where this one has taken it. */
  rounding?: number;
  /**
   * Its bill was cancelled and is not made again: it says nothing but which days it had, what had
   * been billed too much until then, and what it had estimated.
   */
  isCancelled?: true;
  /** It was billed to another owner: prices may look at it, and no bill shows it. */
  isOfFormerOwner?: true;
  usage: Record<string, UsedUnits>;
};

type UsedUnits = {
  quantity: string;
  type?: string;
  /** Billed too much before, and still to be credited. */
  carried?: string;
  /** Estimated by a bill that was cancelled. */
  unbilled?: string;
};

/** Of usage_histories `h`, the newest first: a text, which PostgreSQL need not look into. */
export const historyText = sql<string | null>`
  '[' || array_to_string(h.terms[1:${sql.lit(historyTerms)}], ',') || ']'`;

/** Of the terms those that were billed. */
export function billedOnly(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  return history.some((entry) => entry.isCancelled)
    ? history.filter((entry) => !entry.isCancelled)
    : history;
}

export function readHistory(text: string | null): HistoryEntry[] | null {
  return text === null ? null : JSON.parse(text);
}
