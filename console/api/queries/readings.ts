import { queryOptions } from '@tanstack/react-query';
import type { DataOf } from '../../../sdk/client.ts';
import { api, totalIn } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { pageOf, pagesOf } from './base.ts';

/** What the entry of readings needs of a term. */
export type ReadingTerm = DataOf<'getReadingTerms'>['terms'][number];

export const readingTermPages = pagesOf(
  ['reading-terms'],
  (page) => api.getReadingTerms({ page }),
  ({ terms }) => terms,
);

export const readingTermQuery = (termID: number) =>
  queryOptions({
    queryKey: ['reading-term', termID],
    queryFn: async () =>
      found((await api.getReadingTerms({ termID: numbered(termID) })).data.terms[0]),
  });

export type Sheet = {
  serviceCode: string;
  batchCode: string;
  /** A register that was read on or after this day is not on the sheet. */
  sinceDate: string;
  readingDate: string;
  termID: number;
};

/** The registers that are still to be read, as the lines of a CSV file. */
export const routeSheetQuery = (sheet: Sheet) =>
  queryOptions({
    queryKey: ['route-sheet', sheet],
    queryFn: async () => (await api.getRouteSheet(sheet)).data.lines,
  });

/** All readings of a meter, the oldest first. */
export const meterReadingsQuery = (number: number) =>
  queryOptions({
    queryKey: ['meter-readings', number],
    queryFn: async () => {
      const { readings } = (await api.getReadings({ number, page: pageOf(0, 500) })).data;
      return readings.toSorted((a, b) =>
        sortable(a.readingDate) < sortable(b.readingDate) ? -1 : 1,
      );
    },
    staleTime: 60_000,
  });

function sortable(day = ''): string {
  return day.split('/').reverse().join('');
}

const underReview = { status: 'Review' } as const;

/** Readings that wait for a decision, of the whole workspace. */
export const reviewsQuery = queryOptions({
  queryKey: ['readings', 'review'],
  queryFn: async () => {
    const { data, headers } = await api.getReadings({ ...underReview, page: pageOf(0, 100) });
    return { readings: data.readings, total: totalIn(headers) };
  },
});

export const reviewCountQuery = queryOptions({
  queryKey: ['readings', 'review', 'count'],
  queryFn: async () =>
    totalIn((await api.getReadings({ ...underReview, page: pageOf(0, 1) })).headers),
});
