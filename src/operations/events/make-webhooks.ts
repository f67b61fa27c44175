import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { AppError, type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { sealSecret } from '../../base/secret-key.ts';
import { countWebhooks, insertWebhooks } from '../../domain/events/webhooks-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { empty, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { description, readSecret, secret, targetProblem, types, url } from './webhook-fields.ts';

/** Webhooks that a workspace may have. */
const webhooksMax = 20;

const one = { url, secret, types: maybe(types), description: maybe(description) };

const request = Type.Object({
  webhooks: maybe(Type.Array(Type.Object(one), { minItems: 1, maxItems: webhooksMax })),
  url: maybe(url),
  secret: maybe(secret),
  types: maybe(types),
  description: maybe(description),
});
type Sent = Type.Static<typeof request>;

export const makeWebhooks = operation({
  path: '/billing/events/make-webhooks',
  method: 'Create',
  action: 'Create Webhooks',
  access: { permission: 'webhooks:write' },
  summary: 'Makes webhooks, in `webhooks` or one in the body itself; the caller gives the secret.',
  request,
  response: empty,
  errors: ['TARGET_REFUSED'],
  example: {
    webhooks: [
      {
        url: 'https://erp.example.com/billing-events',
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        types: ['payment.created', 'bill.posted'],
      },
    ],
  },
  async prepare(_call, body) {
    const wanted = wantedOf(body);
    for (const { at, secret: sent } of wanted) readSecret(`${at}secret`, sent);
    const found = await Promise.all(wanted.map((each) => targetProblem(`${each.at}url`, each.url)));
    const problems = found.filter((problem): problem is ErrorDetail => problem !== undefined);
    if (problems.length > 0) throw errorFromRows(problems);
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const webhooks = wantedOf(body).map((each) => ({
      url: each.url,
      description: each.description?.trim() || null,
      types: [...new Set(each.types ?? [])],
      secret: sealSecret(readSecret(`${each.at}secret`, each.secret)),
    }));
    const count = webhooks.length;
    const first = await takeNumbers(tx, tenant.tenantId, 'webhook', count);
    if ((await countWebhooks(tx, tenant.tenantId)) + count > webhooksMax) {
      const message = `A workspace has at most ${webhooksMax} webhooks. Change one of them instead`;
      throw new AppError('TOO_MANY_ITEMS', { message, field: 'webhooks' });
    }
    const stamp = { at: call.now, by: call.principal.name };
    await insertWebhooks(tx, tenant.tenantId, first, webhooks, stamp);
    webhooks.forEach(({ secret: _, ...after }, index) => {
      call.audit({ subject: 'webhook', subjectId: first + index, before: null, after });
    });
    const resourceIds = webhooks.map((_, index) => first + index);
    return { message: `${counted(count, 'webhook')} created`, data: {}, ids: { resourceIds } };
  },
});

type Wanted = {
  at: string;
  url: string;
  secret: string;
  types?: Sent['types'] | undefined;
  description?: string | null | undefined;
};

/** Each with the beginning of its fields' paths. */
function wantedOf(body: Sent): Wanted[] {
  if (body.webhooks) {
    return body.webhooks.map((each, index) => ({ ...each, at: `webhooks[${index}].` }));
  }
  if (!body.url || !body.secret) {
    const field = body.url ? 'secret' : 'webhooks';
    const message = 'Send `webhooks`, or one webhook as `url` and `secret`';
    throw new AppError('REQUIRED_FIELD', { message, field });
  }
  const { types: wanted, description: about } = body;
  return [{ at: '', url: body.url, secret: body.secret, types: wanted, description: about }];
}
