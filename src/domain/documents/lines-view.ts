// The lines of a bill: what each is charged for, and how its amount comes about.
import { parseDay } from '../../base/days.ts';
import type { LineDetail } from '../rating/bill.ts';
import type { BillDocument, DocumentLine } from './bill-document.ts';
import { areStepsOfQuantity, type DaysPart, daysPart } from './line-sum.ts';
import { lineText } from './plain-text.ts';
import { measureText } from './units.ts';
import { joined, type Wording, worded } from './wording.ts';

export type ChargeRow = {
  readonly label: string;
  /** Days, remarks: under the label. */
  readonly remark: string;
  readonly quantity: string;
  readonly rate: string;
  readonly amount: string;
  /** How the amount comes about, slab by slab. */
  readonly steps: readonly string[];
};

export type ChargeGroup = { readonly heading: string; readonly rows: readonly ChargeRow[] };

export function groupsOf(
  lines: readonly DocumentLine[],
  bill: BillDocument,
  wording: Wording,
): ChargeGroup[] {
  const { labels } = wording;
  const isTax = (line: DocumentLine) => line.type === 'Tax';
  const charges = lines.filter((line) => !isTax(line));
  const taxes = lines.filter(isTax);
  return [
    ...groupsUnder(labels.charges, charges, bill, wording),
    ...groupsUnder(labels.taxes, taxes, bill, wording),
  ];
}

/** From this many lines on, those of one period are printed under it, and do not repeat it. */
const linesToGroup = 12;
/** Headings of fewer lines than this each would take more room than they save. */
const linesPerPeriod = 3;

function groupsUnder(
  heading: string,
  lines: readonly DocumentLine[],
  bill: BillDocument,
  wording: Wording,
): ChargeGroup[] {
  if (lines.length === 0) return [];
  const periods = Map.groupBy(lines, (line) => `${line.fromDate} ${line.toDate} ${line.days}`);
  const isGrouped =
    lines.length >= linesToGroup &&
    periods.size > 1 &&
    lines.length >= periods.size * linesPerPeriod;
  if (!isGrouped) return [{ heading, rows: lines.map((line) => chargeRow(line, bill, wording)) }];
  const inOrder = [...periods.values()].sort(
    ([one], [other]) => dayOf(one?.fromDate) - dayOf(other?.fromDate),
  );
  return inOrder.map((some) => ({
    heading: joined(wording, ' · ', [heading, spanText(some[0] as DocumentLine, null, wording)]),
    rows: some.map((line) => ({
      ...chargeRow(line, bill, wording),
      remark: noteOf(line, wording),
    })),
  }));
}

function dayOf(date: string | undefined): number {
  return parseDay(date ?? '') ?? 0;
}

/** The quantity and rate of its formula, where the line itself names no rate. */
function withRate(line: DocumentLine): DocumentLine {
  const { basis } = line;
  if (basis === undefined || 'percent' in basis || line.rate !== null) return line;
  if (line.details.length > 0) return line;
  if (line.quantity !== null && line.quantity !== basis.quantity) return line;
  const { quantity, rate } = basis;
  return { ...line, quantity, rate, unit: line.unit ?? basis.unit };
}

function noteOf(line: DocumentLine, wording: Wording): string {
  const adjustment = line.lineType === 'Adjustment' ? wording.labels.adjustment : '';
  return joined(wording, ' · ', [adjustment, lineText(line.description)]);
}

function chargeRow(given: DocumentLine, bill: BillDocument, wording: Wording): ChargeRow {
  const { formats } = wording;
  const line = withRate(given);
  const part = daysPart(line, bill);
  const percentage = percentText(line, wording);
  const steps = part === null ? stepTexts(line, wording) : partTexts(line, part, wording);
  return {
    label: lineText(line.label) || lineText(line.component),
    remark: joined(wording, ' · ', [daysText(line, bill, part, wording), noteOf(line, wording)]),
    quantity: line.quantity === null ? '' : measureText(line.quantity, line.unit, wording),
    // Beside the quantity, a rate alone would promise another amount.
    rate: part === null && percentage === '' ? rateText(line, wording) : '',
    amount: formats.amount(line.amount),
    steps: percentage === '' ? steps : [percentage, ...steps],
  };
}

/** "18 % of 15,648.39" */
function percentText({ basis }: DocumentLine, wording: Wording): string {
  if (basis === undefined || !('percent' in basis)) return '';
  const { formats } = wording;
  const percent = `${formats.quantity(basis.percent)} %`;
  return worded(wording, 'percentOf', { percent, amount: formats.step(basis.of) });
}

/** Of a line over another span than the bill, or charged by the days. */
function daysText(
  line: DocumentLine,
  bill: BillDocument,
  part: DaysPart | null,
  wording: Wording,
): string {
  const isWhole =
    line.fromDate === (bill.billedFrom ?? bill.startDate) &&
    line.toDate === (bill.billedTo ?? bill.endDate);
  return isWhole && part === null ? '' : spanText(line, part, wording);
}

function spanText(line: DocumentLine, part: DaysPart | null, wording: Wording): string {
  const { formats } = wording;
  const label = part !== null ? 'partDays' : line.days === 1 ? 'oneDay' : 'days';
  const days = worded(wording, label, {
    days: formats.count(line.days),
    all: part === null ? '' : formats.count(part.termDays),
  });
  const span = joined(wording, ' – ', [formats.date(line.fromDate), formats.date(line.toDate)]);
  return joined(wording, ' ', [span, `(${days})`]);
}

/** One step says no more than the line can, unless it has a flat part or counts something else. */
function isRateEnough(line: DocumentLine): boolean {
  const [first, ...others] = line.details;
  if (first === undefined) return true;
  const isOfLine = line.quantity === null || areStepsOfQuantity(line);
  return others.length === 0 && !hasFlat(first) && isOfLine;
}

function hasFlat({ flat }: LineDetail): boolean {
  return flat !== undefined && Number(flat) !== 0;
}

function rateText(line: DocumentLine, { formats }: Wording): string {
  const only = line.details.length === 1 ? line.details[0] : undefined;
  if (only !== undefined && hasFlat(only)) return '';
  const rate = line.rate ?? (isRateEnough(line) ? only?.rate : undefined);
  if (rate === undefined) return '';
  const isPercent = line.unit === '%' && line.quantity === null;
  return isPercent ? `${formats.quantity(rate)} %` : formats.quantity(rate);
}

function stepTexts(line: DocumentLine, wording: Wording): string[] {
  return isRateEnough(line) ? [] : wholeSteps(line, wording);
}

function wholeSteps(line: DocumentLine, wording: Wording): string[] {
  const { formats } = wording;
  const unit = areStepsOfQuantity(line) ? line.unit : null;
  return line.details.map((step) => {
    const flat = hasFlat(step) ? ` + ${formats.step(step.flat ?? '')}` : '';
    return `${ratedText(step, unit, wording)}${flat} = ${formats.step(step.amount)}`;
  });
}

function ratedText(
  step: { quantity: string | null; rate: string },
  unit: string | null,
  wording: Wording,
): string {
  const rate = wording.formats.quantity(step.rate);
  return step.quantity === null ? rate : `${measureText(step.quantity, unit, wording)} × ${rate}`;
}

/** What the whole term comes to, and what its days make of that. */
function partTexts(line: DocumentLine, part: DaysPart, wording: Wording): string[] {
  const { formats } = wording;
  const days = `${formats.count(part.days)}/${formats.count(part.termDays)}`;
  const ending = `× ${days} = ${formats.step(part.part)}`;
  if (!isRateEnough(line)) {
    return [...wholeSteps(line, wording), `${formats.step(part.whole)} ${ending}`];
  }
  const { quantity, rate } = line;
  const [only] = line.details;
  if (only !== undefined) {
    const unit = areStepsOfQuantity(line) ? line.unit : null;
    return [`${ratedText(only, unit, wording)} ${ending}`];
  }
  return [`${ratedText({ quantity, rate: rate ?? '' }, line.unit, wording)} ${ending}`];
}
