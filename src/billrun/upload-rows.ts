// Rows of an upload, each about one subscription of the term. Either all rows can be stored, or all
// problems are reported.
import { type ErrorCode, type ErrorDetail, errorFromUpload } from '../base/errors.ts';
import type { RowSubscription } from '../domain/terms/eligible-store.ts';

export type UploadRow = readonly string[];

export type RefusedRow = {
  column: number;
  code: ErrorCode;
  message: string;
  rejectedValue: string;
};

export function refusedRow(
  column: number,
  code: ErrorCode,
  message: string,
  rejectedValue: string,
): RefusedRow {
  return { column, code, message, rejectedValue };
}

/** The numbers of the subscriptions that the rows name, each once. */
export function numbersIn(rows: readonly UploadRow[]): string[] {
  return [...new Set(rows.map(([number = '']) => number.trim()))];
}

/** The values of the rows of a list; `keyOf` is what may appear once. */
export function readEach<Value extends { subscriptionId: number }>(
  list: string,
  rows: readonly UploadRow[],
  read: (row: UploadRow) => Value | RefusedRow,
  keyOf: (value: Value) => string,
): Value[] {
  const problems: ErrorDetail[] = [];
  const values: Value[] = [];
  const seen = new Set<string>();
  const refuse = (index: number, { column, ...problem }: RefusedRow) =>
    problems.push({ field: `${list}[${index}][${column}]`, ...problem });
  for (const [index, row] of rows.entries()) {
    const value = read(row);
    if ('code' in value) {
      refuse(index, value);
      continue;
    }
    const key = `${value.subscriptionId} ${keyOf(value)}`;
    if (seen.has(key)) refuse(index, repeated(row));
    else values.push(value);
    seen.add(key);
  }
  if (problems.length > 0) throw errorFromUpload(problems);
  return values;
}

function repeated([number = '', name = '']: UploadRow): RefusedRow {
  return refusedRow(1, 'DUPLICATE_ROW', `${name} of ${number} appears twice in this upload`, name);
}

/** Whose row it is, where the term bills it. */
export function subscriptionOf(
  number: string,
  known: { subscriptions: ReadonlyMap<string, RowSubscription>; term: { label: string } },
): RowSubscription | RefusedRow {
  const subscription = known.subscriptions.get(number);
  if (!subscription) {
    const message = `No subscription has the number ${number}`;
    return refusedRow(0, 'SUBSCRIPTION_NOT_FOUND', message, number);
  }
  if (subscription.is_in_term) return subscription;
  const message = `Term ${known.term.label} does not bill ${number}`;
  return refusedRow(0, 'SUBSCRIPTION_NOT_IN_TERM', message, number);
}
