// The body of a message: the event, with the thing that it is about as the API returns it now.
import { formatTimestamp } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { messageBody, messageId, partsOf } from '../domain/events/messages.ts';
import { type ClaimedMessage, listEventsOf } from '../domain/events/messages-store.ts';
import type { Tenant } from '../domain/tenants/tenant.ts';
import { operations } from '../operations/catalogue.ts';
import { questionOf, thingIn } from '../operations/events/thing-fields.ts';
import type { Call } from '../operations/operation.ts';

export type PreparedMessage = ClaimedMessage & { id: string; body: string };

const byName = new Map<string, (typeof operations)[number][1]>(operations);

/** Messages whose events are older than what is kept have no body. */
export async function prepareMessages(
  tx: Tx,
  tenant: Tenant,
  claimed: readonly ClaimedMessage[],
  realNow: Temporal.Instant,
): Promise<PreparedMessage[]> {
  const { tenantId, workspace, timezone } = tenant;
  const ids = [...new Set(claimed.map((message) => message.event_id))];
  const events = new Map(
    (await listEventsOf(tx, tenantId, ids)).map((event) => [event.event_id, event]),
  );
  const now = realNow.add({ milliseconds: tenant.clockOffsetMs });
  const call = { tx, tenant, now, ownPartyId: null } as unknown as Call;
  const prepared: PreparedMessage[] = [];
  for (const message of claimed) {
    const event = events.get(message.event_id);
    const part = event && partsOf(event).find(({ item }) => item === message.item);
    if (!event || !part) continue;
    const { sequence, event_id: eventId, item } = message;
    const id = messageId(workspace, eventId, item);
    const timestamp = formatTimestamp(event.at, timezone);
    const data = {
      ts: event.at.epochMilliseconds,
      ...(await thingOf(call, event.type, part.data)),
    };
    const body = messageBody({ id, event, timestamp, workspace, sequence, data });
    prepared.push({ ...message, id, body });
  }
  return prepared;
}

async function thingOf(call: Call, type: string, ids: Record<string, unknown>): Promise<object> {
  const question = questionOf(type, ids);
  const operation = question && byName.get(question.operation);
  if (!operation) return ids;
  try {
    const answer = await operation.handle(call, question.body as never, undefined as never);
    return { ...ids, ...thingIn((answer as { data?: unknown }).data) };
  } catch (error) {
    // It is not there any more: its ids are sent.
    if (error instanceof AppError && error.statusCode === 404) return ids;
    throw error;
  }
}
