// Closing a month, and opening it again. Months are closed in order: with a month all earlier ones
// are closed, and only the last closed one is opened again.
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from './accounts.ts';
import { type Booking, book } from './book.ts';
import { type JournalLine, mainBusinessUnit } from './journal.ts';
import {
  closeMonths,
  findFirstPosting,
  findLastClosedMonth,
  findMonth,
  lockMonths,
  reopenMonth as storeReopened,
} from './months-store.ts';
import { listJournalLines, listResult } from './result-store.ts';

export type WantedMonth = { month: Temporal.PlainDate; reason: string };

const field = 'data.month';

/** MM/YYYY; the first day of the month, or undefined. */
export function parseMonth(text: string): Temporal.PlainDate | undefined {
  const [, month, year] = /^(\d{2})\/(\d{4})$/.exec(text) ?? [];
  const isMonth = Number(month) >= 1 && Number(month) <= 12;
  return isMonth ? Temporal.PlainDate.from(`${year}-${month}-01`) : undefined;
}

export function formatMonth(day: Temporal.PlainDate): string {
  return `${String(day.month).padStart(2, '0')}/${String(day.year).padStart(4, '0')}`;
}

export function lastDayOf(month: Temporal.PlainDate): Temporal.PlainDate {
  return month.add({ months: 1 }).subtract({ days: 1 });
}

/**
 * Returns the months that this closes, and what was carried forward. With `carriesResult`, what
 * income and expense accounts hold is carried to the result of earlier years first.
 */
export async function closeMonth(
  tx: Tx,
  tenantId: number,
  { month, reason, carriesResult }: WantedMonth & { carriesResult: boolean },
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<{ closed: readonly Temporal.PlainDate[]; yearEnd: number | null }> {
  if (Temporal.PlainDate.compare(lastDayOf(month), today) >= 0) {
    const message = `${formatMonth(month)} has not ended yet: close it after its last day`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  await lockMonths(tx, tenantId, { alone: true });
  const last = await findLastClosedMonth(tx, tenantId);
  if (last && Temporal.PlainDate.compare(month, last) <= 0) {
    const message = `${formatMonth(month)} is closed already`;
    throw new AppError('MONTH_CLOSED', { message, field });
  }
  const yearEnd = carriesResult ? await carryResult(tx, tenantId, month, stamp) : null;
  const first = (await findFirstPosting(tx, tenantId))?.with({ day: 1 });
  const from = last?.add({ months: 1 }) ?? first ?? month;
  const closed = monthsUntil(from, month);
  await closeMonths(tx, tenantId, closed, { reason, yearEnd }, stamp);
  return { closed, yearEnd };
}

function monthsUntil(from: Temporal.PlainDate, to: Temporal.PlainDate): Temporal.PlainDate[] {
  const months: Temporal.PlainDate[] = [];
  for (let month = from; Temporal.PlainDate.compare(month, to) < 0; ) {
    months.push(month);
    month = month.add({ months: 1 });
  }
  return [...months, to];
}

/** Null if income and expense accounts hold nothing. */
async function carryResult(
  tx: Tx,
  tenantId: number,
  month: Temporal.PlainDate,
  stamp: Stamp,
): Promise<number | null> {
  const lastDay = lastDayOf(month);
  const balances = await listResult(tx, tenantId, lastDay);
  if (balances.length === 0) return null;
  const total = balances.reduce((sum, { amount }) => sum + amount, 0);
  const closing = balances.map(({ accountId, amount }) => ({ accountId, amount: -amount }));
  const against = [...closing, { accountId: ledgerAccounts.result, amount: total }];
  const description = `Result of the year up to ${formatMonth(month)}`;
  const booking = yearEndBooking(month, { postingDate: lastDay, description, against });
  const [journalId = null] = await book(tx, tenantId, [booking], stamp);
  return journalId;
}

type YearEnd = {
  postingDate: Temporal.PlainDate;
  description: string;
  against: readonly JournalLine[];
  reverses?: number;
};

function yearEndBooking(month: Temporal.PlainDate, head: YearEnd): Booking {
  const sourceId = month.year * 100 + month.month;
  return { ...head, source: 'YearEnd', sourceId, businessUnitId: mainBusinessUnit, entries: [] };
}

/** What the year end carried forward is carried back. */
export async function reopenMonth(
  tx: Tx,
  tenantId: number,
  { month, reason }: WantedMonth,
  stamp: Stamp,
): Promise<void> {
  await lockMonths(tx, tenantId, { alone: true });
  const last = await findLastClosedMonth(tx, tenantId);
  if (!last || Temporal.PlainDate.compare(month, last) > 0) {
    throw new AppError('INVALID_STATE', { message: `${formatMonth(month)} is not closed`, field });
  }
  if (!last.equals(month)) {
    const message = `${formatMonth(last)} is closed too: open it again first`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  const { year_end_journal_id: yearEnd } = (await findMonth(tx, tenantId, month)) ?? {};
  await storeReopened(tx, tenantId, month, reason, stamp);
  if (!yearEnd) return;
  const carried = await listJournalLines(tx, tenantId, yearEnd);
  const back = yearEndBooking(month, {
    postingDate: lastDayOf(month),
    description: `${formatMonth(month)} opened again: ${reason}`,
    against: carried.map(({ accountId, amount }) => ({ accountId, amount: -amount })),
    reverses: yearEnd,
  });
  await book(tx, tenantId, [back], stamp);
}
