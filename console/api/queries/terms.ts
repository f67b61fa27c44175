import { queryOptions } from '@tanstack/react-query';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { numbered } from '../problem.ts';
import { pageOf, pagesOf } from './base.ts';

export const termPages = pagesOf(
  ['terms'],
  (page) => api.getTerms({ page }),
  ({ terms }) => terms,
);

/** The term with its figures. Its bills are listed by their own query. */
export const termQuery = (termID: number) =>
  queryOptions({
    queryKey: ['term', termID],
    queryFn: async () =>
      (await api.getBillTerm({ billTermID: numbered(termID), page: pageOf(0, 1) })).data,
  });

type Summary = DataOf<'getBillTerm'>['summary'];

/** What posting takes: the bills that are neither in error nor on hold. */
export function readyIn({ bills, onHold, readyCharges }: Summary) {
  return { bills: bills - onHold, charges: readyCharges };
}

export type PopulationFilter = {
  termID: number;
  included?: boolean;
  reason?: Excluded;
  change?: 'New' | 'Gone';
};
export type Excluded = NonNullable<Parameters<typeof api.getTermPopulation>[0]['reason']>;

export const populationPages = (filter: PopulationFilter) =>
  pagesOf(
    ['population', filter],
    (page) => api.getTermPopulation({ ...filter, page, withCounts: false }),
    ({ rows }) => rows,
  );

/** Of a large batch they take seconds: the list does not wait for them. */
export const populationCountsQuery = (termID: number) =>
  queryOptions({
    queryKey: ['population', 'counts', termID],
    queryFn: async () => {
      const { counts, difference } = (await api.getTermPopulation({ termID, page: pageOf(0, 1) }))
        .data;
      return { included: 0, excluded: 0, reasons: [], ...counts, difference };
    },
  });

/** A term that another is compared with: the one before it, or that of a year ago. */
export const otherTermQuery = (
  term: { termID: number; serviceCode: string; batchCode: string; startDate: string; type: string },
  which: 'before' | 'year',
) =>
  queryOptions({
    queryKey: ['other-term', term.termID, which],
    queryFn: async () => {
      const end = dayBefore(term.startDate);
      const [fromDate, toDate] = which === 'before' ? [back(end, 2), end] : yearAgo(term.startDate);
      const { serviceCode, batchCode } = term;
      const { terms } = (
        await api.getTerms({
          serviceCode,
          type: 'Regular',
          filters: { batchCode, fromDate, toDate },
        })
      ).data;
      const known = terms
        .filter((one) => one.termID !== term.termID && one.status !== 'Cancelled')
        .toSorted((a, b) => (sortable(a.startDate) < sortable(b.startDate) ? 1 : -1));
      const found = known.find((one) => which === 'year' || sortable(one.endDate) <= sortable(end));
      if (found?.termID === undefined) return null;
      return (await api.getBillTerm({ billTermID: found.termID, page: pageOf(0, 1) })).data;
    },
    staleTime: 60_000,
  });

function sortable(day = ''): string {
  return day.split('/').reverse().join('');
}

function dateOf(day: string): Date {
  return new Date(`${day.split('/').reverse().join('-')}T00:00:00Z`);
}

function wire(date: Date): string {
  return date.toISOString().slice(0, 10).split('-').reverse().join('/');
}

function dayBefore(day: string): string {
  return wire(new Date(dateOf(day).getTime() - 86_400_000));
}

function back(day: string, months: number): string {
  const date = dateOf(day);
  return wire(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)));
}

/** The month of a year ago. */
function yearAgo(day: string): [string, string] {
  const date = dateOf(day);
  const year = date.getUTCFullYear() - 1;
  const month = date.getUTCMonth();
  return [wire(new Date(Date.UTC(year, month, 1))), wire(new Date(Date.UTC(year, month + 1, 0)))];
}

export const runBoardQuery = queryOptions({
  queryKey: ['run-board'],
  queryFn: async () => (await api.getRunBoard()).data,
  refetchInterval: (query) => (query.state.data?.terms.some(({ job }) => job) ? 2_000 : 30_000),
});
