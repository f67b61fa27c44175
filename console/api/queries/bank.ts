import { queryOptions } from '@tanstack/react-query';
import type { RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { pagesOf } from './base.ts';

export const bankFilePages = pagesOf(
  ['bank-files'],
  (page) => api.getBankFiles({ page }),
  ({ bankFiles }) => bankFiles,
);

export const bankFileQuery = (bankFileID: number) =>
  queryOptions({
    queryKey: ['bank-file', bankFileID],
    queryFn: async () =>
      found((await api.getBankFiles({ bankFileID: numbered(bankFileID) })).data.bankFiles[0]),
  });

type LineFilter = Pick<RequestOf<'getBankLines'>, 'bankFileID' | 'status'>;

export const bankLinePages = (filter: LineFilter) =>
  pagesOf(
    ['bank-lines', filter],
    (page) => api.getBankLines({ ...filter, page }),
    ({ lines }) => lines,
  );

export const mappingsQuery = queryOptions({
  queryKey: ['bank-mappings'],
  queryFn: async () => (await api.getMappings()).data.mappings,
});

/** The accounts of all services, each once. Only the view of one service has its accounts. */
export const bankAccountsQuery = queryOptions({
  queryKey: ['bank-accounts'],
  queryFn: async () => {
    const { services } = (await api.getServices()).data;
    const views = await Promise.all(
      services.map(({ serviceCode }) => api.getServices({ serviceCode })),
    );
    const all = views.flatMap(({ data }) => data.services.flatMap((one) => one.bankAccounts ?? []));
    return [...new Map(all.map((one) => [one.bankAccountID, one])).values()];
  },
});
