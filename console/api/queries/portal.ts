// What a customer reads about the own party. The server shows nothing of others.
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';
import { sortable, unsettled } from './bills.ts';
import { newestEntries } from './customers.ts';

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

/** The newest bill, and what is owed by bills: what is due first comes first. */
export const ownBillsQuery = queryOptions({
  queryKey: ['own-bills', 'owed'],
  queryFn: async () => {
    const [newest, ...owed] = await Promise.all([
      api.getBills({ newestFirst: true, short: true, page: pageOf(0, 1) }),
      ...unsettled.map((paymentStatus) =>
        api.getBills({ paymentStatus, short: true, page: pageOf(0) }),
      ),
    ]);
    const open = owed
      .flatMap(({ data }) => data.bills)
      .filter(({ outstandingAmount }) => outstandingAmount > 0);
    const dueOf = ({ dueDate }: (typeof open)[number]) => sortable(dueDate);
    return {
      newest: newest.data.bills[0],
      open: open.toSorted((a, b) => dueOf(a).localeCompare(dueOf(b))),
    };
  },
});

export const ownStatementQuery = (partyNumber: number) =>
  queryOptions({
    queryKey: ['own-statement', partyNumber],
    queryFn: () => newestEntries({ partyNumber }, 100),
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
