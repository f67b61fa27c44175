import * as Type from 'typebox';
import { AppError, errorFromRows } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import {
  lockWebhook,
  updateWebhook,
  type WebhookChange,
} from '../../domain/events/webhooks-store.ts';
import { empty, id, maybe, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  description,
  oldSecretHours,
  readSecret,
  rotation,
  secret,
  targetProblem,
  types,
  url,
} from './webhook-fields.ts';

const data = Type.Object({
  webhookID: id,
  url: Type.Optional(url),
  types: Type.Optional(types),
  description: maybe(description),
  status: Type.Optional(oneOf(['Active', 'Paused'])),
  secret: Type.Optional(secret),
  oldSecretHours: Type.Optional(oldSecretHours),
  ts: tsGuard,
});

export const updateWebhookOperation = operation({
  path: '/billing/events/update-webhook',
  method: 'Update',
  action: 'Update Webhook',
  access: { permission: 'webhooks:write' },
  summary:
    'Changes a webhook, pauses it or starts it again; a new secret signs beside the old one.',
  request: Type.Object({ data }),
  response: empty,
  errors: ['WEBHOOK_NOT_FOUND', 'STALE_OBJECT', 'TARGET_REFUSED'],
  example: { data: { webhookID: 1, status: 'Paused' } },
  async prepare(_call, { data: sent }) {
    if (sent.secret !== undefined) readSecret('data.secret', sent.secret);
    const problem = sent.url === undefined ? undefined : await targetProblem('data.url', sent.url);
    if (problem) throw errorFromRows([problem]);
  },
  async handle(call, { data: sent }) {
    const { tx, tenant } = call;
    const { secret: newSecret } = sent;
    const before = await lockWebhook(tx, tenant.tenantId, sent.webhookID);
    if (!before) throw new AppError('WEBHOOK_NOT_FOUND', { field: 'data.webhookID' });
    const what = `webhook ${sent.webhookID}`;
    assertNotStale(sent.ts, before, { what, field: 'data.ts' });
    const change: WebhookChange = {
      url: sent.url ?? before.url,
      description:
        sent.description === undefined ? before.description : sent.description?.trim() || null,
      types: sent.types === undefined ? before.types : [...new Set(sent.types)],
      status: sent.status ?? before.status,
      reason: sent.status === undefined ? before.reason : null,
      ...(newSecret === undefined
        ? {}
        : { secrets: rotation(call, { ...sent, secret: newSecret }, before.secret) }),
    };
    const stamp = { at: call.now, by: call.principal.name };
    await updateWebhook(tx, tenant.tenantId, sent.webhookID, change, stamp);
    const { secrets: _, ...after } = change;
    call.audit({
      subject: 'webhook',
      subjectId: sent.webhookID,
      before: {
        url: before.url,
        description: before.description,
        types: before.types,
        status: before.status,
        reason: before.reason,
      },
      after: { ...after, ...(sent.secret ? { secretChanged: true } : {}) },
    });
    return { message: `Webhook ${sent.webhookID} updated`, data: {} };
  },
});
