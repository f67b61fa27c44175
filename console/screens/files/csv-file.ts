// A CSV file in the memory of the page: read, its columns renamed, its cells corrected.
import type { Problem } from './import-problems.ts';

export type CsvFile = { name: string; header: string[]; rows: string[][] };

/** Above this a file is sent as it is: its cells are not shown. */
export const editableBytes = 20_000_000;

const separators = [',', ';', '\t', '|'];

export async function readCsv(file: File): Promise<CsvFile> {
  const { parsed } = await import('../../parts/csv.ts');
  const text = decoded(new Uint8Array(await file.arrayBuffer()));
  const named = /^sep=(.)\r?\n/.exec(text);
  const body = named ? text.slice(named[0].length) : text;
  const first = body.slice(0, body.search(/[\r\n]|$/));
  const delimiter = named?.[1] ?? mostOf(first);
  const rows = parsed(body, { delimiter });
  const [header = [], ...rest] = rows;
  return { name: file.name, header: header.map((cell) => cell.trim()), rows: rest };
}

/** UTF-16 by its mark, else UTF-8, else what older spreadsheets write. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function mostOf(line: string): string {
  const counted = separators.map((one) => [one, line.split(one).length] as const);
  return counted.toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? ',';
}

/** The file as it is sent: with the columns of the import, without those that are left out. */
export async function csvText(file: CsvFile, columns: readonly (string | null)[]): Promise<string> {
  const { stringify } = await import('csv-stringify/browser/esm/sync');
  const kept = columns.flatMap((column, index) => (column === null ? [] : [index]));
  const header = kept.map((index) => columns[index] ?? '');
  const rows = file.rows.map((row) => kept.map((index) => row[index] ?? ''));
  return stringify([header, ...rows], { record_delimiter: '\r\n' });
}

/** The rejected rows with the reason of each in a last column. */
export async function rejectedText(
  file: CsvFile,
  columns: readonly (string | null)[],
  problems: ReadonlyMap<number, readonly Problem[]>,
  reason: string,
): Promise<string> {
  const rows = [...problems].map(([index, found]) => [
    ...file.header.map((_, at) => file.rows[index]?.[at] ?? ''),
    found.map(({ message }) => message).join(' '),
  ]);
  const shown = { ...file, header: [...file.header, reason], rows };
  return csvText(shown, [...columns, reason]);
}

/** The line on which each row begins in the text that is sent; the header is line 1. */
export function linesOf(file: CsvFile, columns: readonly (string | null)[]): number[] {
  let line = 2;
  return file.rows.map((row) => {
    const start = line;
    const breaks = row
      .filter((_, index) => columns[index] != null)
      .join('')
      .match(/\r\n|\r|\n/g);
    line += 1 + (breaks?.length ?? 0);
    return start;
  });
}
