// A CSV file of a bank, read by a saved mapping. Such files have no balances to prove.
import type { Encoding } from '../../base/csv/decode.ts';
import { type CsvRow, readCsv } from '../../base/csv/read.ts';
import { AppError } from '../../base/errors.ts';
import { minorUnitsFrom } from '../../base/money.ts';
import {
  type ColumnName,
  columnNames,
  dateReader,
  isNumber,
  type MappingColumns,
} from './mapping.ts';
import {
  assertCurrency,
  dateAt,
  invalid,
  kept,
  type Money,
  type Piece,
  type StatementLine,
} from './statement.ts';

const rowsAtOnce = 1_000;

export async function* readBankCsv(
  bytes: AsyncIterable<Uint8Array>,
  options: { encoding: Encoding | null; money: Money; columns: MappingColumns },
): AsyncGenerator<Piece> {
  const { encoding, money, columns } = options;
  const { delimiter, skipRows } = columns;
  const skipLines = skipRows ?? 0;
  let read: ((row: CsvRow) => StatementLine) | undefined;
  let count = 0;
  const csv = { encoding, rowsAtOnce, delimiter: delimiter ?? null, skipLines };
  for await (const chunk of readCsv(bytes, csv)) {
    const rows = chunk.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
    const hasHeadings = !isNumber(columns.date);
    const heading = !read && hasHeadings ? rows.shift() : undefined;
    if (!read && (heading || !hasHeadings)) read = rowReader(placesOf(columns, heading), options);
    const lines = rows.flatMap((row) => read?.(row) ?? []);
    count += lines.length;
    yield { lines, statements: [] };
  }
  if (count > 0) return;
  const message = `The file has no rows in ${money.currency}`;
  throw new AppError('REQUIRED_FIELD', { message, field: 'content' });
}

type Places = ReadonlyMap<ColumnName, number>;

/** Where each column is; a heading that is missing is named. */
function placesOf(columns: MappingColumns, heading: CsvRow | undefined): Places {
  const headings = heading?.cells.map(folded) ?? [];
  const places = new Map<ColumnName, number>();
  for (const name of columnNames) {
    const wanted = columns[name];
    if (!wanted) continue;
    const place = heading ? headings.indexOf(folded(wanted)) : Number(wanted) - 1;
    if (place >= 0) places.set(name, place);
    else if (heading) {
      const found = heading.cells.map((cell) => `'${cell.trim().slice(0, 40)}'`).slice(0, 30);
      const message = `there is no column '${wanted}'; the headings are ${found.join(', ')}`;
      throw invalid(heading.line, message);
    }
  }
  return places;
}

function folded(heading: string): string {
  return heading.trim().toLowerCase();
}

function rowReader(
  places: Places,
  { columns, money }: { columns: MappingColumns; money: Money },
): (row: CsvRow) => StatementLine {
  const readDate = dateReader(columns.dateFormat);
  return ({ line, cells }) => {
    const cell = (name: ColumnName) => cells[places.get(name) ?? -1]?.trim() ?? '';
    const amountIn = (name: ColumnName) => {
      const minor = amountOf(cell(name), columns.decimal, money.decimals);
      if (minor !== undefined) return minor;
      const what = `'${cell(name).slice(0, 40)}' is not an amount in ${money.currency}`;
      throw invalid(line, `${columns[name]}: ${what}`);
    };
    assertCurrency(cell('currency') || undefined, money, line);
    const sent = cell('date');
    const date = dateAt(readDate?.(sent), sent, line);
    const amount = places.has('amount') ? amountIn('amount') : undefined;
    return {
      ...{ fileLine: line, account: null, date, isReversal: false },
      amount: amount ?? Math.abs(amountIn('credit')) - Math.abs(amountIn('debit')),
      payer: kept(cell('payer'), 140),
      payerAccount: kept(cell('payerAccount'), 64),
      text: kept(cell('text')),
      reference: kept(cell('reference'), 140),
      bankId: kept(cell('bankID'), 64),
    };
  };
}

/**
 * Minor units of `1.234,56-` or `(1,234.56)` or `12.00 DR`; an empty cell is zero. Groups must have
 * three digits, so that a wrong decimal sign is noticed.
 */
export function amountOf(text: string, decimal: '.' | ',', decimals: number): number | undefined {
  if (text === '') return 0;
  const found = /^\(?([+-]?)\s*([\d.,'\s\u00a0\u202f]+?)\s*(-|\)|D|DR|C|CR)?$/i.exec(text);
  const [, sign, digits = '', mark = ''] = found ?? [];
  if (!found) return undefined;
  const [whole = '', fraction, more] = digits.split(decimal);
  const groups = decimal === '.' ? /^\d+$|^\d{1,3}([,'\s\u00a0\u202f]\d{3})+$/ : groupsWithPoint;
  if (more !== undefined || !groups.test(whole)) return undefined;
  const plain = whole.replace(/\D/g, '') + (fraction === undefined ? '' : `.${fraction}`);
  const minor = minorUnitsFrom(plain, decimals);
  const isOut = sign === '-' || /^(?:-|\)|D|DR)$/i.test(mark);
  return minor === undefined ? undefined : isOut ? 0 - minor : minor;
}

const groupsWithPoint = /^\d+$|^\d{1,3}([.'\s\u00a0\u202f]\d{3})+$/;
