import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';

export const customerPages = (name: string) =>
  pagesOf(
    ['customers', name],
    (page) => api.listUsers({ ...(name === '' ? {} : { name }), page }),
    ({ users }) => users,
  );

export const customerQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['customer', partyNumber],
    queryFn: async () => (await api.getUsers({ partyNumber })).data.user,
  });

export const statementQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['statement', partyNumber],
    queryFn: async () => (await api.getStatement({ partyNumber, page: pageOf(0, 100) })).data,
  });

export const notePages = (partyNumber: number) =>
  pagesOf(
    ['notes', partyNumber],
    (page) => api.getNotes({ partyNumber, page }),
    ({ notes }) => notes,
  );
