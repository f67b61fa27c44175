// Lines of a bill as they are made, sorted and numbered.

import { type SlabUse, slabBreakdown } from '../../base/formula/slab.ts';
import { decimalText } from '../../base/numbers/decimal-text.ts';
import type { BillLine, LineDetail } from './bill.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { CompiledComponent } from './compiled-context.ts';
import type { Edition } from './edition.ts';
import type { LineExplanation } from './explain.ts';
import type { Frame } from './frame.ts';

/** The days a line is about, with their texts. */
export type LineDays = {
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
};

type UnnumberedLine = { -readonly [Key in keyof BillLine]: BillLine[Key] };

/** A line before its number is known. */
export type DraftLine = {
  readonly line: UnnumberedLine;
  readonly sequence: number;
  readonly explanation: LineExplanation | null;
};

/** A breakdown longer than this helps nobody. */
const detailsMax = 1000;
const noDetails: readonly LineDetail[] = [];

export function computedLine(
  rule: CompiledRule,
  frame: Frame,
  edition: Edition,
  days: LineDays,
  amount: number,
): UnnumberedLine {
  const { component } = rule;
  const quantity = rule.quantity === null ? null : decimalText(rule.quantity(frame));
  return {
    lineNo: 0,
    component: component.definition.name,
    label: component.label,
    type: component.definition.type,
    lineType: 'Normal',
    source: 'Computed',
    fromDate: days.fromDate,
    toDate: days.toDate,
    days: days.days,
    quantity,
    unit: rule.unit,
    rate: rule.rate === null ? null : decimalText(rule.rate(frame)),
    amount,
    computedAmount: amount,
    details: frame.slabs === null ? noDetails : detailsOf(frame.slabs),
    tariffCode: edition.code,
    tariffVersion: edition.version,
    description: null,
  };
}

/** A line that no formula of this bill made: a manual value or an adjustment. */
export function otherLine(
  component: CompiledComponent,
  edition: Edition,
  days: LineDays,
  line: Pick<BillLine, 'lineType' | 'source' | 'amount' | 'computedAmount' | 'description'>,
): UnnumberedLine {
  return {
    lineNo: 0,
    component: component.definition.name,
    label: component.label,
    type: component.definition.type,
    lineType: line.lineType,
    source: line.source,
    fromDate: days.fromDate,
    toDate: days.toDate,
    days: days.days,
    quantity: null,
    unit: null,
    rate: null,
    amount: line.amount,
    computedAmount: line.computedAmount,
    details: noDetails,
    tariffCode: edition.code,
    tariffVersion: edition.version,
    description: line.description,
  };
}

function detailsOf(slabs: readonly SlabUse[]): LineDetail[] {
  const first = slabs[0] as SlabUse;
  const details = slabBreakdown(first);
  for (let index = 1; index < slabs.length && details.length < detailsMax; index++) {
    const use = slabs[index] as SlabUse;
    details.push(...slabBreakdown(use));
  }
  return details.length > detailsMax ? details.slice(0, detailsMax) : details;
}

/** In print order; nothing but the lines themselves decides it, so it never depends on arrays. */
export function numberedLines(drafts: DraftLine[], firstNumber: number): BillLine[] {
  sortLines(drafts);
  const lines: BillLine[] = [];
  for (const { line } of drafts) {
    line.lineNo = firstNumber + lines.length;
    lines.push(line);
  }
  return lines;
}

/** Below this many, putting each line in its place is faster than a general sort. */
const fewLines = 40;

function sortLines(drafts: DraftLine[]): void {
  if (drafts.length > fewLines) {
    drafts.sort(inPrintOrder);
    return;
  }
  for (let index = 1; index < drafts.length; index++) {
    const draft = drafts[index] as DraftLine;
    let at = index;
    while (at > 0 && inPrintOrder(drafts[at - 1] as DraftLine, draft) > 0) {
      drafts[at] = drafts[at - 1] as DraftLine;
      at -= 1;
    }
    drafts[at] = draft;
  }
}

function inPrintOrder(a: DraftLine, b: DraftLine): number {
  return a.sequence !== b.sequence ? a.sequence - b.sequence : compareLines(a.line, b.line);
}

function compareLines(a: BillLine, b: BillLine): number {
  if (a.component !== b.component) return a.component < b.component ? -1 : 1;
  if (a.lineType !== b.lineType) return a.lineType === 'Adjustment' ? 1 : -1;
  const byDate = compareDates(a.fromDate, b.fromDate) || a.amount - b.amount;
  if (byDate !== 0 || a.tariffCode === b.tariffCode) return byDate;
  return a.tariffCode < b.tariffCode ? -1 : 1;
}

/** DD/MM/YYYY by time. */
function compareDates(a: string, b: string): number {
  if (a === b) return 0;
  const sortable = (text: string) => text.slice(6) + text.slice(3, 5) + text.slice(0, 2);
  return sortable(a) < sortable(b) ? -1 : 1;
}
