// Fields that operations of the ledger share.
import * as Type from 'typebox';
import { formatDate, parseDate } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { parseMonth } from '../../domain/ledger/months.ts';

export const monthSent = Type.String({ maxLength: 7, description: 'MM/YYYY' });

/** The first day of the month. */
export function requireMonth(text: string, field: string): Temporal.PlainDate {
  const month = parseMonth(text);
  if (month) return month;
  const message = `${field} is ${text}: send a month as MM/YYYY`;
  throw new AppError('INVALID_DATE', { message, field });
}

/** Posting dates from and to; the first is not after the last. */
export function daysOf(body: {
  fromDate?: string | null | undefined;
  toDate?: string | null | undefined;
}): { from: Temporal.PlainDate | null; to: Temporal.PlainDate | null } {
  const from = (body.fromDate && parseDate(body.fromDate)) || null;
  const to = (body.toDate && parseDate(body.toDate)) || null;
  assertOrder(from, to);
  return { from, to };
}

export function assertOrder(from: Temporal.PlainDate | null, to: Temporal.PlainDate | null): void {
  if (!from || !to || Temporal.PlainDate.compare(from, to) <= 0) return;
  const message = `fromDate is ${formatDate(from)}, after ${formatDate(to)}: send an earlier day`;
  throw new AppError('INVALID_DATE', { message, field: 'fromDate' });
}
