import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RequestOf } from '../../../sdk/client.ts';
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

/** The newest entries of a statement, and the balance before them. The API has the oldest first. */
export async function newestEntries(asked: RequestOf<'getStatement'>, shownMax: number) {
  const read = (number: number) => api.getStatement({ ...asked, page: pageOf(number, shownMax) });
  const { data, headers } = await read(0);
  const total = totalIn(headers);
  if (total <= shownMax) return { ...data, total, balanceBefore: data.openingBalance };
  const last = Math.floor((total - 1) / shownMax);
  const [full, end] = await Promise.all([read(last - 1), read(last)]);
  const [before, ...entries] = [...full.data.entries, ...end.data.entries].slice(-shownMax - 1);
  return { ...end.data, entries, total, balanceBefore: before?.balance ?? 0 };
}

export const statementQuery = (partyNumber: number, days: Days) =>
  queryOptions({
    queryKey: ['statement', partyNumber, days],
    queryFn: () => newestEntries({ partyNumber, ...daysSent(days) }, 500),
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
