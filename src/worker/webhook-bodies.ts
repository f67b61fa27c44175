// The body of a message: the event, with the thing that it is about as the API returns it now.
import { formatTimestamp } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import type { EventRow, EventType } from '../domain/events/events-store.ts';
import { messageId, partsOf } from '../domain/events/messages.ts';
import { type ClaimedMessage, listEventsOf } from '../domain/events/messages-store.ts';
import type { Tenant } from '../domain/tenants/tenant.ts';
import { getBills } from '../operations/bills/get-bills.ts';
import { getCreditNotes } from '../operations/credit-notes/get-credit-notes.ts';
import type { Call } from '../operations/operation.ts';
import { getPayments } from '../operations/payments/get-payments.ts';

export type PreparedMessage = ClaimedMessage & { id: string; body: string };

type Things = { [list: string]: object[] };
type Reader = (call: Call, id: number) => Promise<{ data?: unknown }>;

const one = { pageNumber: 0, size: 1 };

const readers: Readonly<Record<string, Reader>> = {
  billID: (call, billID) => getBills.handle(call, { billID, page: one }, undefined) as never,
  paymentID: (call, paymentID) =>
    getPayments.handle(call, { paymentID, page: one }, undefined) as never,
  creditNoteID: (call, creditNoteID) =>
    getCreditNotes.handle(call, { creditNoteID, page: one }, undefined) as never,
};

/** Messages whose events are older than what is kept have no body. */
export async function prepareMessages(
  tx: Tx,
  tenant: Tenant,
  claimed: readonly ClaimedMessage[],
): Promise<PreparedMessage[]> {
  const { tenantId } = tenant;
  const ids = [...new Set(claimed.map((message) => message.event_id))];
  const events = new Map(
    (await listEventsOf(tx, tenantId, ids)).map((event) => [event.event_id, event]),
  );
  const call = { tx, tenant, ownPartyId: null } as unknown as Call;
  const prepared = claimed.map(async (message): Promise<PreparedMessage[]> => {
    const event = events.get(message.event_id);
    const part = event && partsOf(event).find(({ item }) => item === message.item);
    if (!event || !part) return [];
    const data = await thingOf(call, event.type, part.data);
    const id = messageId(tenant.workspace, message.event_id, message.item);
    return [{ ...message, id, body: bodyOf(id, message, event, tenant, data) }];
  });
  return (await Promise.all(prepared)).flat();
}

function bodyOf(
  id: string,
  message: ClaimedMessage,
  event: EventRow,
  { workspace, timezone }: Tenant,
  data: object,
): string {
  return JSON.stringify({
    id,
    type: event.type,
    timestamp: formatTimestamp(event.at, timezone),
    workspace,
    apiVersion: 'v2',
    bulk: event.is_bulk,
    eventID: event.event_id,
    sequence: message.sequence,
    data: { ts: event.at.epochMilliseconds, ...data },
  });
}

async function thingOf(
  call: Call,
  _type: EventType,
  ids: Record<string, unknown>,
): Promise<object> {
  for (const [name, read] of Object.entries(readers)) {
    const id = ids[name];
    if (typeof id !== 'number') continue;
    const { data } = await read(call, id);
    const [thing] = Object.values((data ?? {}) as Things)[0] ?? [];
    return { ...ids, ...thing };
  }
  return ids;
}
