// A bill in a few lines of plain text, for terminals and as the text of a message.
import type { BillDocumentInput } from './bill-document.ts';
import { type BillView, billView } from './bill-view.ts';
import type { ReadingRow } from './charges-view.ts';
import type { Fact } from './fact.ts';
import type { ChargeRow } from './lines-view.ts';
import { withoutIsolates } from './plain-text.ts';

const lineWidth = 64;

export function billText(input: BillDocumentInput): string {
  const view = billView({ ...input, template: null, secondLocale: null });
  const lines = [
    view.letterhead.name,
    joined([view.title, view.billNumber]),
    ...(view.warning === null ? [] : [view.warning]),
    '',
    view.customer.name,
    ...view.customer.lines,
    ...factsOf(view).map((fact) => pair(`${fact.label}:`, fact.value)),
    ...chargeLines(view),
    '',
    ...view.totals.map((row) => pair(row.label, row.value)),
    ...(view.inWords === null ? [] : ['', `${view.inWords.label}: ${view.inWords.value}`]),
  ];
  return `${lines.map(withoutIsolates).join('\n').trim()}\n`;
}

/** Includes the amounts payable, which name the currency: the totals below do not. */
function factsOf(view: BillView): Fact[] {
  const payable = [view.payable, view.payableLate].filter((fact) => fact !== null);
  return [...view.customer.facts, ...view.facts, ...payable];
}

function chargeLines(view: BillView): string[] {
  return view.sections.flatMap((section) => {
    const rows = section.groups.flatMap((group) => group.rows);
    return [
      '',
      ...(section.heading === null ? [] : [section.heading]),
      ...section.readings.map((reading) => readingLine(view, reading)),
      ...section.usage.map((row) => row.text),
      ...rows.flatMap(rowLines),
      ...(section.subtotal === null ? [] : [pair(view.labels.subtotal, section.subtotal)]),
    ];
  });
}

function readingLine({ labels, wording }: BillView, reading: ReadingRow): string {
  const { meter, register, previous, current, type, consumption } = reading;
  const span = [previous, current].filter((part) => part !== '').join(' – ');
  const factor = reading.factor === wording.formats.quantity('1') ? '' : `× ${reading.factor}`;
  const kinds = [type, reading.rollover].filter((part) => part !== '').join(', ');
  const kind = kinds === '' ? '' : `(${kinds})`;
  return pair(joined([labels.meter, meter, register, span, factor, kind]), consumption);
}

/** A charge with one slab shows its rate; the slabs of others would take too many lines. */
function rowLines(row: ChargeRow): string[] {
  const [step, ...others] = row.steps;
  const lines = [pair(describe(row), row.amount)];
  if (row.remark !== '') lines.push(`  ${row.remark}`);
  if (step !== undefined && others.length === 0) lines.push(`  ${step}`);
  return lines;
}

function describe({ label, quantity, rate }: ChargeRow): string {
  const measure = [quantity, rate].filter((part) => part !== '').join(' × ');
  return measure === '' ? label : `${label} (${measure})`;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** Aligns the value at the right edge. If the label is too long for that, the value follows it. */
function pair(label: string, value: string): string {
  const room = lineWidth - columnsOf(label) - columnsOf(value);
  return room < 2 ? `${label}  ${value}` : `${label}${' '.repeat(room)}${value}`;
}

const unseen = /[\p{M}\p{Cf}]/gu;

function columnsOf(text: string): number {
  return [...text.replace(unseen, '')].length;
}
