// Rows of a CSV file, each with its line: as spreadsheets write them, with commas, semicolons or
// tabs, in any of the usual encodings.
import { CsvError, parse } from 'csv-parse';
import { AppError } from '../errors.ts';
import { decode, type Encoding } from './decode.ts';

export type CsvRow = { line: number; cells: string[] };

export type CsvOptions = {
  encoding: Encoding | null;
  rowsAtOnce: number;
  /** Without one, the first line tells it. */
  delimiter?: string | null;
  /** Lines above the first row. */
  skipLines?: number;
};

/** A row longer than this has lost its closing quote. */
const rowCharactersMax = 1_048_576;

/** A first line longer than this does not name columns. */
const headerCharactersMax = 65_536;

const delimiters = [',', ';', '\t', '|'] as const;

/** The rows in chunks, the first of them with the header. Empty lines are passed over. */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  options: CsvOptions,
): AsyncGenerator<CsvRow[]> {
  const texts = decode(bytes, options.encoding);
  const { first, skipped } = await firstLine(texts, options.skipLines ?? 0);
  const position: ParserPosition = { skippedLines: skipped.lines, doubled: 0, lastLine: 0 };
  const parser = parse({
    delimiter: options.delimiter ?? delimiterOf(first),
    record_delimiter: lineEnds(first),
    // Its types let a row become nothing but another list of cells.
    on_record: (cells, { lines }) => rowOf(cells, lines, position) as never,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowCharactersMax,
  });
  const fed = feed(parser, first.slice(skipped.characters), texts);
  let rows: CsvRow[] = [];
  try {
    for await (const row of parser) {
      rows.push(row);
      if (rows.length < options.rowsAtOnce) continue;
      yield rows;
      rows = [];
    }
    await fed;
  } catch (error) {
    throw problemOf(error, position);
  }
  if (rows.length > 0) yield rows;
}

/** The text up to the end of the first line at least, without lines that are skipped. */
async function firstLine(
  texts: AsyncGenerator<string>,
  skipLines: number,
): Promise<{ first: string; skipped: { characters: number; lines: number } }> {
  let first = '';
  let left = skipLines;
  for (;;) {
    // A CR at the very end may be the half of a line end.
    const end = left > 0 ? /\r\n|\n|\r(?=.)/s.exec(first) : null;
    if (end) {
      first = first.slice(end.index + end[0].length);
      left -= 1;
      continue;
    }
    if (left === 0 && /[\r\n]/.test(first)) break;
    if (first.length > headerCharactersMax) break;
    const { value, done } = await texts.next();
    if (done) break;
    first += value;
  }
  if (left > 0 && first.length <= headerCharactersMax) first = '';
  if (headerIn(first).length > headerCharactersMax) {
    const message = `Line 1: the header is longer than ${headerCharactersMax} characters`;
    throw new AppError('TOO_MANY_ITEMS', { message, field: 'content' });
  }
  // Spreadsheets write which delimiter they used above the header.
  const named = /^sep=(.)\r?\n/i.exec(first);
  const lines = skipLines - left + (named ? 1 : 0);
  return { first, skipped: { characters: named?.[0].length ?? 0, lines } };
}

/** The separator that appears most often in the header, outside quotes. */
function delimiterOf(text: string): string {
  const named = /^sep=(.)\r?\n/i.exec(text)?.[1];
  if (named) return named;
  const header = headerIn(text).replace(/"[^"]*"/g, '');
  const counts = delimiters.map((one) => header.split(one).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

function headerIn(text: string): string {
  return /^[^\r\n]*/.exec(text)?.[0] ?? '';
}

/**
 * What ends a row: what ends the header, unless that is inside quotes. The parser would find out by
 * itself, at a high price for each character of a long header.
 */
function lineEnds(text: string): string[] {
  const header = headerIn(text);
  // Where the text read so far ends with CR, LF may follow.
  const end = /^(?:\r\n|\n|\r(?=.))/s.exec(text.slice(header.length, header.length + 2))?.[0];
  const isQuoted = header.split('"').length % 2 === 0;
  return end === undefined || isQuoted ? ['\r\n', '\n', '\r'] : [end];
}

type Parser = ReturnType<typeof parse>;

/** Hands the text on as fast as it is read and no faster. */
async function feed(parser: Parser, first: string, rest: AsyncIterable<string>): Promise<void> {
  try {
    await write(parser, first);
    for await (const text of rest) await write(parser, text);
    parser.end();
  } catch (error) {
    parser.destroy(error as Error);
  }
}

function write(parser: Parser, text: string): Promise<void> | undefined {
  if (text === '' || parser.write(text)) return undefined;
  return new Promise((resolve) => {
    const go = () => {
      parser.off('drain', go);
      parser.off('close', go);
      resolve();
    };
    parser.on('drain', go);
    parser.on('close', go);
  });
}

/** How far the parser has come. It counts CR LF inside quotes as two lines: those are `doubled`. */
type ParserPosition = { skippedLines: number; doubled: number; lastLine: number };

/** A row with the line on which it begins; the parser counts up to where it ends. */
function rowOf(cells: string[], parsedLines: number, position: ParserPosition): CsvRow {
  let breaks = 0;
  for (const cell of cells) {
    const found = cell.match(/\r\n|\r|\n/g) ?? [];
    breaks += found.length;
    position.doubled += found.filter((one) => one.length === 2).length;
  }
  position.lastLine = parsedLines - position.doubled;
  return { line: position.lastLine - breaks + position.skippedLines, cells };
}

/** A quote that is missing is named by the line of its row: the parser noticed at the end. */
function problemOf(error: unknown, { skippedLines, doubled, lastLine }: ParserPosition): unknown {
  if (!(error instanceof CsvError)) return error;
  const isEndless = ['CSV_MAX_RECORD_SIZE', 'CSV_QUOTE_NOT_CLOSED'].includes(error.code);
  const line = (isEndless ? lastLine + 1 : Number(error.lines ?? 0) - doubled) + skippedLines;
  const what = isEndless ? 'a row does not end; is a quote missing?' : 'quotes are not in order';
  return new AppError('INVALID_FORMAT', { message: `Line ${line}: ${what}`, field: 'content' });
}
