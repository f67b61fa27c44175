// The thing that an event is about, as the API returns it: which operation reads it, by which id.
import type { RequestOf } from '../../../sdk/client.ts';
import type { OperationName } from '../catalogue.ts';

const page = { pageNumber: 0, size: 1 };

type Question<Name extends OperationName> = { operation: Name; body: RequestOf<Name> };

function asks<Name extends OperationName>(operation: Name, body: RequestOf<Name>): Question<Name> {
  return { operation, body };
}

/** By the name of the id in the event's data. */
export const thingsById = {
  billID: (billID: number) => asks('getBills', { billID, page }),
  paymentID: (paymentID: number) => asks('getPayments', { paymentID, page }),
  creditNoteID: (creditNoteID: number) => asks('getCreditNotes', { creditNoteID, page }),
};

export type ThingQuestion = ReturnType<(typeof thingsById)[keyof typeof thingsById]>;

/** Undefined where an event has ids alone. */
export function questionOf(ids: Record<string, unknown>): ThingQuestion | undefined {
  for (const [name, question] of Object.entries(thingsById)) {
    const id = ids[name];
    if (typeof id === 'number') return question(id);
  }
  return undefined;
}

/** What the operation returned of it: the first of its list. */
export function thingIn(data: unknown): object {
  const [list] = Object.values((data ?? {}) as { [list: string]: object[] });
  return list?.[0] ?? {};
}
