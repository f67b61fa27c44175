import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../base/errors.ts';
import { type Redelivery, redeliver, redeliveredMax } from '../../domain/events/make-messages.ts';
import { partsOf } from '../../domain/events/messages.ts';
import { listEventsBetween, type OrderedEvent } from '../../domain/events/messages-store.ts';
import {
  type LockedWebhook,
  listWebhooks,
  lockWebhook,
} from '../../domain/events/webhooks-store.ts';
import { empty, id, maybe } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

const item = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  'x-code': 'INVALID_NUMBER',
  description: 'with eventID: one thing of an event about many',
});

const data = Type.Object({
  eventID: maybe(id),
  item: maybe(item),
  fromEventID: maybe(id),
  toEventID: maybe(id),
  webhookID: maybe(id),
});

/** More than a workspace has. */
const webhooksMax = 100;

export const redeliverEvent = operation({
  path: '/billing/events/redeliver-event',
  method: 'Update',
  action: 'Redeliver Event',
  access: { permission: 'webhooks:write' },
  summary: 'Sends one event or a range again, to one webhook or to all that receive its type.',
  request: Type.Object({ data }),
  response: empty,
  errors: ['EVENT_NOT_FOUND', 'WEBHOOK_NOT_FOUND', 'TOO_MANY_MESSAGES'],
  example: { data: { eventID: 1, webhookID: 1 } },
  async handle(call, { data: sent }) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const range = rangeOf(sent);
    const [event] = await listEventsBetween(tx, tenantId, range, 1);
    if (!event) {
      const field = sent.eventID ? 'data.eventID' : 'data.fromEventID';
      throw new AppError('EVENT_NOT_FOUND', { field });
    }
    assertItem(event, range.item);
    const realNow = call.now.subtract({ milliseconds: tenant.clockOffsetMs });
    let messages = 0;
    for (const webhook of await chosenWebhooks(call, sent.webhookID ?? null)) {
      const count = await redeliver(tx, tenantId, webhook, range, realNow);
      if (count === undefined) throw tooMany();
      messages += count;
      const subjectId = webhook.webhook_id;
      const after = { redelivered: range, messages: count };
      call.audit({ subject: 'webhook', subjectId, before: null, after });
    }
    return { message: `${counted(messages, 'message')} will be sent`, data: {} };
  },
});

function assertItem(event: OrderedEvent, item: number | undefined): void {
  if (item === undefined || partsOf(event).some((part) => part.item === item)) return;
  const message = `Event ${event.event_id} has no item ${item}. get-webhook-messages lists items`;
  throw new AppError('EVENT_NOT_FOUND', { message, field: 'data.item' });
}

function rangeOf(sent: Type.Static<typeof data>): Redelivery {
  const { eventID, item, fromEventID, toEventID } = sent;
  if (eventID && !fromEventID && !toEventID) {
    return { fromId: eventID, toId: eventID, item: item ?? undefined };
  }
  if (!eventID && fromEventID && toEventID) return { fromId: fromEventID, toId: toEventID };
  const message = 'Send eventID, or fromEventID and toEventID';
  throw new AppError('REQUIRED_FIELD', { message, field: 'data.eventID' });
}

async function chosenWebhooks(call: Call, webhookId: number | null): Promise<LockedWebhook[]> {
  const { tx, tenant } = call;
  const all = { afterId: 0, offset: 0, limit: webhooksMax };
  const ids =
    webhookId === null
      ? (await listWebhooks(tx, tenant.tenantId, all)).map((one) => one.webhook_id)
      : [webhookId];
  const locked: LockedWebhook[] = [];
  for (const id of ids) {
    const webhook = await lockWebhook(tx, tenant.tenantId, id);
    if (!webhook) throw new AppError('WEBHOOK_NOT_FOUND', { field: 'data.webhookID' });
    locked.push(webhook);
  }
  return locked;
}

function tooMany(): AppError {
  const message = `The range has more than ${redeliveredMax} messages. Send a smaller one`;
  return new AppError('TOO_MANY_MESSAGES', { message, field: 'data.toEventID' });
}
