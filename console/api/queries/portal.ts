// What a customer reads about the own party. The server shows nothing of others.
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';

export const ownPartyQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['own-party', partyNumber],
    queryFn: async () => (await api.getUsers({ partyNumber })).data.user,
  });

export const ownBillPages = pagesOf(
  ['own-bills'],
  (page) => api.getBills({ newestFirst: true, page }),
  ({ bills }) => bills,
);

/** Two years of bills of four subscriptions. */
const newestMax = 100;

/** The newest bills, for what is due and for usage. */
export const ownBillsQuery = queryOptions({
  queryKey: ['own-bills', 'newest'],
  queryFn: async () =>
    (await api.getBills({ newestFirst: true, page: pageOf(0, newestMax) })).data.bills,
});

export const ownStatementQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['own-statement', partyNumber],
    queryFn: async () => (await api.getStatement({ partyNumber, page: pageOf(0, 100) })).data,
  });

export const ownNotePages = pagesOf(
  ['own-notes'],
  (page) => api.getNotes({ page }),
  ({ notes }) => notes,
);

/** How a bill is paid: its reference, the accounts, and the text of its QR code. */
export const paymentDetailsQuery = (billID: number) =>
  queryOptions({
    queryKey: ['payment-details', billID],
    queryFn: async () => (await api.getPaymentDetails({ billID })).data,
  });
