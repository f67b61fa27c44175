// Tables of files: what a person chose on the disk, and what the API returns as lines.
import { parse } from 'csv-parse/browser/esm/sync';

export type CsvRow = Record<string, string>;

/** Rows by the names of their columns; the first line has the names. */
export function rowsOfCsv(text: string): CsvRow[] {
  return parse(text, {
    columns: true,
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
  });
}

/** Rows as lists, without a head. */
export function cellsOfCsv(text: string): string[][] {
  return parse(text, { bom: true, skip_empty_lines: true, trim: true, relax_column_count: true });
}

/** The lines that an export returns, as one text. */
export function textOfLines(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
