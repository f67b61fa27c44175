// A CSV file row by row: its header, the contents of each row, and the problems. Every rejected row
// is named; the loader decides what happens to the others.
import { counted } from '../../base/counted.ts';
import { type CsvOptions, type CsvRow, readCsv } from '../../base/csv/read.ts';
import { withFormula } from '../../base/csv/write.ts';
import { AppError, type ErrorCode, type ErrorDetail } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest.ts';
import { slicing } from '../../base/slices.ts';

/** A row with its filled cells, by the name of the column. */
export type ImportRow = { line: number; cells: ReadonlyMap<string, string> };

export type LineProblem = {
  line: number;
  /** null: of the whole row. */
  column: string | null;
  code: ErrorCode;
  message: string;
  rejectedValue?: unknown;
};

export type Loader = {
  columns: readonly string[];
  requiredColumns: readonly string[];
  /** Columns that begin with one of these go on with a name of the workspace's own. */
  prefixes: readonly string[];
  /** Columns of other use, which are passed over. */
  ignoredColumns: readonly string[];
  /** Rows that bring nothing, such as those of a form that were not filled in. */
  isBlank?(row: ImportRow): boolean;
  /** Stores the good rows and names the bad ones. */
  load(rows: readonly ImportRow[]): Promise<LineProblem[]>;
  /** After the last row, if no row of the file is bad. */
  finish?(): Promise<void>;
};

export type ImportedRows = { rows: number; problems: LineProblem[] };

export type Progress = (rows: number, problems: number) => void;

/** Rows that are checked and stored together, unless the caller wants fewer. */
const rowsAtOnceUsual = 2_000;
/** A file with more rejected rows than this is the wrong file. */
const problemsMax = 200_000;
const columnsMax = 500;
/** Characters of a column's name that an error repeats. */
const shownNameMax = 100;

export async function importRows(
  bytes: AsyncIterable<Uint8Array>,
  encoding: CsvOptions['encoding'],
  loader: Loader,
  { onProgress, rowsAtOnce = rowsAtOnceUsual }: { onProgress: Progress; rowsAtOnce?: number },
): Promise<ImportedRows> {
  const slices = slicing();
  let header: string[] | undefined;
  const problems: LineProblem[] = [];
  let rows = 0;
  let lines = 0;
  for await (const read of readCsv(bytes, { encoding, rowsAtOnce })) {
    const chunk = read.filter(hasText);
    const first = header ? undefined : chunk.shift();
    if (first) header = checkHeader(first, loader);
    const names = header ?? [];
    const whole: ImportRow[] = [];
    lines += chunk.length;
    for (const row of chunk) {
      const problem = ragged(row, names.length);
      const named = rowOf(row, names);
      if (!problem && loader.isBlank?.(named)) continue;
      rows += 1;
      if (problem) problems.push(problem);
      else whole.push(named);
    }
    if (whole.length > 0) problems.push(...distinct(await loader.load(whole)));
    onProgress(rows, problems.length);
    await slices.pause();
    if (problems.length > problemsMax) break;
  }
  if (!header || lines === 0) {
    throw new AppError('REQUIRED_FIELD', { message: 'The file has no rows', field: 'content' });
  }
  if (problems.length === 0) await loader.finish?.();
  return { rows, problems: problems.sort((a, b) => a.line - b.line) };
}

/** A cell that is used for two things is wrong once. */
function distinct(problems: readonly LineProblem[]): LineProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ line, column, code }) => {
    const key = `${line} ${column} ${code}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Spreadsheets leave lines of nothing but commas where rows were deleted. */
function hasText({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell.trim() !== '');
}

function ragged({ line, cells }: CsvRow, columns: number): LineProblem | undefined {
  const isLonger = cells.slice(columns).some((cell) => cell.trim() !== '');
  if (cells.length >= columns && !isLonger) return undefined;
  const message = `The row has ${counted(cells.length, 'cell')}, the header ${columns}`;
  return { line, column: null, code: 'INVALID_FORMAT', message };
}

function rowOf({ line, cells }: CsvRow, names: readonly string[]): ImportRow {
  const filled = new Map<string, string>();
  names.forEach((name, index) => {
    const cell = withFormula((cells[index] ?? '').trim());
    if (cell !== '') filled.set(name, cell);
  });
  return { line, cells: filled };
}

/** The columns as the loader calls them; whatever is wrong with them is named at once. */
function checkHeader({ line, cells }: CsvRow, loader: Loader): string[] {
  const known = new Map(
    [...loader.columns, ...loader.ignoredColumns].map((name) => [folded(name), name]),
  );
  // Spreadsheets leave empty cells to the right of the last column.
  const columns = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
  if (columns > columnsMax) {
    const message = `Line ${line}: the header has ${columns} columns; send at most ${columnsMax}`;
    throw new AppError('TOO_MANY_ITEMS', { message, field: `lines[${line}]` });
  }
  const names = cells
    .slice(0, columns)
    .map((cell) => known.get(folded(cell)) ?? prefixed(cell, loader) ?? cell);
  const details: ErrorDetail[] = [];
  const refuse = (code: ErrorCode, column: string, message: string) =>
    details.push({ field: `lines[${line}].${column}`, code, message: `Line ${line}: ${message}` });
  const seen = new Set<string>();
  for (const name of names) {
    const isKnown = known.has(folded(name)) || prefixed(name, loader) !== undefined;
    const shown = name.slice(0, shownNameMax);
    if (!isKnown) refuse('UNKNOWN_FIELD', shown, unknownText(shown, loader, details.length === 0));
    else if (seen.has(name)) refuse('DUPLICATE', shown, `the column '${shown}' appears twice`);
    seen.add(name);
  }
  for (const name of loader.requiredColumns) {
    if (!seen.has(name)) refuse('REQUIRED_FIELD', name, `the column '${name}' is missing`);
  }
  const [first] = details;
  if (first) throw new AppError(first.code, { message: first.message, details });
  return names;
}

/** The nearest name, and once all names there are. */
function unknownText(name: string, { columns, prefixes }: Loader, isFirst: boolean): string {
  const nearest = nearestName(name, columns);
  const meant = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  if (!isFirst) return `there is no column '${name}'.${meant}`;
  const names = [...columns, ...prefixes.map((prefix) => `${prefix}...`)];
  return `there is no column '${name}'.${meant} The columns are ${names.join(', ')}`;
}

function prefixed(cell: string, loader: Loader): string | undefined {
  const prefix = loader.prefixes.find((one) => folded(cell).startsWith(folded(one)));
  const name = prefix === undefined ? '' : cell.trim().slice(prefix.length).trim();
  return name === '' ? undefined : `${prefix}${name}`;
}

/** `Party Number`, `party_number` and `partyNumber` are the same column. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

/** As an answer names them: `lines[17].number`. */
export function lineDetails(problems: readonly LineProblem[]): ErrorDetail[] {
  return problems.map(({ line, column, code, message, rejectedValue }) => ({
    field: column === null ? `lines[${line}]` : `lines[${line}].${column}`,
    code,
    message: `Line ${line}: ${message}`,
    ...(rejectedValue === undefined ? {} : { rejectedValue }),
  }));
}
