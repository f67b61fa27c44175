// Rows as lines of CSV that a spreadsheet opens as text and numbers, never as formulas.
import { stringify } from 'csv-stringify/sync';

export type Cell = string | number | boolean | null;

/** How every line ends, as spreadsheets expect it. */
export const lineEnd = '\r\n';

// Half an end of a line inside a cell would end the row for some readers.
const form = { record_delimiter: lineEnd, quoted_match: /[\r\n]/ } as const;

/** Lines without their ends. */
export function csvLines(rows: readonly (readonly Cell[])[]): string[] {
  return rows.map((row) => stringify([row.map(plainCell)], form).slice(0, -lineEnd.length));
}

const plainNumber = /^[+-]?\d{1,15}(\.\d+)?$/;

function plainCell(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'string' ? withoutFormula(cell) : String(cell);
}

// Spreadsheets of many countries split at semicolons, whatever the file uses, and then ignore
// quotes inside a line. So a text is guarded where it begins, and again where such a split would
// begin a cell. Full-width signs are those of East Asian keyboards. An apostrophe counts as a sign,
// so that a guarded text can always be distinguished from one that was not guarded.
const opening = String.raw`(?=[" ]*[=+\-@＝＋－＠'])`;
const openingOfText = String.raw`(?=[" ]*[=+\-@＝＋－＠'\t\r\n|])`;
const cellStart = String.raw`(?<=[;\t\r\n|])`;
const unguarded = new RegExp(`^${openingOfText}|${cellStart}${opening}`, 'g');
const guarded = new RegExp(`^'${openingOfText}|${cellStart}'${opening}`, 'g');

/** With an apostrophe before everything that a spreadsheet would take for a formula. */
export function withoutFormula(text: string): string {
  return plainNumber.test(text) ? text : text.replace(unguarded, "'");
}

/** The text as it was before it was written. */
export function withFormula(text: string): string {
  return text.replace(guarded, '');
}
