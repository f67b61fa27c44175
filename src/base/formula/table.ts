// Tables for formulas. Rows are checked once, keys are in a Map, and the sums of slabs are computed
// in advance. So a slab function only searches the limits, however long the table is.
import { decimalText, exactFrom, exactText, parseDecimal } from '../numbers/decimal-text.ts';
import { add, compare, type Exact, multiply, signOf, subtract, zero } from '../numbers/exact.ts';

const tableRowsMax = 1000;

export type Table = {
  readonly columns: readonly string[];
  readonly keys: readonly string[];
  /** Numbers of each column except the first. */
  readonly numbers: ReadonlyMap<string, readonly Exact[]>;
  readonly rowByKey: ReadonlyMap<string, number>;
  /** Keys that are numbers, in plain form: the number 20 finds "20.0", the text "20" does not. */
  readonly rowByNumber: ReadonlyMap<string, number>;
  readonly slabs: Slabs | null;
};

/** A table whose first column is `upTo`. The last slab has no limit, so `limits` is one shorter. */
export type Slabs = {
  readonly limits: readonly Exact[];
  readonly rates: readonly Exact[];
  readonly flats: readonly Exact[] | null;
  /** For each slab, the amount of all slabs below it, without flat amounts. */
  readonly below: readonly Exact[];
  readonly rateTexts: readonly string[];
  /** For each slab, the sum of its flat amount and those of all slabs below it. */
  readonly flatsTo: readonly Exact[];
  /** Each slab except the last when all its units are used: most breakdowns consist of these. */
  readonly filled: readonly SlabText[];
};

/** The part of a quantity in one slab, with its price, as texts. */
export type SlabText = {
  readonly quantity: string;
  readonly rate: string;
  readonly flat?: string;
  readonly amount: string;
};

export type TableProblem = {
  readonly code: 'SLAB_ORDER' | 'SLAB_OPEN_END_MISSING' | 'TABLE_INVALID' | 'TOO_MANY_ITEMS';
  readonly row: number;
  readonly column: string | null;
  readonly message: string;
};

/** Column that holds the limits of a slab table. */
export const limitColumn = 'upTo';
export const rateColumn = 'rate';
export const flatColumn = 'flat';

export function compileTable(
  columns: readonly string[],
  rows: readonly unknown[],
): { table: Table | null; problems: TableProblem[] } {
  const problems: TableProblem[] = [];
  if (rows.length === 0 || columns.length === 0) {
    const message = 'a table needs at least one column and one row';
    return { table: null, problems: [{ code: 'TABLE_INVALID', row: 0, column: null, message }] };
  }
  if (rows.length > tableRowsMax) {
    const message = `a table may have at most ${tableRowsMax} rows; this one has ${rows.length}`;
    return { table: null, problems: [{ code: 'TOO_MANY_ITEMS', row: 0, column: null, message }] };
  }
  const cells = rows.map((row, index) => rowCells(columns, row, index, problems));
  const numbers = new Map<string, readonly Exact[]>();
  for (let column = 1; column < columns.length; column++) {
    const name = columns[column] as string;
    numbers.set(
      name,
      cells.map((cell, row) => numberCell(cell[column], row, name, problems)),
    );
  }
  const isSlab = columns[0] === limitColumn;
  const slabs = isSlab ? compileSlabs(cells, numbers, problems) : null;
  const keys = cells.map((cell) => (cell[0] === null ? '' : String(cell[0])));
  if (!isSlab) checkKeys(keys, columns[0] as string, problems);
  if (problems.length > 0) return { table: null, problems };
  const rowByKey = keyIndex(keys, (key) => key);
  const rowByNumber = keyIndex(keys, plainNumber);
  return { table: { columns, keys, numbers, rowByKey, rowByNumber, slabs }, problems };
}

function rowCells(
  columns: readonly string[],
  row: unknown,
  index: number,
  problems: TableProblem[],
): unknown[] {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    const message = `row ${index + 1} is not an object of columns`;
    problems.push({ code: 'TABLE_INVALID', row: index, column: null, message });
    return columns.map(() => '0');
  }
  const entries = new Map<string, unknown>(Object.entries(row));
  for (const key of entries.keys()) {
    if (columns.includes(key)) continue;
    const message = `row ${index + 1} has \`${key}\`, which is not a column of the table`;
    problems.push({ code: 'TABLE_INVALID', row: index, column: key, message });
  }
  return columns.map((column) => entries.get(column) ?? null);
}

function numberCell(cell: unknown, row: number, column: string, problems: TableProblem[]): Exact {
  const value = exactFrom(cell);
  if (value !== undefined) return value;
  // A slab may have only a rate or only a flat amount.
  if (cell === null && (column === rateColumn || column === flatColumn)) return zero;
  const message = `\`${column}\` of row ${row + 1} is not a number`;
  problems.push({ code: 'TABLE_INVALID', row, column, message });
  return zero;
}

function checkKeys(keys: readonly string[], column: string, problems: TableProblem[]): void {
  const seen = new Set<string>();
  for (const [row, key] of keys.entries()) {
    if (key === '' || seen.has(key)) {
      const message =
        key === '' ? `\`${column}\` of row ${row + 1} is empty` : `two rows have the key "${key}"`;
      problems.push({ code: 'TABLE_INVALID', row, column, message });
    }
    seen.add(key);
  }
}

/** The first row of each key, after `form` has normalized the key. */
function keyIndex(
  keys: readonly string[],
  form: (key: string) => string | undefined,
): Map<string, number> {
  const index = new Map<string, number>();
  for (const [row, key] of keys.entries()) {
    const written = form(key);
    if (written !== undefined && !index.has(written)) index.set(written, row);
  }
  return index;
}

function plainNumber(key: string): string | undefined {
  const number = parseDecimal(key);
  return number === undefined ? undefined : exactText(number);
}

function compileSlabs(
  cells: readonly unknown[][],
  numbers: ReadonlyMap<string, readonly Exact[]>,
  problems: TableProblem[],
): Slabs {
  const limits = slabLimits(cells, problems);
  const rates = numbers.get(rateColumn) ?? cells.map(() => zero);
  const flats = numbers.get(flatColumn) ?? null;
  const below: Exact[] = [];
  const flatsTo: Exact[] = [];
  const rateTexts = rates.map(decimalText);
  const filled: SlabText[] = [];
  let amount = zero;
  let flat = zero;
  let previous = zero;
  for (let slab = 0; slab < cells.length; slab++) {
    below.push(amount);
    flat = add(flat, flats?.[slab] ?? zero);
    flatsTo.push(flat);
    const limit = limits[slab];
    if (limit === undefined) break;
    const width = subtract(limit, previous);
    amount = add(amount, multiply(width, rates[slab] as Exact));
    filled.push(slabText({ rates, rateTexts }, slab, width, flats?.[slab] ?? null));
    previous = limit;
  }
  return { limits, rates, rateTexts, flats, below, flatsTo, filled };
}

/** A quantity priced in one slab; `flat` is null if no flat amount is charged. */
export function slabText(
  slabs: Pick<Slabs, 'rates' | 'rateTexts'>,
  slab: number,
  quantity: Exact,
  flat: Exact | null,
): SlabText {
  const rated = multiply(quantity, slabs.rates[slab] as Exact);
  const quantityText = decimalText(quantity);
  const rate = slabs.rateTexts[slab] as string;
  if (flat === null) return { quantity: quantityText, rate, amount: decimalText(rated) };
  const amount = decimalText(add(rated, flat));
  return { quantity: quantityText, rate, flat: decimalText(flat), amount };
}

function slabLimits(cells: readonly unknown[][], problems: TableProblem[]): Exact[] {
  const limits: Exact[] = [];
  const last = cells.length - 1;
  for (const [row, cell] of cells.entries()) {
    if (cell[0] === null) {
      if (row === last) continue;
      const message = `only the last slab may have no limit, but row ${row + 1} has none`;
      problems.push({ code: 'SLAB_ORDER', row, column: limitColumn, message });
      continue;
    }
    const limit = exactFrom(cell[0]);
    if (limit === undefined) {
      const message = `\`${limitColumn}\` of row ${row + 1} is not a number`;
      problems.push({ code: 'TABLE_INVALID', row, column: limitColumn, message });
      continue;
    }
    const previous = limits[limits.length - 1];
    if (signOf(limit) < 0 || (previous !== undefined && compare(limit, previous) <= 0)) {
      const message = `limits must increase: row ${row + 1} is not above the row before it`;
      problems.push({ code: 'SLAB_ORDER', row, column: limitColumn, message });
    }
    limits.push(limit);
    if (row === last) {
      const message = 'the last slab must have no limit: set its `upTo` to null';
      problems.push({ code: 'SLAB_OPEN_END_MISSING', row, column: limitColumn, message });
    }
  }
  return limits;
}
