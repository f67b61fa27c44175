// Lines of a bill as they are made, sorted and numbered.

import { type SlabUse, slabBreakdown } from '../../../base/formula/slab.ts';
import { decimalText } from '../../../base/numbers/decimal-text.ts';
import { type Exact, one } from '../../../base/numbers/exact.ts';
import type { BillLine, LineDetail } from '../bill.ts';
import { lineBasis } from '../compile/compile-basis.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import type { CompiledComponent } from '../compile/compiled-context.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { Frame } from '../compile/formula-frame.ts';

/** The days a line is about, with their texts. */
export type LineDays = {
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
};

type UnnumberedLine = { -readonly [Key in keyof BillLine]: BillLine[Key] };

/** Lines before they are numbered, and the print rank of each: two arrays, not an object a line. */
export type LineList = { readonly lines: UnnumberedLine[]; readonly ranks: number[] };

export function emptyLines(): LineList {
  return { lines: [], ranks: [] };
}

export function addLine(list: LineList, line: UnnumberedLine, component: CompiledComponent): void {
  list.lines.push(line);
  list.ranks.push(component.sequence);
}

/** A longer breakdown would not help the reader. */
const detailsMax = 1000;
const noDetails: readonly LineDetail[] = [];

export function computedLine(
  rule: CompiledRule,
  frame: Frame,
  compiledPlan: CompiledPlan,
  days: LineDays,
  { amount, exact }: { amount: number; exact: Exact },
): UnnumberedLine {
  const { component } = rule;
  const quantity = rule.quantity === null ? null : decimalText(rule.quantity(frame));
  const line: UnnumberedLine = {
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
    tariffCode: compiledPlan.code,
    tariffVersion: compiledPlan.version,
    description: null,
  };
  if (rule.basis !== null && frame.slabs === null) {
    const share = rule.isProrated ? frame.factor : one;
    const basis = lineBasis(rule.basis, frame, { exact, share });
    if (basis !== undefined) line.basis = basis;
  }
  return line;
}

/** A line that no formula of this bill made: a manual value or an adjustment. */
export function otherLine(
  component: CompiledComponent,
  compiledPlan: CompiledPlan,
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
    tariffCode: compiledPlan.code,
    tariffVersion: compiledPlan.version,
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
export function numberedLines(list: LineList, firstNumber: number): BillLine[] {
  const { lines } = list;
  sortLines(list);
  for (let index = 0; index < lines.length; index++) {
    (lines[index] as UnnumberedLine).lineNo = firstNumber + index;
  }
  return lines;
}

/** Above this many, moving each line to its place takes longer than a general sort. */
const fewLines = 40;

function sortLines(list: LineList): void {
  if (list.lines.length <= fewLines) insertInOrder(list);
  else sortAll(list);
}

function sortAll({ lines, ranks }: LineList): void {
  const entries = lines.map((line, index) => ({ line, rank: ranks[index] as number }));
  entries.sort((a, b) => a.rank - b.rank || compareLines(a.line, b.line));
  for (const [index, entry] of entries.entries()) lines[index] = entry.line;
}

/** Rules come nearly in print order, so few lines have to move. */
function insertInOrder({ lines, ranks }: LineList): void {
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] as UnnumberedLine;
    const rank = ranks[index] as number;
    let at = index;
    while (at > 0 && isAfter(ranks[at - 1] as number, lines[at - 1] as BillLine, rank, line)) {
      lines[at] = lines[at - 1] as UnnumberedLine;
      ranks[at] = ranks[at - 1] as number;
      at -= 1;
    }
    lines[at] = line;
    ranks[at] = rank;
  }
}

function isAfter(rank: number, line: BillLine, otherRank: number, other: BillLine): boolean {
  return rank === otherRank ? compareLines(line, other) > 0 : rank > otherRank;
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
