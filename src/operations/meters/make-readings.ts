import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { dayOf } from '../../base/days.ts';
import { detailsOf, errorFromRows } from '../../base/errors.ts';
import { countReviews, storedText } from '../../domain/readings/describe.ts';
import { storeReadings } from '../../domain/readings/enter.ts';
import { checkReadings } from '../../domain/readings/place.ts';
import { empty, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { ignoredOf, readingRow, readingSent } from './reading-fields.ts';

export const makeReadings = operation({
  path: '/billing/meters/make-readings',
  method: 'Create',
  action: 'Create Meter Readings',
  access: { permission: 'readings:write', own: 'own-readings:write' },
  summary: 'Stores readings outside any term, all or none; a term picks them up by date.',
  takesRows: true,
  request: Type.Object({
    readings: Type.Array(readingSent, { minItems: 1, maxItems: limits.readings }),
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
    const rows = body.readings.map((item) => readingRow(item, isCustomer));
    if (isCustomer) call.ignore(ignoredOf(body.readings));
    const today = dayOf(dateIn(call.now, tenant.timezone));
    const options = { today, ownPartyId: call.ownPartyId };
    const checked = await checkReadings(tx, tenant.tenantId, rows, options);
    if (checked.problems.length > 0) throw errorFromRows(detailsOf(checked.problems, 'readings'));
    const stamp = { at: call.now, by: call.principal.name };
    const firstId = await storeReadings(tx, tenant.tenantId, checked, stamp);
    const stored = checked.readings.length;
    // Each reading carries who stored it and when; the trail names them as one.
    call.audit({
      subject: 'reading',
      subjectId: firstId,
      before: null,
      after: {
        readings: stored,
        underReview: countReviews(checked),
        lastReadingID: firstId + stored - 1,
      },
    });
    const resourceIds = Array.from({ length: stored }, (_, index) => firstId + index);
    return { message: storedText(checked), data: {}, ids: { resourceIds } };
  },
});
