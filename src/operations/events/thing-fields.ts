// The thing that an event is about, as the API returns it: which operation reads it, by which id.
import type * as Type from 'typebox';
import type { Catalogue, OperationName } from '../catalogue.ts';

type Body<Name extends OperationName> = Type.Static<Catalogue[Name]['request']>;
type Question<Name extends OperationName> = { operation: Name; body: Body<Name> };

function asks<Name extends OperationName>(operation: Name, body: Body<Name>): Question<Name> {
  return { operation, body };
}

/** A page that the one thing does not fill: then the operation need not count. */
const page = { pageNumber: 0, size: 2 };

/** By the name of the id in the event's data. The first that an event has is what it is about. */
const thingsById = {
  billID: (id: string) => asks('getBills', { billID: Number(id), page }),
  paymentID: (id: string) => asks('getPayments', { paymentID: Number(id), page }),
  creditNoteID: (id: string) => asks('getCreditNotes', { creditNoteID: Number(id), page }),
  meterNumber: (id: string) => asks('getMeters', { number: Number(id), page }),
  connectionNumber: (connectionNumber: string) =>
    asks('getConnections', { connectionNumber, page }),
  partyNumber: (id: string) => asks('getUsers', { partyNumber: Number(id) }),
  tariffID: (id: string) => asks('getTariffs', { tariffID: Number(id) }),
  serviceCode: (serviceCode: string) => asks('getServices', { serviceCode }),
  jobID: (id: string) => asks('getJobs', { jobID: Number(id), page }),
  termID: (id: string) => asks('getTerms', { termID: Number(id), page }),
};

type ThingQuestion = ReturnType<(typeof thingsById)[keyof typeof thingsById]>;

/** Events whose ids are all that is sent. */
const idsAlone = ['wallet.low'];

/** Undefined where an event has ids alone. */
export function questionOf(type: string, ids: Record<string, unknown>): ThingQuestion | undefined {
  if (idsAlone.includes(type)) return undefined;
  for (const [name, question] of Object.entries(thingsById)) {
    const id = ids[name];
    if (typeof id === 'number' || typeof id === 'string') return question(String(id));
  }
  return undefined;
}

/** What the operation returned of it: the first of its list, or the one. */
export function thingIn(data: unknown): object {
  const [found] = Object.values((data ?? {}) as { [list: string]: object | object[] });
  return (Array.isArray(found) ? found[0] : found) ?? {};
}
