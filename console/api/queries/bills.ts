import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pagesOf } from './base.ts';

export type BillFilter = {
  termID?: number;
  partyID?: number;
  status?: 'Draft' | 'Error' | 'Hold' | 'Posted' | 'Published' | 'Cancelled';
};

export const billPages = (filter: BillFilter) =>
  pagesOf(
    ['bills', filter],
    (page) => api.getBills({ ...filter, page }),
    ({ bills }) => bills,
  );

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
