import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { dayOf, parseDay } from '../../base/days.ts';
import { errorFromRows } from '../../base/errors.ts';
import { detailsOf, storeReadings } from '../../domain/readings/enter.ts';
import { checkReadings, type ReadingRow } from '../../domain/readings/place.ts';
import { date, empty, filledText, limits, maybe, oneOf, text, timeOfDay } from '../fields.ts';
import { operation } from '../operation.ts';
import { decimal } from '../pricing-fields.ts';
import { meterNumber } from './meter-fields.ts';

/** The others come with assigning, replacing and removing meters. */
const enteredTypes = ['Actual', 'Customer', 'Estimated', 'Final', 'Check', 'Automatic'] as const;

const reading = Type.Object({
  number: meterNumber,
  register: maybe(
    filledText({ max: 64, description: 'may be left out where the meter has one register' }),
  ),
  value: decimal,
  readingDate: date,
  readingTime: maybe(timeOfDay),
  readingType: maybe(oneOf(enteredTypes)),
  source: maybe(text({ max: 120 })),
  remark: maybe(text({ max: 500 })),
  imageUrl: maybe(text({ max: 2_000 })),
  externalRef: maybe(filledText({ max: 120 })),
  rollover: maybe(
    Type.Boolean({ description: 'the register passed its highest value since the last reading' }),
  ),
});

export const makeReadings = operation({
  path: '/billing/meters/make-readings',
  method: 'Create',
  action: 'Create Meter Readings',
  access: { permission: 'readings:write', own: 'own-readings:write' },
  summary: 'Stores readings outside any term, all or none; a term picks them up by date.',
  request: Type.Object({
    readings: Type.Array(reading, { minItems: 1, maxItems: limits.readings }),
  }),
  response: empty,
  errors: [
    'METER_NOT_FOUND',
    'METER_NOT_ASSIGNED',
    'REGISTER_REQUIRED',
    'DATE_IN_FUTURE',
    'DUPLICATE_ROW',
    'READING_LOCKED',
    'ROWS_REJECTED',
  ],
  example: {
    readings: [{ number: 40012345, value: '250', readingDate: '28/02/2026', source: 'Phone app' }],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const isCustomer = call.ownPartyId !== null;
    const rows = body.readings.map((item) => rowOf(item, isCustomer));
    const today = dayOf(dateIn(call.now, tenant.timezone));
    const options = { today, ownPartyId: call.ownPartyId };
    const checked = await checkReadings(tx, tenant.tenantId, rows, options);
    if (checked.problems.length > 0) throw errorFromRows(detailsOf(checked.problems, 'readings'));
    const stamp = { at: call.now, by: call.principal.name };
    const firstId = await storeReadings(tx, tenant.tenantId, checked, stamp);
    const stored = checked.readings.length;
    const reviews = checked.readings.filter((one) => one.status === 'Review').length;
    // Each reading carries who stored it and when; the trail names them as one.
    call.audit({
      subject: 'reading',
      subjectId: firstId,
      before: null,
      after: { readings: stored, underReview: reviews, lastReadingID: firstId + stored - 1 },
    });
    const resourceIds = Array.from({ length: stored }, (_, index) => firstId + index);
    return { message: messageOf(stored, reviews), data: {}, ids: { resourceIds } };
  },
});

function rowOf(item: Type.Static<typeof reading>, isCustomer: boolean): ReadingRow {
  const day = parseDay(item.readingDate);
  if (day === undefined) throw new Error('the schema let a date through that is none');
  const time = item.readingTime ?? null;
  return {
    meterNumber: item.number,
    subscriptionNumber: null,
    register: item.register?.trim() ?? null,
    value: String(item.value),
    day,
    time: time?.length === 5 ? `${time}:00` : time,
    type: isCustomer ? 'Customer' : (item.readingType ?? 'Actual'),
    rollover: item.rollover ?? false,
    source: item.source ?? null,
    remark: item.remark ?? null,
    imageUrl: item.imageUrl ?? null,
    externalReference: item.externalRef?.trim() ?? null,
  };
}

function messageOf(stored: number, reviews: number): string {
  const all = stored === 1 ? '1 reading stored' : `${stored} readings stored`;
  return reviews === 0 ? all : `${all}, ${reviews} under review`;
}
