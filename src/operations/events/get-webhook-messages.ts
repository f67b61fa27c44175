import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countMessages,
  listMessages,
  type MessageRow,
  messageStatuses,
} from '../../domain/events/messages-store.ts';
import { filterOf, id, maybe, nullable, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const attemptView = Type.Object({
  attempt: Type.Integer(),
  startedAt: timestamp,
  endedAt: nullable(timestamp),
  outcome: nullable(
    Type.String({ description: 'Delivered, Failed, Refused; null if it is not known' }),
  ),
  httpStatus: nullable(Type.Integer()),
  detail: nullable(Type.String()),
});

const messageView = {
  webhookID: Type.Integer(),
  sequence: Type.Integer({ description: 'counts the messages of the webhook' }),
  eventID: Type.Integer(),
  item: Type.Integer({ description: 'which thing of an event about many; 0 for the whole event' }),
  type: Type.String(),
  status: Type.String({ description: 'Queued, Sending, Delivered or Dead' }),
  attempts: Type.Integer(),
  nextAttemptAt: nullable(timestamp),
  createdAt: timestamp,
  endedAt: nullable(timestamp),
  tried: Type.Array(attemptView, { description: 'the last 20 attempts, the newest first' }),
};

export const getWebhookMessages = operation({
  path: '/billing/events/get-webhook-messages',
  method: 'Retrieve',
  action: 'Retrieve Webhook Messages',
  access: { permission: 'webhooks:read' },
  summary: 'Lists messages to webhooks with their attempts, the newest first; kept for 30 days.',
  request: Type.Object({
    webhookID: maybe(id),
    eventID: maybe(id),
    status: filterOf([...messageStatuses]),
    page: Type.Optional(page),
  }),
  response: Type.Object({ messages: Type.Array(Type.Object(messageView)) }),
  errors: [],
  example: { webhookID: 1, status: 'Dead', page: { pageNumber: 0, size: 50 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      webhookId: body.webhookID ?? null,
      eventId: body.eventID ?? null,
      status: body.status ?? null,
    };
    return listing(call, {
      page: body.page,
      count: (tx) => countMessages(tx, tenantId, filter),
      at: (tx, window) => listMessages(tx, tenantId, filter, { before: null, ...window }),
      after: (tx, { after, limit }) =>
        listMessages(tx, tenantId, filter, { before: after ?? null, offset: 0, limit }),
      present: (row: MessageRow) => present(row, call),
      wrap: (messages) => ({ messages }),
    });
  },
});

function present(row: MessageRow, { tenant }: Call) {
  const shown = (at: Temporal.Instant | null) => at && formatTimestamp(at, tenant.timezone);
  const fromText = (at: string | null) => shown(at === null ? null : Temporal.Instant.from(at));
  return {
    webhookID: row.webhook_id,
    sequence: row.sequence,
    eventID: row.event_id,
    item: row.item,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: shown(row.next_attempt_at),
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    endedAt: shown(row.ended_at),
    tried: row.tried.map((one) => ({
      ...one,
      startedAt: fromText(one.startedAt) ?? '',
      endedAt: fromText(one.endedAt),
    })),
  };
}
