import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countEvents,
  type EventRow,
  eventTypes,
  listEvents,
} from '../../domain/events/events-store.ts';
import { fieldsOnly, filterOf, id, maybe, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const eventView = {
  eventID: Type.Integer(),
  type: Type.String(),
  timestamp,
  ts: Type.Integer({ description: 'the same in Unix milliseconds' }),
  bulk: Type.Boolean({ description: 'one event for many things' }),
  data: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
};

export const getEvents = operation({
  path: '/billing/events/get-events',
  method: 'Retrieve',
  action: 'Retrieve Events',
  access: { permission: 'audit:read' },
  summary: 'Lists what happened to bills and payments in the last 30 days, the oldest first.',
  request: Type.Object({
    type: filterOf([...eventTypes]),
    sinceEventID: maybe(id),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ events: Type.Array(Type.Partial(Type.Object(eventView))) }),
  errors: [],
  example: { page: { pageNumber: 0, size: 100 } },
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const filter = { type: body.type ?? null, sinceId: body.sinceEventID ?? null };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countEvents(tx, tenantId, filter),
      at: (tx, window) => listEvents(tx, tenantId, filter, window),
      after: (tx, { after, limit }) => {
        const next = { ...filter, sinceId: after?.event_id ?? filter.sinceId };
        return listEvents(tx, tenantId, next, { offset: 0, limit });
      },
      present: (row: EventRow) => ({
        eventID: row.event_id,
        type: row.type,
        timestamp: formatTimestamp(row.at, timezone),
        ts: row.at.epochMilliseconds,
        bulk: row.is_bulk,
        data: row.data,
      }),
      wrap: (events) => ({ events }),
    });
  },
});
