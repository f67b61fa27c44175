import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countWebhooks,
  type ListedWebhook,
  listWebhooks,
} from '../../domain/events/webhooks-store.ts';
import { nullable, page, timestamp, ts } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const webhookView = {
  webhookID: Type.Integer(),
  url: Type.String(),
  description: nullable(Type.String()),
  types: Type.Array(Type.String(), { description: 'empty: all types' }),
  status: Type.String({ description: 'Active, Paused or Disabled' }),
  reason: nullable(Type.String({ description: 'why it is Disabled' })),
  oldSecretUntil: nullable(timestamp),
  waiting: Type.Integer({ description: 'messages to be sent; at most 10,000 are counted' }),
  dead: Type.Integer({ description: 'messages given up; at most 10,000 are counted' }),
  failuresInARow: Type.Integer({ description: 'batches that failed since the last success' }),
  lastSuccessAt: nullable(timestamp),
  lastFailureAt: nullable(timestamp),
  lastError: nullable(Type.String({ description: 'why the last failure was one' })),
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
  ts,
};

export const getWebhooks = operation({
  path: '/billing/events/get-webhooks',
  method: 'Retrieve',
  action: 'Retrieve Webhooks',
  access: { permission: 'webhooks:read' },
  summary: 'Lists webhooks with what waits and what failed; never their secrets.',
  request: Type.Object({ page: Type.Optional(page) }),
  response: Type.Object({ webhooks: Type.Array(Type.Object(webhookView)) }),
  errors: [],
  example: {},
  handle(call, body) {
    const { tenantId } = call.tenant;
    return listing(call, {
      page: body.page,
      count: (tx) => countWebhooks(tx, tenantId),
      at: (tx, window) => listWebhooks(tx, tenantId, { afterId: 0, ...window }),
      after: (tx, { after, limit }) =>
        listWebhooks(tx, tenantId, { afterId: after?.webhook_id ?? 0, offset: 0, limit }),
      present: (row: ListedWebhook) => present(row, call),
      wrap: (webhooks) => ({ webhooks }),
    });
  },
});

/** What the worker notes is of the machine's clock; a sandbox shows it by its own. */
function present(row: ListedWebhook, { tenant }: Call) {
  const shown = (at: Temporal.Instant | null) => at && formatTimestamp(at, tenant.timezone);
  return {
    webhookID: row.webhook_id,
    url: row.url,
    description: row.description,
    types: row.types,
    status: row.status,
    reason: row.reason,
    oldSecretUntil: shown(row.old_secret_until),
    waiting: row.waiting,
    dead: row.dead,
    failuresInARow: row.failures,
    lastSuccessAt: shown(row.last_success_at),
    lastFailureAt: shown(row.last_failure_at),
    lastError: row.last_error,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}
