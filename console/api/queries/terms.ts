import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
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
    queryFn: async () => (await api.getBillTerm({ billTermID: termID, page: pageOf(0, 1) })).data,
  });
