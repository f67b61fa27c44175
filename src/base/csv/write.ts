// Rows as lines of CSV that a spreadsheet opens as text and numbers, never as formulas.
import { stringify } from 'csv-stringify/sync';

export type Cell = string | number | boolean | null;

/** How every line ends, as spreadsheets expect it. */
export const lineEnd = '\r\n';

/** Lines without their ends. */
export function csvLines(rows: readonly (readonly Cell[])[]): string[] {
  return rows.map((row) =>
    stringify([row.map(plainCell)], { record_delimiter: lineEnd }).slice(0, -lineEnd.length),
  );
}

const plainNumber = /^[+-]?\d{1,15}(\.\d+)?$/;

function plainCell(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'string' ? withoutFormula(cell) : String(cell);
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe, which it hides. */
export function withoutFormula(text: string): string {
  return /^[=+\-@\t\r\n|']/.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/** The text as it was before it was written. */
export function withFormula(text: string): string {
  return /^'[=+\-@\t\r\n|']/.test(text) ? text.slice(1) : text;
}
