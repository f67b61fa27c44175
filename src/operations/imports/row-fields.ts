// Rows of a file as items of a request: the same schemas check them and the same codes answer them,
// and a problem of an item names the row's column.

import type { TObject } from 'typebox';
import type { Tx } from '../../base/db/pool.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { validate } from '../../base/validation/validate.ts';
import type { ImportRow, LineProblem } from '../../domain/imports/import-rows.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';

export type ImportContext = {
  tx: Tx;
  tenant: Tenant;
  today: Temporal.PlainDate;
  stamp: Stamp;
};

export type Cells = ReadonlyMap<string, string>;
export type Item = Record<string, unknown>;
export type ItemOf = (cells: Cells) => Item;

/** A kind of row: how it becomes an item, and what columns there are. */
export type RowKind = { columns: readonly string[]; itemOf: ItemOf };

export type GoodRow<T> = { row: ImportRow; item: T };

/** The rows that pass, and everything that is wrong with the others. */
export function checkItems<T>(
  schema: TObject,
  rows: readonly ImportRow[],
  kind: RowKind,
): { good: GoodRow<T>[]; problems: LineProblem[] } {
  const problems: LineProblem[] = [];
  let rest = [...rows];
  // One look names so many problems and no more; the rows it did not come to are looked at again.
  while (rest.length > 0) {
    const sent = { rows: rest.map((row) => kind.itemOf(row.cells)) };
    const checked = validate(schema, sent);
    const found = problemsOf(checked.problems, 'rows', rest, kind);
    if (found.length === 0) {
      const items = (checked.body as { rows: T[] }).rows;
      return { good: items.map((item, at) => ({ row: rest[at] as ImportRow, item })), problems };
    }
    problems.push(...found);
    rest = without(rest, found);
  }
  return { good: [], problems };
}

function without(rows: readonly ImportRow[], problems: readonly LineProblem[]): ImportRow[] {
  const bad = new Set(problems.map((problem) => problem.line));
  return rows.filter((row) => !bad.has(row.line));
}

export function withoutBad<T>(
  good: readonly GoodRow<T>[],
  problems: readonly LineProblem[],
): GoodRow<T>[] {
  const bad = new Set(problems.map((problem) => problem.line));
  return good.filter(({ row }) => !bad.has(row.line));
}

/** Problems of the items of a list, as problems of the lines they come from. */
export function problemsOf(
  details: readonly ErrorDetail[],
  list: string,
  rows: readonly ImportRow[],
  kind: RowKind,
): LineProblem[] {
  const place = new RegExp(`^${list}\\[(\\d+)\\]\\.?(.*)$`);
  return details.flatMap((detail) => {
    const [, index, path = ''] = place.exec(detail.field ?? '') ?? [];
    const row = rows[Number(index)];
    if (!row) return [];
    const column = columnOf(kind, row, path);
    const message = detail.message.replaceAll(detail.field ?? '', column ?? '');
    const { code, rejectedValue } = detail;
    return [{ line: row.line, column, code, message, rejectedValue }];
  });
}

/** The column of a field: found from an item that is built from the names of columns. */
function columnOf({ itemOf, columns }: RowKind, row: ImportRow, path: string): string | null {
  const named = (names: Iterable<string>) => new Map([...names].map((name) => [name, name]));
  const own = leafAt(itemOf(named(row.cells.keys())), path);
  return own ?? leafAt(itemOf(named(columns)), path) ?? path.split('.').at(-1) ?? null;
}

function leafAt(item: unknown, path: string): string | undefined {
  let at = item;
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    if (typeof at !== 'object' || at === null) break;
    // A cell that holds several things is one name of a column.
    const held: unknown = Array.isArray(at) && !(step in at) ? at[0] : undefined;
    at = held ?? (at as Record<string, unknown>)[step];
  }
  while (typeof at === 'object' && at !== null) at = Object.values(at)[0];
  return typeof at === 'string' ? at : undefined;
}

// Cells as the values that requests carry. A cell of the wrong form is handed on as it is: the
// schema says what is wrong with it.

/** Without what is empty, so that it counts as not given. */
export function given(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
}

export function whole(cells: Cells, column: string): number | string | undefined {
  const cell = cells.get(column);
  return cell !== undefined && /^\d{1,15}$/.test(cell) ? Number(cell) : cell;
}

const isoDate = /^(\d{4})-(\d{2})-(\d{2})$/;
const compactDate = /^(\d{2})(\d{2})(\d{4})$/;

/** DD/MM/YYYY; dates such as 2026-01-31 and 31012026 are brought into that form. */
export function date(cells: Cells, column: string): string | undefined {
  return cells.get(column)?.replace(isoDate, '$3/$2/$1').replace(compactDate, '$1/$2/$3');
}

export const addressColumns = [
  'addressTitle',
  'shopNo',
  'buildingNo',
  'buildingName',
  'street',
  'block',
  'society',
  'city',
  'countryId',
] as const;

export function address(cells: Cells): Item | undefined {
  if (!addressColumns.some((column) => cells.has(column))) return undefined;
  const {
    addressTitle,
    countryId: _,
    ...others
  } = Object.fromEntries(addressColumns.map((column) => [column, cells.get(column)]));
  return given({ title: addressTitle, ...others, countryId: whole(cells, 'countryId') });
}
