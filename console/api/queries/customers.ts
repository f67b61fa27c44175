import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, totalIn } from '../client.ts';
import { numbered } from '../problem.ts';
import { pageOf, pagesOf } from './base.ts';

export type CustomerFilter = { name: string; includeArchived: boolean };

export const customerPages = ({ name, includeArchived }: CustomerFilter) =>
  pagesOf(
    ['customers', name, includeArchived],
    (page) =>
      api.listUsers({
        ...(name === '' ? {} : { name }),
        ...(includeArchived ? { metaData: { includeArchived } } : {}),
        page,
      }),
    ({ users }) => users,
  );

export const customerQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['customer', partyNumber],
    queryFn: async () => (await api.getUsers({ partyNumber: numbered(partyNumber) })).data.user,
  });

/** How much of a customer the books keep, whatever is erased. */
export const keptQuery = (partyID: number) =>
  queryOptions({
    queryKey: ['kept', partyID],
    queryFn: async () => {
      const one = { partyID, page: pageOf(0, 1) };
      const [bills, payments] = await Promise.all([
        api.getBills({ ...one, short: true }),
        api.getPayments(one),
      ]);
      return { bills: totalIn(bills.headers), payments: totalIn(payments.headers) };
    },
  });

type Days = { fromDate: string; toDate: string };

/** Days of the browser's fields as the API takes them; an empty one is left out. */
export function daysSent(days: Days): Partial<Days> {
  const filled = Object.entries(days).filter(([, day]) => day !== '');
  return Object.fromEntries(
    filled.map(([name, day]) => [name, day.split('-').reverse().join('/')]),
  );
}

export const statementQuery = (partyNumber: number, days: Days) =>
  queryOptions({
    queryKey: ['statement', partyNumber, days],
    queryFn: async () => {
      const page = pageOf(0, 500);
      const { data, headers } = await api.getStatement({ partyNumber, ...daysSent(days), page });
      return { ...data, total: totalIn(headers) };
    },
    placeholderData: keepPreviousData,
  });

export const depositPages = (partyNumber: number) =>
  pagesOf(
    ['deposits', partyNumber],
    (page) => api.getDeposits({ partyNumber, page }),
    ({ deposits }) => deposits,
  );

export const notePages = (partyNumber: number) =>
  pagesOf(
    ['notes', partyNumber],
    (page) => api.getNotes({ partyNumber, page }),
    ({ notes }) => notes,
  );
