import * as Type from 'typebox';
import { AppError, errorFromRows } from '../../base/errors.ts';
import { sealSecret } from '../../base/secret-key.ts';
import { assertNotStale } from '../../base/stale.ts';
import {
  lockWebhook,
  updateWebhook,
  type WebhookChange,
} from '../../domain/events/webhooks-store.ts';
import { empty, id, maybe, oneOf, tsGuard } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { description, readSecret, secret, targetProblem, types, url } from './webhook-fields.ts';

/** Hours for which the secret before goes on signing. */
const oldSecretHours = { usual: 24, max: 168 };

const data = Type.Object({
  webhookID: id,
  url: Type.Optional(url),
  types: Type.Optional(types),
  description: maybe(description),
  status: Type.Optional(oneOf(['Active', 'Paused'])),
  secret: Type.Optional(secret),
  oldSecretHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: oldSecretHours.max,
      'x-code': 'INVALID_NUMBER',
      description: 'with secret: how long the secret before signs too; 24 unless sent',
    }),
  ),
  ts: tsGuard,
});
type Sent = Type.Static<typeof data>;

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
      ...secretsOf(call, sent, before.secret),
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

/** Signatures expire by the machine's clock, as receivers check them by theirs. */
function secretsOf(call: Call, sent: Sent, before: Buffer): Pick<WebhookChange, 'secrets'> {
  if (sent.secret === undefined) return {};
  const hours = sent.oldSecretHours ?? oldSecretHours.usual;
  const realNow = call.now.subtract({ milliseconds: call.tenant.clockOffsetMs });
  const isKept = hours > 0;
  return {
    secrets: {
      secret: sealSecret(readSecret('data.secret', sent.secret)),
      oldSecret: isKept ? before : null,
      oldSecretUntil: isKept ? realNow.add({ hours }) : null,
    },
  };
}
