// The body of a message: the event, with the thing that it is about as the API returns it now.
import { formatTimestamp } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { messageBody, messageId, partsOf } from '../domain/events/messages.ts';
import { type ClaimedMessage, listEventsOf } from '../domain/events/messages-store.ts';
import type { Tenant } from '../domain/tenants/tenant.ts';
import { billsByIds } from '../operations/bills/bill-listing-fields.ts';
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
    (await listEventsOf(tx, tenantId, ids)).map((event) => [
      event.event_id,
      { event, parts: partsOf(event) },
    ]),
  );
  const now = realNow.add({ milliseconds: tenant.clockOffsetMs });
  const call = { tx, tenant, now, ownPartyId: null } as unknown as Call;
  const found = claimed.flatMap((message) => {
    const { event, parts = [] } = events.get(message.event_id) ?? {};
    const part = parts.find(({ item }) => item === message.item);
    return event && part ? [{ message, event, ids: part.data }] : [];
  });
  const bills = await billsOf(call, found);
  const prepared: PreparedMessage[] = [];
  for (const { message, event, ids } of found) {
    const { sequence, event_id: eventId, item } = message;
    const id = messageId(workspace, eventId, item);
    const timestamp = formatTimestamp(event.at, timezone);
    const thing = await thingOf(call, bills, event.type, ids);
    const data = { ts: event.at.epochMilliseconds, ...ids, ...thing };
    const body = messageBody({ id, event, timestamp, workspace, sequence, data });
    prepared.push({ ...message, id, body });
  }
  return prepared;
}

type Ids = Record<string, unknown>;
type Bills = ReadonlyMap<unknown, object>;

/** A bill run makes an event of each of its bills: they are read together. */
async function billsOf(
  call: Call,
  found: readonly { event: { type: string }; ids: Ids }[],
): Promise<Bills> {
  const billIds = found.flatMap(({ event, ids }) => billIdIn(event.type, ids) ?? []);
  if (billIds.length === 0) return new Map();
  const bills = await billsByIds(call, [...new Set(billIds)]);
  return new Map(bills.map((bill) => [(bill as { billID?: unknown }).billID, bill]));
}

function billIdIn(type: string, ids: Ids): number | undefined {
  const question = questionOf(type, ids);
  return question?.operation === 'getBills' ? Number(ids.billID) : undefined;
}

/** Nothing of what is not there any more: then its ids alone are sent. */
async function thingOf(call: Call, bills: Bills, type: string, ids: Ids): Promise<object> {
  const billId = billIdIn(type, ids);
  if (billId !== undefined) return bills.get(billId) ?? {};
  const question = questionOf(type, ids);
  const operation = question && byName.get(question.operation);
  if (!operation) return {};
  try {
    const answer = await operation.handle(call, question.body as never, undefined as never);
    return thingIn((answer as { data?: unknown }).data);
  } catch (error) {
    if (error instanceof AppError && error.statusCode === 404) return {};
    throw error;
  }
}
