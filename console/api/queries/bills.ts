import { queryOptions } from '@tanstack/react-query';
import { api, totalIn } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { pageOf, pagesOf } from './base.ts';

export const billStatuses = ['Draft', 'Error', 'Hold', 'Posted', 'Published', 'Cancelled'] as const;

export type BillFilter = {
  termID?: number;
  partyID?: number;
  status?: (typeof billStatuses)[number];
};

/** The bills of a term in one state, or all of them. */
export function billsOfTerm(termID: number, status: string | undefined): BillFilter {
  const chosen = billStatuses.find((one) => one === status);
  return chosen ? { termID, status: chosen } : { termID };
}

export const billPages = (filter: BillFilter) =>
  pagesOf(
    ['bills', filter],
    // Those of a term in the order of its subscriptions; of a customer, the newest first.
    (page) =>
      api.getBills({ ...filter, newestFirst: filter.termID === undefined, short: true, page }),
    ({ bills }) => bills,
  );

export const unsettled = ['Overdue', 'PartiallyPaid', 'Unpaid'] as const;

/** What a customer still owes by bills, and the named bills, the oldest first. */
export const payableBillsQuery = (partyID: number, billIDs: readonly number[]) =>
  queryOptions({
    queryKey: ['bills', 'payable', partyID, billIDs],
    queryFn: async () => {
      const read = unsettled.map((paymentStatus) =>
        api.getBills({ partyID, paymentStatus, short: true, page: pageOf(0) }),
      );
      const named = billIDs.map((billID) => api.getBills({ billID, short: true }));
      const bills = (await Promise.all([...read, ...named])).flatMap(({ data }) => data.bills);
      const once = new Map(bills.map((bill) => [bill.billID, bill]));
      return [...once.values()].toSorted((a, b) => a.billID - b.billID);
    },
  });

export const billQuery = (billID: number) =>
  queryOptions({
    queryKey: ['bill', billID],
    queryFn: async () => found((await api.getBills({ billID: numbered(billID) })).data.bills[0]),
  });

export const explanationQuery = (billID: number, lineNo: number) =>
  queryOptions({
    queryKey: ['explanation', billID, lineNo],
    queryFn: async () => (await api.explainBill({ billID, lineNo })).data.lines,
  });

/** A draft has a document too, marked as one; it is made anew when the bill has changed. */
export const documentQuery = ({ billID, ts }: { billID: number; ts: unknown }) =>
  queryOptions({
    queryKey: ['document', billID, ts],
    queryFn: async () => (await api.getBillDocument({ billID, format: 'PDF' })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });

type Billed = { billID: number; connectionNumber: string | null; startDate: string };

export const sortable = (day: string) => day.split('/').reverse().join('');

/** The bill of the same subscription before this one; null for the first one. */
export const previousBillQuery = ({ billID, connectionNumber, startDate }: Billed) =>
  queryOptions({
    queryKey: ['bills', 'previous', billID],
    queryFn: async () => {
      const page = pageOf(0, 50);
      const { bills } = (await api.getBills({ connectionNumber, newestFirst: true, page })).data;
      const earlier = bills.filter(
        (one) => one.status !== 'Cancelled' && sortable(one.startDate) < sortable(startDate),
      );
      return (
        earlier.toSorted((a, b) => sortable(b.startDate).localeCompare(sortable(a.startDate)))[0] ??
        null
      );
    },
    enabled: connectionNumber !== null,
    staleTime: 60_000,
  });

export const creditNotesQuery = (filter: { billID: number } | { partyID: number }) =>
  queryOptions({
    queryKey: ['credit-notes', filter],
    queryFn: async () => (await api.getCreditNotes(filter)).data.creditNotes,
  });

/** What the last generation of a term changed. A term that was generated once has nothing to show. */
export const changesPages = (termID: number) =>
  pagesOf(
    ['compare', termID],
    (page) => api.compareRuns({ termID, page }),
    ({ differences }) => differences,
  );

/** Two generations of a term beside each other. */
export const runsQuery = (termID: number) =>
  queryOptions({
    queryKey: ['compare', 'runs', termID],
    queryFn: async () => (await api.compareRuns({ termID, page: pageOf(0, 1) })).data,
  });

/** The drafts on hold, up to the number that a person can look through. */
export const heldQuery = (termID: number) =>
  queryOptions({
    queryKey: ['bills', 'held', termID],
    queryFn: async () => {
      const held = { termID, status: 'Hold' } as const;
      const { data, headers } = await api.getBills({ ...held, short: true, page: pageOf(0, 500) });
      return { bills: data.bills, total: totalIn(headers) };
    },
  });
