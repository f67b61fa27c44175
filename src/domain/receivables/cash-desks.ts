// Receipts of cash desks, and the close of their day.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { book } from '../ledger/book.ts';
import { mainBusinessUnit } from '../ledger/journal.ts';
import { takeFromSeries } from '../tenants/number-series-store.ts';
import {
  type CashDesk,
  insertClosedDay,
  insertReceipts,
  listCashDesks,
  listDeskTotals,
  lockDesks,
  type NewReceipt,
} from './cash-desks-store.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

/** A payment at a desk, in the row of a call. */
export type DeskPayment = { row: number; paymentId: number; desk: CashDesk };

const digits = 6;

/**
 * Gives each payment the next number of its desk and year, in the order of the rows. This comes
 * last of all that a payment locks.
 */
export async function giveReceipts(
  tx: Tx,
  tenantId: number,
  payments: readonly DeskPayment[],
  today: Temporal.PlainDate,
): Promise<RowProblem[]> {
  if (payments.length === 0) return [];
  const byDesk = [...Map.groupBy(payments, ({ desk }) => desk.cash_desk_id)].sort(
    ([a], [b]) => a - b,
  );
  const deskIds = byDesk.map(([id]) => id);
  const closed = await lockDesks(tx, tenantId, deskIds, { day: today, alone: false });
  const late = payments.filter(({ desk }) => closed.has(desk.cash_desk_id));
  if (late.length > 0) {
    return late.map(({ row, desk }) => {
      const message = `Cash desk ${desk.code} is closed for ${formatDate(today)}`;
      return { row, name: 'cashDesk', code: 'INVALID_STATE', message, rejectedValue: desk.code };
    });
  }
  const receipts: NewReceipt[] = [];
  for (const [deskId, own] of byDesk) {
    const key = `${own[0]?.desk.code}-${today.year}-`;
    const series = { kind: 'Receipt', key } as const;
    const { seriesId, first } = await takeFromSeries(tx, tenantId, series, own.length);
    for (const [index, { paymentId }] of own.entries()) {
      const seriesNumber = first + index;
      const receiptNumber = `${key}${String(seriesNumber).padStart(digits, '0')}`;
      receipts.push({ paymentId, deskId, receiptNumber, seriesId, seriesNumber });
    }
  }
  await insertReceipts(tx, tenantId, today, receipts);
  return [];
}

export type WantedClose = {
  cashDesk: string;
  day: Temporal.PlainDate;
  /** Minor units by payment method. */
  counted: ReadonlyMap<string, number>;
  reason: string | null;
};

export type Closed = {
  desk: CashDesk;
  counted: readonly { paymentMethod: string; expected: number; counted: number }[];
  difference: number;
};

/** What was counted too much or too little is booked as a cash difference. */
export async function closeDay(
  tx: Tx,
  tenantId: number,
  wanted: WantedClose,
  { today, stamp }: Posting,
): Promise<Closed> {
  const { cashDesk, day, reason } = wanted;
  if (Temporal.PlainDate.compare(day, today) > 0) {
    const message = 'The day to close is not after today';
    throw new AppError('DATE_IN_FUTURE', { message, field: 'data.date' });
  }
  const desk = (await listCashDesks(tx, tenantId)).find((one) => one.code === cashDesk);
  if (!desk) {
    const message = `No cash desk has the code ${cashDesk}`;
    throw new AppError('CASH_DESK_NOT_FOUND', { message, field: 'data.cashDesk' });
  }
  const { cash_desk_id: deskId } = desk;
  const closed = await lockDesks(tx, tenantId, [deskId], { day, alone: true });
  if (closed.has(deskId)) {
    const message = `Cash desk ${cashDesk} is closed for ${formatDate(day)} already`;
    throw new AppError('INVALID_STATE', { message, field: 'data.date' });
  }
  const expected = await listDeskTotals(tx, tenantId, [deskId], day);
  const totals = new Map(expected.map((one) => [one.payment_method, one.amount]));
  assertAllCounted(wanted, totals);
  const methods = [...new Set([...totals.keys(), ...wanted.counted.keys()])].sort();
  const counted = methods.map((paymentMethod) => ({
    paymentMethod,
    expected: totals.get(paymentMethod) ?? 0,
    counted: wanted.counted.get(paymentMethod) ?? 0,
  }));
  const difference = counted.reduce((sum, one) => sum + one.counted - one.expected, 0);
  if (counted.some((one) => one.counted !== one.expected) && !reason) {
    const message = 'What was counted differs from what the desk took: give the reason';
    throw new AppError('REQUIRED_FIELD', { message, field: 'data.reason' });
  }
  const journalId =
    difference === 0
      ? null
      : await bookDifference(tx, tenantId, desk, { ...wanted, difference }, stamp);
  await insertClosedDay(
    tx,
    tenantId,
    { deskId, day, counted, difference, journalId, reason },
    stamp,
  );
  return { desk, counted, difference };
}

function assertAllCounted({ counted }: WantedClose, totals: ReadonlyMap<string, number>): void {
  const missing = [...totals.keys()].filter((method) => !counted.has(method));
  if (missing.length === 0) return;
  const message = `Say what was counted of ${missing.join(', ')}`;
  throw new AppError('REQUIRED_FIELD', { message, field: 'data.counted' });
}

async function bookDifference(
  tx: Tx,
  tenantId: number,
  desk: CashDesk,
  {
    day,
    difference,
    reason,
  }: { day: Temporal.PlainDate; difference: number; reason: string | null },
  stamp: Stamp,
): Promise<number | null> {
  const [journalId = null] = await book(
    tx,
    tenantId,
    [
      {
        source: 'CashDifference',
        sourceId: desk.cash_desk_id,
        businessUnitId: mainBusinessUnit,
        postingDate: day,
        description: `Cash desk ${desk.code} of ${formatDate(day)}: ${reason}`,
        entries: [],
        against: [
          { accountId: desk.cash_account_id, amount: difference },
          { accountId: ledgerAccounts.cashDifference, amount: -difference },
        ],
      },
    ],
    stamp,
  );
  return journalId;
}
