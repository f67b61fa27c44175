// A bank's file as it is read, whatever its format: lines, and the statements that they belong to.
import { AppError } from '../../base/errors.ts';
import { amountText, minorUnitsFrom } from '../../base/money.ts';

export const bankFormats = ['CSV', 'CAMT', 'MT940'] as const;
export type BankFormat = (typeof bankFormats)[number];

export type StatementLine = {
  /** The line of the file, for messages. */
  fileLine: number;
  /** The account of the statement, as the bank writes it; null if the file does not name one. */
  account: string | null;
  /** The day on which the bank booked it, YYYY-MM-DD. */
  date: string;
  /** Minor units; below zero money went out. */
  amount: number;
  /** Whether the bank took back an earlier line. */
  isReversal: boolean;
  payer: string | null;
  payerAccount: string | null;
  text: string | null;
  reference: string | null;
  /** The bank's own id of the line. */
  bankId: string | null;
};

/** A statement with its balances, proven by its lines. */
export type Statement = {
  statementId: string;
  account: string | null;
  /** Minor units as decimal text; null in formats without balances. */
  opening: string | null;
  closing: string | null;
  lines: number;
};

export type Piece = { lines: StatementLine[]; statements: Statement[] };

export type Money = { currency: string; decimals: number };

/** A file with more is to be split: each is kept with the file. */
export const statementsMax = 10_000;

/** Characters of a text of the bank that are kept. */
const textMax = 1_000;

/** Replaces several spaces by one and cuts the text to the limit; null if it is then empty. */
export function kept(text: string | null | undefined, max = textMax): string | null {
  const plain = (text ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return plain === '' ? null : plain.slice(0, max).trimEnd();
}

export function invalid(fileLine: number, message: string): AppError {
  return new AppError('INVALID_FORMAT', {
    message: `Line ${fileLine}: ${message}`,
    field: `lines[${fileLine}]`,
  });
}

/** Minor units of an amount with a point. */
export function amountAt(text: string | undefined, money: Money, fileLine: number): number {
  const minor = minorUnitsFrom(text ?? '', money.decimals);
  if (minor !== undefined) return minor;
  const message = `'${(text ?? '').slice(0, 40)}' is not an amount in ${money.currency}`;
  throw invalid(fileLine, message);
}

export function assertCurrency(found: string | undefined, money: Money, fileLine: number): void {
  if (found === undefined || found === money.currency) return;
  const what = `the amount is in ${found.slice(0, 3)}; the workspace keeps ${money.currency} only`;
  throw new AppError('CURRENCY_MISMATCH', {
    message: `Line ${fileLine}: ${what}`,
    field: `lines[${fileLine}]`,
  });
}

export function dateAt(
  parts: { year: number; month: number; day: number } | undefined,
  shown: string,
  fileLine: number,
): string {
  try {
    if (parts) return Temporal.PlainDate.from(parts, { overflow: 'reject' }).toString();
  } catch {
    // Below.
  }
  const message = `Line ${fileLine}: '${shown.slice(0, 40)}' is not a date`;
  throw new AppError('INVALID_DATE', { message, field: `lines[${fileLine}]` });
}

/** Opening balance and lines come to the closing balance, or the file is refused. */
export function assertProven(
  { statementId, opening, closing }: { statementId: string; opening: bigint; closing: bigint },
  sum: bigint,
  { currency, decimals }: Money,
): void {
  const difference = closing - opening - sum;
  if (difference === 0n) return;
  const shown = (amount: bigint) => amountText(amount, decimals);
  const figures = `${shown(opening)} and lines of ${shown(sum)} are not ${shown(closing)}`;
  throw new AppError('STATEMENT_NOT_PROVEN', {
    message:
      `Statement ${statementId}: the opening balance ${figures} ${currency}; ` +
      `the difference is ${shown(difference)}. Get the file from the bank again.`,
    field: 'content',
  });
}
