// An operator accepts a reading, corrects its value or rejects it. The usage of the reading after
// it is measured again.

import { formatDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { decimalText } from '../../base/numbers/decimal-text.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { measure, neighboursOf, type PastReading, remeasure } from './judge.ts';
import { findPasts, type Past } from './past-store.ts';
import { registerValue, shownRange } from './reading.ts';
import { lockReading, type StoredReading, updateReading } from './review-store.ts';
import { updateMeasures } from './store.ts';

export type Review = {
  readingId: number;
  decision: 'Accept' | 'Reject';
  /** null: as it is. */
  value: string | null;
  /** The register passed its highest value. */
  rollover: boolean | null;
  remark: string | null;
};

export type Reviewed = { before: StoredReading; after: StoredReading };

export async function reviewReading(
  tx: Tx,
  tenantId: number,
  review: Review,
  stamp: Stamp,
): Promise<Reviewed> {
  const before = await lockReading(tx, tenantId, review.readingId);
  if (!before) {
    throw new AppError('READING_NOT_FOUND', {
      message: `No reading has the id ${review.readingId}`,
      field: 'data.readingID',
    });
  }
  const { register } = before;
  const day = before.day;
  const [past] = await findPasts(tx, tenantId, [{ register, first: day, last: day }]);
  if (!past) throw new Error('the past of a register was not found');
  assertOpen(before, past, review);
  const { before: previous, after: next } = neighboursOf(past, before);
  const after =
    review.decision === 'Accept'
      ? accepted(before, review, previous, next)
      : { ...before, status: 'Rejected' as const, consumption: null, days: null, rollover: false };
  const remark = review.remark ?? before.remark;
  await updateReading(tx, tenantId, { ...after, remark }, stamp);
  // A reading that waited for review was passed over when the next one was measured.
  if (next && !isDismissed(before, review)) {
    const nearest = review.decision === 'Accept' ? after : previous;
    await updateMeasures(tx, tenantId, [remeasure(register, nearest, next)], stamp);
  }
  const type = review.decision === 'Accept' ? 'reading.accepted' : 'reading.rejected';
  const events = eventsOf(type, 'readingID', [review.readingId]);
  await insertEvents(tx, tenantId, events, stamp.at);
  return { before, after: { ...after, remark } };
}

/** It did not count before and does not after: nothing that was billed depends on it. */
function isDismissed(reading: StoredReading, review: Review): boolean {
  return reading.status === 'Review' && review.decision === 'Reject' && reading.term_id === null;
}

function assertOpen(reading: StoredReading, past: Past, review: Review): void {
  const field = 'data.readingID';
  if (isDismissed(reading, review)) return;
  if (reading.term_id !== null || (past.locked !== null && reading.day <= past.locked)) {
    const message = `Reading ${reading.readingId} is locked by a term, or is before a locked one`;
    throw new AppError('READING_LOCKED', { message, field });
  }
  const isFixed = reading.type === 'Installation' || reading.type === 'Removal';
  if (reading.status !== 'Rejected' && !(isFixed && review.decision === 'Reject')) return;
  const what = isFixed ? `${reading.type} readings can be corrected` : 'It was rejected';
  throw new AppError('INVALID_STATE', {
    message: `Reading ${reading.readingId} is ${reading.status} (${reading.type}). ${what}.`,
    field,
    current: reading.status,
    allowed: isFixed ? ['Accept'] : ['Accepted', 'Review'],
  });
}

function accepted(
  reading: StoredReading,
  review: Review,
  previous: PastReading | null,
  next: PastReading | null,
): StoredReading {
  const { register } = reading;
  const value = registerValue(register, review.value ?? reading.value);
  if (value === undefined) {
    throw new AppError('INVALID_NUMBER', {
      message: `Register ${register.register} shows ${shownRange(register)}`,
      field: 'data.value',
    });
  }
  const rollover = review.rollover ?? reading.rollover;
  const current = { ...reading, value, rollover };
  const measured = measure(register, previous, current, null);
  if (!measured) throw decreased(previous, `value ${value} needs rollover: true, or a correction`);
  if (next && !measure(register, current, next, null)) {
    throw decreased(next, `is lower than ${value}`);
  }
  return {
    ...current,
    status: 'Accepted',
    rollover: measured.rollover,
    consumption: measured.use && decimalText(measured.use),
    days: measured.days,
  };
}

function decreased(other: PastReading | null, what: string): AppError {
  const at = other ? `The reading of ${formatDay(other.day)} is ${other.value}: ` : '';
  return new AppError('READING_DECREASED', { message: `${at}${what}`, field: 'data.value' });
}
