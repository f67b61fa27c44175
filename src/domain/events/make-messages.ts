// Makes messages of events, when they are sent and not when they happen: posting a bill run writes
// one event for a thousand bills, and waits for no receiver.

import type { Tx } from '../../base/db/pool.ts';
import { isWanted, partsOf } from './messages.ts';
import {
  countWaiting,
  insertMessages,
  listEventsAfter,
  listEventsBetween,
  listKnownMessages,
  moveOn,
  type NewMessage,
  type OrderedEvent,
  type Sender,
  takeSequences,
} from './messages-store.ts';

/** A webhook with more waiting messages gets no further ones: its events wait in the outbox. */
const waitingMax = 5_000;
/** Events of one transaction, and messages after which it takes no further event. */
const eventsAtOnce = 500;
const messagesAtOnce = 1_000;

export async function makeMessages(
  tx: Tx,
  tenantId: number,
  sender: Sender,
  now: Temporal.Instant,
): Promise<void> {
  const id = sender.webhook_id;
  if ((await countWaiting(tx, tenantId, id, waitingMax)) >= waitingMax) return;
  const events = await listEventsAfter(tx, tenantId, sender, eventsAtOnce);
  const messages: NewMessage[] = [];
  let last: OrderedEvent | undefined;
  for (const event of events) {
    if (messages.length >= messagesAtOnce) break;
    last = event;
    messages.push(...messagesOf(event, sender, messages.length));
  }
  if (!last) return;
  await insertMessages(tx, tenantId, id, messages, now);
  await moveOn(tx, tenantId, id, { last, sequence: sender.last_sequence + messages.length });
}

function messagesOf(event: OrderedEvent, sender: Sender, before: number): NewMessage[] {
  if (!isWanted(event.type, sender.types)) return [];
  return partsOf(event).map(({ item }, index) => ({
    sequence: sender.last_sequence + before + index + 1,
    eventId: event.event_id,
    item,
    type: event.type,
  }));
}

/** Messages that one call sends again. */
export const redeliveredMax = 10_000;

export type Redelivery = {
  fromId: number;
  toId: number;
  /** Only this thing of an event about many. */
  item?: number | undefined;
};

/**
 * Sends the events of a range to a webhook again, and those that it never got, such as events
 * before it was made. Returns how many messages that is, or undefined if they are too many.
 */
export async function redeliver(
  tx: Tx,
  tenantId: number,
  webhook: Pick<Sender, 'webhook_id' | 'types' | 'read_in' | 'read_event_id'>,
  range: Redelivery,
  now: Temporal.Instant,
): Promise<number | undefined> {
  const events = await listEventsBetween(tx, tenantId, range, redeliveredMax + 1);
  const chosen = events.filter(
    (event) => isWanted(event.type, webhook.types) && isBehind(event, webhook),
  );
  const all = chosen.flatMap((event) =>
    partsOf(event)
      .filter(({ item }) => range.item === undefined || item === range.item)
      .map(({ item }) => ({ eventId: event.event_id, item, type: event.type })),
  );
  if (events.length > redeliveredMax || all.length > redeliveredMax) return undefined;
  const id = webhook.webhook_id;
  const ids = chosen.map((event) => event.event_id);
  const known = await listKnownMessages(tx, tenantId, id, ids);
  const have = new Set(known.map((one) => `${one.event_id}/${one.item}`));
  const isNew = (one: { eventId: number; item: number }) => !have.has(`${one.eventId}/${one.item}`);
  const fresh = all.filter(isNew);
  const last = await takeSequences(tx, tenantId, id, fresh.length);
  const messages = [...fresh, ...all.filter((one) => !isNew(one))].map((one, index) => ({
    ...one,
    sequence: last + index + 1,
  }));
  await insertMessages(tx, tenantId, id, messages, now);
  return all.length;
}

/** Events after the place of a webhook are sent to it anyway. */
function isBehind(
  event: OrderedEvent,
  { read_in: readIn, read_event_id: readId }: Pick<Sender, 'read_in' | 'read_event_id'>,
): boolean {
  const [written, read] = [BigInt(event.written_in), BigInt(readIn)];
  return written < read || (written === read && BigInt(event.event_id) <= BigInt(readId));
}
