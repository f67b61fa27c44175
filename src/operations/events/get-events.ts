import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import {
  countEvents,
  type EventRow,
  eventTypes,
  hasEvent,
  listEvents,
} from '../../domain/events/events-store.ts';
import { fieldsOnly, filterOf, id, maybe, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

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
  summary: 'Lists the events of the last 30 days, the oldest first.',
  request: Type.Object({
    type: filterOf([...eventTypes]),
    sinceEventID: maybe(id),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ events: Type.Array(Type.Partial(Type.Object(eventView))) }),
  errors: ['EVENT_NOT_FOUND'],
  example: { page: { pageNumber: 0, size: 100 } },
  async handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    await assertKept(call, body.sinceEventID);
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

/** A reader that comes after thirty days has missed events, and must not take that for silence. */
async function assertKept({ tx, tenant }: Call, eventId: number | null | undefined): Promise<void> {
  if (eventId === null || eventId === undefined) return;
  if (await hasEvent(tx, tenant.tenantId, eventId)) return;
  const message =
    `Event ${eventId} is not kept. Events may be missing since then: leave sinceEventID out to ` +
    'read all that are kept.';
  throw new AppError('EVENT_NOT_FOUND', { message, field: 'sinceEventID' });
}
