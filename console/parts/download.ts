// Files that the browser saves.
import type { Pages } from '../api/queries/base.ts';
import type { Column } from './columns.ts';
import { everyRow } from './totals.ts';

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
  for await (const rows of everyRow(pages)) {
    for (const row of rows) lines.push(csvLine(columns.map((column) => textOf(column, row))));
  }
  return lines;
}

/** What can be pasted is a table of a spreadsheet or a letter. Returns how many rows it has. */
export async function copyTable<Row>(
  pages: Pages<Row>,
  columns: readonly Column<Row>[],
): Promise<number> {
  const table = [columns.map((column) => column.label)];
  for await (const rows of everyRow(pages)) {
    for (const row of rows) table.push(columns.map((column) => textOf(column, row)));
  }
  const plain = table.map((cells) => cells.map(plainCell).join('\t')).join('\n');
  const made = document.createElement('table');
  for (const cells of table) {
    const line = made.insertRow();
    // As text: what a customer typed is never read as HTML.
    for (const cell of cells) line.insertCell().textContent = cell;
  }
  await navigator.clipboard.write([
    new ClipboardItem({
      'text/plain': new Blob([plain], { type: 'text/plain' }),
      'text/html': new Blob([made.outerHTML], { type: 'text/html' }),
    }),
  ]);
  return table.length - 1;
}

function plainCell(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ');
}

export function textOf<Row>(column: Column<Row>, row: Row): string {
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
