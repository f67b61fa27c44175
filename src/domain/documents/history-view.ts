// Earlier terms as a chart, and what is compared with them: the daily average, and the same month
// of the year before.
import type { BillDocument, BillDocumentInput, DocumentTerm } from './bill-document.ts';
import { chartLabels, type LabelPiece } from './chart-labels.ts';
import type { Fact } from './fact.ts';
import { lineText } from './plain-text.ts';
import { unitText } from './units.ts';
import { joined, type Wording } from './wording.ts';

export type HistoryPoint = {
  readonly label: readonly LabelPiece[];
  readonly value: number;
  readonly text: string;
  readonly isPresent: boolean;
};

export type HistoryView = {
  readonly heading: string;
  /** The last one is that of the bill itself; none of a first bill. */
  readonly points: readonly HistoryPoint[];
  readonly facts: readonly Fact[];
};

/** Terms in the chart before the present one. */
const historyTermsMax = 12;

export function historyOf(input: BillDocumentInput, wording: Wording): HistoryView | null {
  const { bill } = input;
  const { labels } = wording;
  const terms = (input.history ?? bill.history).slice(-historyTermsMax);
  const usage = bill.usage[0];
  const hasQuantities = usage !== undefined && terms.every((term) => term.quantity !== null);
  const facts = factsOf(bill, terms, wording, hasQuantities);
  if (terms.length === 0) {
    return facts.length === 0 ? null : { heading: labels.usage, points: [], facts };
  }
  const unit = hasQuantities ? unitText(usage.unit) : bill.currency;
  const heading = hasQuantities ? labels.history : labels.historyAmounts;
  const own = hasQuantities ? usage.quantity : bill.currentCharges;
  const past = terms.map((term) => (hasQuantities ? term.quantity : term.amount));
  const measures = [...past, own];
  return {
    heading: unit === '' ? heading : joined(wording, ' ', [heading, `(${unit})`]),
    points: pointLabels(bill, terms, wording).map((label, index) => {
      // A bar is only as exact as its drawing, and none goes below the line.
      const measure = Number(measures[index]) || 0;
      const text = wording.formats.short(measure);
      return { label, value: Math.max(0, measure), text, isPresent: index === terms.length };
    }),
    facts,
  };
}

/**
 * The month and the year of each term, in the language of the bill. Where two terms end in one
 * month, or a month is not known, what the terms are called.
 */
function pointLabels(
  bill: BillDocument,
  terms: readonly DocumentTerm[],
  { formats }: Wording,
): LabelPiece[][] {
  const months = [...terms.map((term) => term.month ?? ''), monthOf(bill.endDate)];
  if (new Set(months).size < months.length || !months.every((month) => /^\d{6}$/.test(month))) {
    return chartLabels([...terms.map((term) => term.label), bill.termLabel].map(lineText));
  }
  return months.map((month) =>
    formats.month(month).map((text) => ({ text, marked: text, isWhole: true })),
  );
}

/** DD/MM/YYYY -> YYYYMM. */
function monthOf(date: string): string {
  return date.slice(6) + date.slice(3, 5);
}

function factsOf(
  bill: BillDocument,
  terms: readonly DocumentTerm[],
  wording: Wording,
  hasQuantities: boolean,
): Fact[] {
  const { labels, formats } = wording;
  const usage = hasQuantities ? bill.usage[0] : undefined;
  const facts: Fact[] = [];
  const withUnit = (text: string) => `${text} ${unitText(usage?.unit)}`.trim();
  const average = Number(usage?.quantity) / bill.days;
  if (Number.isFinite(average) && average > 0) {
    facts.push({ label: labels.dailyAverage, value: withUnit(formats.average(average)) });
  }
  const month = monthOf(bill.endDate);
  const before = String(Number(month) - 100);
  const found = terms.filter((term) => term.month === before);
  const [yearBefore] = found;
  if (yearBefore === undefined || found.length > 1) return facts;
  if (usage !== undefined) {
    const value = withUnit(formats.quantity(yearBefore.quantity ?? '0'));
    facts.push({ label: labels.lastYear, value });
  } else if (yearBefore.amount !== null) {
    facts.push({ label: labels.lastYear, value: formats.money(yearBefore.amount) });
  }
  return facts;
}
