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
  (page) => api.getBills({ page }),
  ({ bills }) => bills,
);

/** The newest two years of bills, for what is due and for usage. */
export const ownBillsQuery = queryOptions({
  queryKey: ['own-bills', 'newest'],
  queryFn: async () => (await api.getBills({ page: pageOf(0, 50) })).data.bills,
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
