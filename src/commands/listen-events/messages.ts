// The messages of an event, with the things that they are about, as a worker sends them.
import { BillingError, type Client } from '../../../sdk/client.ts';
import type { EventType } from '../../domain/events/events-store.ts';
import { messageBody, messageId, partsOf } from '../../domain/events/messages.ts';
import { questionOf, thingIn } from '../../operations/events/thing-fields.ts';
import type { ListenedEvent } from './source.ts';

/** `sequence` counts the messages before. */
export async function* messagesOf(
  billing: Client,
  workspace: string,
  event: ListenedEvent,
  sequence: number,
): AsyncGenerator<{ id: string; body: string }> {
  const { eventID = 0, type = '', timestamp = '', ts, bulk = false, data = {} } = event;
  const row = { event_id: eventID, type: type as EventType, is_bulk: bulk };
  let last = sequence;
  for (const part of partsOf({ data })) {
    last += 1;
    const id = messageId(workspace, eventID, part.item);
    const thing = { ts, ...part.data, ...(await thingOf(billing, type, part.data)) };
    const content = { id, event: row, timestamp, workspace, sequence: last, data: thing };
    yield { id, body: messageBody(content) };
  }
}

/** A login that may not read the thing gets its id alone. */
async function thingOf(
  billing: Client,
  type: string,
  ids: Record<string, unknown>,
): Promise<object> {
  const question = questionOf(type, ids);
  if (!question) return {};
  try {
    const ask = billing[question.operation] as (body: object) => Promise<{ data: unknown }>;
    return thingIn((await ask(question.body)).data);
  } catch (error) {
    if (error instanceof BillingError && error.statusCode === 403) return {};
    throw error;
  }
}
