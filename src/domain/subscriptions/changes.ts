// What every change of a subscription begins with: it is locked, it is the one that the caller has
// seen, its state allows the change, and the day of the change is not past.

import { formatDate } from '../../base/calendar.ts';
import { dayOf, wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { ContextDefinition } from '../rating/definitions/definitions.ts';
import { storeReadings } from '../readings/enter.ts';
import { checkReadings } from '../readings/place.ts';
import type { ReadingType } from '../readings/reading.ts';
import { lockPartiesInUse } from './lookups-store.ts';
import { lockSubscription, type SubscriptionRow } from './store.ts';
import { type StatusStep, type SubscriptionStatus, statusOn } from './subscription.ts';

/** The subscription to be changed, and the `ts` that the caller has seen of it. */
export type ChangeKey = { number: string; seenTs: number | undefined };

/** A change that takes effect on a day. */
export type DatedChange = ChangeKey & {
  date: Temporal.PlainDate;
  /** The path of the date in the request. */
  dateField: string;
  today: Temporal.PlainDate;
};

/** What the parts of a change are worked out with. */
export type Changing = {
  tx: Tx;
  tenantId: number;
  row: SubscriptionRow;
  definition: ContextDefinition;
  /** The first day that is not billed, or today where that is later. */
  beginning: Temporal.PlainDate;
  today: Temporal.PlainDate;
  stamp: Stamp;
  problems: ErrorDetail[];
};

export type Changed = { before: SubscriptionRow; after: SubscriptionRow };

export async function lockForChange(
  tx: Tx,
  tenantId: number,
  { number, seenTs }: ChangeKey,
): Promise<SubscriptionRow> {
  const row = await lockSubscription(tx, tenantId, number);
  if (!row) {
    throw new AppError('SUBSCRIPTION_NOT_FOUND', {
      message: `No subscription has the number ${number}`,
      field: 'data.connectionNumber',
    });
  }
  assertNotStale(seenTs, row, { what: `Subscription ${number}`, field: 'data.ts' });
  return row;
}

/** The state on a day, which must be one of those in which the change is possible. */
export function assertState(
  row: SubscriptionRow,
  day: Temporal.PlainDate,
  allowed: readonly SubscriptionStatus[],
): StatusStep {
  const step = statusOn(row.status_history, day);
  if (allowed.includes(step.status)) return step;
  throw new AppError('INVALID_STATE', {
    message: `Subscription ${row.subscription_number} is ${step.status}`,
    field: 'data.connectionNumber',
    current: step.status,
    allowed,
  });
}

/** Holds the owner still; for one that is archived nothing new begins. */
export async function lockOwner(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  field: string,
): Promise<void> {
  const [owner] = await lockPartiesInUse(tx, tenantId, { ids: [row.party_id], numbers: [] });
  if (!owner?.archived) return;
  throw new AppError('PARTY_ARCHIVED', {
    message: `Party ${owner.party_number} is archived; restore it first`,
    field,
  });
}

/** A day on which nothing has been billed yet. */
export function assertUnbilled(row: SubscriptionRow, day: Temporal.PlainDate, field: string): void {
  if (row.billed_through === null || day.toString() > row.billed_through) return;
  throw new AppError('DATE_IN_POSTED_TERM', {
    message: `${row.subscription_number} is billed up to ${wireDay(row.billed_through)}`,
    field,
    current: wireDay(row.billed_through),
  });
}

/** A day that is not before another one, which a change cannot reach behind. */
export function assertNotBefore(earliest: string, day: Temporal.PlainDate, field: string): void {
  if (day.toString() >= earliest) return;
  throw new AppError('DATE_OUT_OF_ORDER', {
    message: `${formatDate(day)} is before ${wireDay(earliest)}`,
    field,
  });
}

export function assertNotAhead({ date, dateField, today }: DatedChange, what: string): void {
  if (Temporal.PlainDate.compare(date, today) <= 0) return;
  throw new AppError('DATE_IN_FUTURE', {
    message: `${what} on the day itself, not ahead of ${formatDate(date)}`,
    field: dateField,
  });
}

/** Not before the connection, nor before a state that has begun, nor in billed days. */
export function assertPossible(row: SubscriptionRow, change: DatedChange): void {
  const { date, dateField, today } = change;
  assertUnbilled(row, date, dateField);
  const begun = row.status_history.findLast(({ fromDate }) => fromDate <= today.toString());
  const isPending = begun?.status === 'Pending';
  const earliest = isPending ? today.toString() : (begun?.fromDate ?? row.connection_date);
  assertNotBefore(earliest, date, dateField);
}

export type GivenReading = {
  /** Its path in the request, such as `data.readings[0]`. */
  field: string;
  meterNumber: number;
  register: string | null;
  value: string;
  type: ReadingType | null;
};

/** Enters readings of the installed meters, taken on the day of a change. */
export async function enterReadings(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  change: DatedChange & { readings: readonly GivenReading[]; usualType: ReadingType },
  stamp: Stamp,
): Promise<void> {
  const { readings, date, today } = change;
  if (readings.length === 0) return;
  const blank = { time: null, rollover: false, source: null, remark: null, imageUrl: null };
  const rows = readings.map((one) => ({
    ...blank,
    meterNumber: one.meterNumber,
    subscriptionNumber: row.subscription_number,
    register: one.register,
    value: one.value,
    day: dayOf(date),
    type: one.type ?? change.usualType,
    externalReference: null,
  }));
  const checked = await checkReadings(tx, tenantId, rows, { today: dayOf(today) });
  const problems = checked.problems.map(({ row: index, name, ...problem }) => ({
    ...problem,
    field: name === 'readingDate' ? change.dateField : `${readings[index]?.field}.${name}`,
  }));
  if (problems.length > 0) throw errorFromDetails(problems);
  await storeReadings(tx, tenantId, checked, stamp);
}
