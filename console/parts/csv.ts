// Tables of files: what a person chose on the disk, and what the API returns as lines.
import { CsvError, type Options, parse } from 'csv-parse/browser/esm/sync';
import i18next from 'i18next';

export type CsvRow = Record<string, string>;

/** Rows by the names of their columns; the first line has the names. */
export function rowsOfCsv(text: string): CsvRow[] {
  return parsed(text, { columns: true, bom: true }) as unknown as CsvRow[];
}

/** Rows as lists, without a head. */
export function cellsOfCsv(text: string): string[][] {
  return parsed(text, { bom: true, trim: true });
}

/** Empty lines are left out. Fails with the line where quotation marks are not in order. */
export function parsed(text: string, options: Options): string[][] {
  try {
    return parse(text, { ...options, skip_empty_lines: true, relax_column_count: true });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Error(i18next.t('file.notCsv', { line: error.lines }), { cause: error });
  }
}

/** The lines that an export returns, as one text. */
export function textOfLines(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
