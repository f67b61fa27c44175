import * as Type from 'typebox';
import { formatTimestamp, parseDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import {
  countReadings,
  listReadingIdsAfter,
  listReadingsAfter,
  listReadingsAt,
  listReadingsByIds,
  type OwnInstallation,
  type ReadingFilter,
  type ReadingListRow,
  readingStates,
} from '../../domain/readings/list-store.ts';
import { beginsSince } from '../../domain/subscriptions/own-days.ts';
import {
  listOwnInstallations,
  ownSince,
} from '../../domain/subscriptions/own-installations-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { maySeeNotes, withShownNames } from '../customer-fields.ts';
import { date, fieldsOnly, filterOf, maybe, nullable, page, text, timestamp } from '../fields.ts';
import { foundAhead, listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

/** A number that does not exist is not an error: the list is empty. */
const wholeNumber = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-code': 'INVALID_FILTER_VALUE',
});

const reading = {
  readingID: Type.Integer(),
  number: Type.Integer({ description: 'of the meter' }),
  register: Type.String(),
  unit: Type.String(),
  connectionNumber: Type.String(),
  value: Type.String(),
  readingDate: Type.String({ description: 'DD/MM/YYYY' }),
  readingTime: nullable(Type.String()),
  readingType: Type.String(),
  status: Type.String({ description: readingStates.join(', ') }),
  consumption: nullable(Type.String({ description: 'since the reading before, times mf' })),
  days: nullable(Type.Integer()),
  dailyAverage: nullable(Type.String()),
  rollover: Type.Integer(),
  flags: Type.Array(Type.String(), { description: 'why it is under review: High, Low, Decreased' }),
  termID: nullable(Type.Integer()),
  source: nullable(Type.String()),
  remark: nullable(Type.String()),
  imageUrl: nullable(Type.String()),
  externalRef: nullable(Type.String()),
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
};

export const getReadings = operation({
  path: '/billing/meters/get-readings',
  method: 'Retrieve',
  action: 'Retrieve Meter Readings',
  access: { permission: 'readings:read', own: 'own-readings:read' },
  summary: 'Lists readings: all, a page, or those of a meter, subscription, term, status or time.',
  request: Type.Object({
    number: maybe(wholeNumber),
    connectionNumber: maybe(text({ max: 120 })),
    termID: maybe(wholeNumber),
    status: filterOf(readingStates),
    fromDate: maybe(date),
    toDate: maybe(date),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ readings: Type.Array(Type.Partial(Type.Object(reading))) }),
  errors: [],
  example: { number: 40012345, page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const { ownPartyId } = call;
    const { tenantId } = call.tenant;
    const own =
      ownPartyId === null ? null : await listOwnInstallations(call.tx, tenantId, ownPartyId);
    const filter: ReadingFilter = {
      meterNumber: body.number ?? null,
      subscriptionNumber: body.connectionNumber || null,
      termId: body.termID ?? null,
      state: body.status ?? null,
      from: (body.fromDate && parseDate(body.fromDate)) || null,
      to: (body.toDate && parseDate(body.toDate)) || null,
      own,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countReadings(tx, tenantId, filter),
      at: (tx, window) => listReadingsAt(tx, tenantId, filter, window),
      // Days are found by where their readings lie, all of them each time.
      after:
        filter.from === null && filter.to === null
          ? (tx, options) => listReadingsAfter(tx, tenantId, filter, options)
          : foundAhead({
              find: (tx, options) => listReadingIdsAfter(tx, tenantId, filter, options),
              rowsOf: (tx, ids) => listReadingsByIds(tx, tenantId, ids),
              idOf: (row) => row.reading_id,
            }),
      present: (row: ReadingListRow) => {
        const shown = presentReading(row, call.tenant);
        return own === null ? shown : forCustomer(shown, row, own, call);
      },
      wrap: (readings) => ({ readings }),
    });
  },
});

/** Without notes of others, nor usage that began in another owner's days. */
function forCustomer(
  shown: ReturnType<typeof presentReading>,
  row: ReadingListRow,
  own: readonly OwnInstallation[],
  call: Call,
) {
  const notes = { source: null, remark: null, imageUrl: null, externalRef: null };
  const measures = { consumption: null, days: null, dailyAverage: null };
  return {
    ...withShownNames(call, shown),
    ...(maySeeNotes(call, row) ? {} : notes),
    ...(beginsSince(ownSince(own, row), row) ? {} : measures),
  };
}

function presentReading(row: ReadingListRow, tenant: Tenant) {
  return {
    readingID: row.reading_id,
    number: row.number,
    register: row.register,
    unit: row.unit,
    connectionNumber: row.subscription_number,
    value: row.value,
    readingDate: wireDay(row.reading_date),
    readingTime: row.reading_time,
    readingType: row.reading_type,
    status: row.state,
    consumption: row.consumption,
    days: row.days,
    dailyAverage: row.daily?.replace(/\.?0+$/, '') ?? null,
    rollover: row.rollover ? 1 : 0,
    flags: row.flags,
    termID: row.term_id,
    source: row.source,
    remark: row.remark,
    imageUrl: row.image_url,
    externalRef: row.external_reference,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
  };
}
