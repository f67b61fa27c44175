// Files that the browser saves.
import { type Pages, queries } from '../api/queries/base.ts';
import type { Column } from './list.tsx';

/** As many rows as the server gives at once. */
const rowsAtOnce = 1_000;

export function offerFile(name: string, content: BlobPart | BlobPart[], type = 'text/csv'): void {
  const parts = Array.isArray(content) ? content : [content];
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after the click has ended.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Exactly what a list shows, all of its rows. */
export async function csvOf<Row>(
  pages: Pages<Row>,
  columns: readonly Column<Row>[],
): Promise<string[]> {
  const lines = [csvLine(columns.map((column) => column.label))];
  for (let number = 0; ; number += 1) {
    const { rows } = await queries.fetchQuery({ ...pages(number, rowsAtOnce), gcTime: 0 });
    for (const row of rows) lines.push(csvLine(columns.map((column) => textOf(column, row))));
    if (rows.length < rowsAtOnce) return lines;
  }
}

function textOf<Row>(column: Column<Row>, row: Row): string {
  if (column.text) return String(column.text(row) ?? '');
  const shown = column.show(row);
  return typeof shown === 'string' || typeof shown === 'number' ? String(shown) : '';
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. */
function csvCell(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+([.,]\d+)*$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
