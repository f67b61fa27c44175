import { queryOptions } from '@tanstack/react-query';
import type { RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';

export type Days = { fromDate?: string; toDate?: string };

export const trialBalanceQuery = (days: Days) =>
  queryOptions({
    queryKey: ['trial-balance', days],
    queryFn: async () => (await api.getTrialBalance(days)).data,
  });

export const journalPages = (filter: Days & { accountCode?: string }) =>
  pagesOf(
    ['journals', filter],
    (page) => api.getJournals({ ...filter, page }),
    ({ journals }) => journals,
  );

export const ledgerAccountsQuery = queryOptions({
  queryKey: ['ledger-accounts'],
  queryFn: async () => (await api.getLedgerAccounts()).data.accounts,
});

export type ReportFilter = Omit<RequestOf<'getReport'>, 'page' | 'metaData'>;

export const reportPages = (filter: ReportFilter) =>
  pagesOf(
    ['report', filter],
    (page) => api.getReport({ ...filter, page }),
    ({ rows }) => rows as Record<string, string | number | null>[],
  );

/** The columns and totals of a report. Its rows are listed by their own query. */
export const reportHeadQuery = (filter: ReportFilter) =>
  queryOptions({
    queryKey: ['report-head', filter],
    queryFn: async () => (await api.getReport({ ...filter, page: pageOf(0, 1) })).data,
  });

export const servicesQuery = queryOptions({
  queryKey: ['services'],
  queryFn: async () => (await api.getServices()).data.services,
});
