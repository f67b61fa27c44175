// The Final term of a subscription: an owner who leaves or transfers it is billed without waiting
// for the end of the regular term.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { addChosen } from './chosen-store.ts';
import { createTerm } from './create.ts';
import {
  findOpenFinal,
  findRegularOn,
  freeLabel,
  type Leaving,
  lockLeaving,
  putOffDueDate,
} from './final-store.ts';
import { findNeighbours } from './store.ts';
import { dueDateFrom, termDaysMax } from './term.ts';

export type FinalTerm = { termId: number; label: string; isNew: boolean };

/** An open Final term of the batch and the same days takes it in; without one, a term is made. */
export async function openFinalTerm(
  tx: Tx,
  tenantId: number,
  { number, today }: { number: string; today: Temporal.PlainDate },
  stamp: Stamp,
): Promise<FinalTerm> {
  const leaving = await lockLeaving(tx, tenantId, { number, today });
  if (!leaving) {
    throw new AppError('SUBSCRIPTION_NOT_FOUND', {
      message: `No subscription has the number ${number}`,
      field: 'data.connectionNumber',
    });
  }
  const lastDay = lastDayOf(leaving, number);
  const place = {
    contextId: leaving.context_id,
    batchId: leaving.batch_id,
    billingPeriodId: leaving.period_id,
  };
  const days = await daysOf(tx, tenantId, { leaving, place, lastDay });
  const found = await findOpenFinal(tx, tenantId, { ...place, ...days }, today);
  if (found) {
    await addChosen(tx, tenantId, found.term_id, leaving.subscription_id, stamp.at);
    // Customers who join the term later have as many days to pay.
    await putOffDueDate(tx, tenantId, found.term_id, dueDateFrom(today, leaving));
    return { termId: found.term_id, label: found.label, isNew: false };
  }
  const made = await createTerm(
    tx,
    tenantId,
    {
      contextCode: leaving.context_code,
      batchCode: leaving.batch_code,
      billingPeriodId: leaving.period_id,
      postType: null,
      type: 'Final',
      label: await freeLabel(tx, tenantId, place, `Final ${days.label}`.slice(0, 110)),
      startDate: days.startDate,
      endDate: days.endDate,
      dueDate: laterOf(days.startDate, dueDateFrom(today, leaving)),
      subscriptionNumbers: [number],
    },
    stamp,
  );
  return { termId: made.termId, label: made.label, isNew: true };
}

/**
 * The last day to bill of a leaving owner. If only usage is left, the day after: usage of a term
 * that was billed in advance is billed by the next one.
 */
function lastDayOf(leaving: Leaving, number: string): Temporal.PlainDate {
  if (leaving.is_archived) {
    const message = `The pricing context ${leaving.context_code} is archived`;
    throw new AppError('SERVICE_ARCHIVED', { message, field: 'data.connectionNumber' });
  }
  if (leaving.last_date !== null && leaving.is_left_to_bill) {
    return Temporal.PlainDate.from(leaving.last_date);
  }
  if (leaving.last_date !== null && leaving.is_use_left) {
    return Temporal.PlainDate.from(leaving.last_date).add({ days: 1 });
  }
  const last = leaving.last_date && formatDate(Temporal.PlainDate.from(leaving.last_date));
  const why = last
    ? `Every day of ${number} up to ${last} is billed`
    : `${number} is ${leaving.status}, and its owner stays: disconnect or transfer it first`;
  throw new AppError('INVALID_STATE', {
    message: why,
    field: 'data.connectionNumber',
    current: leaving.status,
    allowed: ['Disconnected', 'Closed'],
  });
}

type Days = { label: string; startDate: Temporal.PlainDate; endDate: Temporal.PlainDate };

/**
 * The days of the regular term with the last day, so that a part of a month is charged as a part.
 * If that term is not open yet, the days it would have: from the end of the previous term on, up to
 * the beginning of the next one.
 */
async function daysOf(
  tx: Tx,
  tenantId: number,
  {
    leaving,
    place,
    lastDay,
  }: {
    leaving: Leaving;
    place: { contextId: number; batchId: number; billingPeriodId: number };
    lastDay: Temporal.PlainDate;
  },
): Promise<Days> {
  const regular = await findRegularOn(tx, tenantId, place, lastDay);
  if (regular) {
    const { label, start_date: start, end_date: end } = regular;
    const [startDate, endDate] = [Temporal.PlainDate.from(start), Temporal.PlainDate.from(end)];
    return { label, startDate, endDate };
  }
  const { previous, next } = await findNeighbours(tx, tenantId, {
    ...place,
    startDate: lastDay,
    endDate: lastDay,
  });
  const from = previous
    ? Temporal.PlainDate.from(previous.date).add({ days: 1 })
    : usualStart(leaving);
  const days = periodWith(leaving, from, lastDay);
  const before = next && Temporal.PlainDate.from(next.date).subtract({ days: 1 });
  const isCut = before !== null && Temporal.PlainDate.compare(before, days.endDate) < 0;
  const endDate = isCut ? before : days.endDate;
  return shortened({ startDate: days.startDate, endDate }, lastDay);
}

/**
 * At most as long as a term may be, and with the last day; earlier unbilled days are caught up on.
 */
function shortened(
  { startDate, endDate }: { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate },
  lastDay: Temporal.PlainDate,
): Days {
  const most = { days: termDaysMax - 1 };
  const first = laterOf(startDate, lastDay.subtract(most));
  const latest = first.add(most);
  const last = Temporal.PlainDate.compare(endDate, latest) < 0 ? endDate : latest;
  return { label: labelOf(first, last), startDate: first, endDate: last };
}

function laterOf(one: Temporal.PlainDate, other: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(one, other) > 0 ? one : other;
}

/** As people call a month; other days by their first and last. */
function labelOf(startDate: Temporal.PlainDate, endDate: Temporal.PlainDate): string {
  const isMonth =
    startDate.day === 1 && endDate.add({ days: 1 }).equals(startDate.add({ months: 1 }));
  if (!isMonth) return `${formatDate(startDate)} to ${formatDate(endDate)}`;
  return `${startDate.toLocaleString('en', { month: 'short' })}-${startDate.year}`;
}

/** Where no term was before: the day on which the period of the first day to bill begins. */
function usualStart(leaving: Leaving): Temporal.PlainDate {
  const first = Temporal.PlainDate.from(leaving.first_date);
  if (!['Month', 'Year'].includes(leaving.period_unit)) return first;
  const anchored = first.with({ day: leaving.anchor_day ?? 1 });
  if (Temporal.PlainDate.compare(anchored, first) <= 0) return anchored;
  return first.subtract({ months: 1 }).with({ day: leaving.anchor_day ?? 1 });
}

/** Of the periods that follow each other from a day on, the one that has another day. */
function periodWith(
  { period_unit: unit, period_count: count }: Leaving,
  from: Temporal.PlainDate,
  day: Temporal.PlainDate,
): { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate } {
  if (unit === 'Once') return { startDate: from, endDate: day };
  const names = { Day: 'days', Week: 'weeks', Month: 'months', Year: 'years' } as const;
  const startOf = (index: number) => from.add({ [names[unit]]: index * count });
  let index = 0;
  while (Temporal.PlainDate.compare(startOf(index + 1), day) <= 0) index += 1;
  return { startDate: startOf(index), endDate: startOf(index + 1).subtract({ days: 1 }) };
}
