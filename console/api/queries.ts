// What screens read, each with the key under which it is kept and refreshed.
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { BillingError } from '../../sdk/client.ts';
import { api, totalIn } from './client.ts';

export const pageSize = 50;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => !(error instanceof BillingError) && count < 2,
    },
  },
});

function pageOf(pageNumber: number, size = pageSize) {
  return { pageNumber, size };
}

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await api.getSettings()).data.settings,
  staleTime: 60_000,
});

/** Batches of all services, each of which is billed by terms of its own. */
export const batchesQuery = queryOptions({
  queryKey: ['batches'],
  queryFn: async () => {
    const { batches } = (await api.getBatches()).data;
    return batches.filter((batch) => batch.archiveStatus === 0);
  },
});

export const termsQuery = (pageNumber: number) =>
  queryOptions({
    queryKey: ['terms', pageNumber],
    queryFn: async () => {
      const { data, headers } = await api.getTerms({ page: pageOf(pageNumber) });
      return { rows: data.terms, total: totalIn(headers) };
    },
  });

/** The term with its figures. Its bills are listed by their own query. */
export const termQuery = (termID: number) =>
  queryOptions({
    queryKey: ['term', termID],
    queryFn: async () => (await api.getBillTerm({ billTermID: termID, page: pageOf(0, 1) })).data,
  });

export const jobsQuery = (filter: { termID?: number; status?: 'Running' }) =>
  queryOptions({
    queryKey: ['jobs', filter],
    queryFn: async () => (await api.getJobs({ ...filter, page: pageOf(0, 10) })).data.jobs,
    refetchInterval: (query) => {
      const isBusy = query.state.data?.some((job) => isUnderWay(job.status));
      return isBusy ? 1_000 : 15_000;
    },
  });

export function isUnderWay(status: string | undefined): boolean {
  return status === 'Running' || status === 'Scheduled';
}

export type BillFilter = {
  termID?: number;
  partyID?: number;
  status?: 'Draft' | 'Error' | 'Hold' | 'Posted' | 'Published' | 'Cancelled';
};

export const billsQuery = (filter: BillFilter, pageNumber: number) =>
  queryOptions({
    queryKey: ['bills', filter, pageNumber],
    queryFn: async () => {
      const { data, headers } = await api.getBills({ ...filter, page: pageOf(pageNumber) });
      return { rows: data.bills, total: totalIn(headers) };
    },
  });

export const billQuery = (billID: number) =>
  queryOptions({
    queryKey: ['bill', billID],
    queryFn: async () => {
      const [bill] = (await api.getBills({ billID })).data.bills;
      if (!bill) throw new Error(`no bill ${billID}`);
      return bill;
    },
  });

export const explanationQuery = (billID: number, lineNo: number) =>
  queryOptions({
    queryKey: ['explanation', billID, lineNo],
    queryFn: async () => (await api.explainBill({ billID, lineNo })).data.lines,
  });

export const documentQuery = (billID: number) =>
  queryOptions({
    queryKey: ['document', billID],
    queryFn: async () => (await api.getBillDocument({ billID, format: 'PDF' })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const customersQuery = (name: string, pageNumber: number) =>
  queryOptions({
    queryKey: ['customers', name, pageNumber],
    queryFn: async () => {
      const filter = name === '' ? {} : { name };
      const { data, headers } = await api.listUsers({ ...filter, page: pageOf(pageNumber) });
      return { rows: data.users, total: totalIn(headers) };
    },
  });

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

export const paymentsQuery = (filter: { partyNumber?: number }, pageNumber: number) =>
  queryOptions({
    queryKey: ['payments', filter, pageNumber],
    queryFn: async () => {
      const { data, headers } = await api.getPayments({ ...filter, page: pageOf(pageNumber) });
      return { rows: data.payments, total: totalIn(headers) };
    },
  });
