import { queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';
import { wholePages } from './whole.ts';

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

export type LedgerAccount = DataOf<'getLedgerAccounts'>['accounts'][number];

export const ledgerAccountPages = wholePages(
  ['ledger-accounts'],
  () => api.getLedgerAccounts(),
  ({ accounts }) => accounts,
);

export type BookedCharge = {
  serviceCode: string;
  name: string;
  label: string;
  /** Where the service names one. */
  account: string | null;
  /** Otherwise this one. */
  usual: string;
};

/** The account of each line that services can charge. Only the view of one service has its lines. */
export const bookedChargePages = wholePages(
  ['booked-charges'],
  async () => {
    const { services } = (await api.getServices()).data;
    const views = await Promise.all(
      services.map(({ serviceCode }) => api.getServices({ serviceCode })),
    );
    return { data: views.flatMap(({ data }) => data.services) };
  },
  (services) =>
    services.flatMap(({ serviceCode, serviceType, components }): BookedCharge[] =>
      (components ?? []).map(({ name, label, account, type }) => ({
        serviceCode,
        name,
        label: label ?? name,
        account: account ?? null,
        usual: usualAccount(type, serviceType),
      })),
    ),
);

function usualAccount(type: string | undefined, serviceType: string): string {
  if (type === 'Tax') return 'TAX';
  return serviceType === 'Sale' ? 'INCOME' : 'EXPENSE';
}

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
