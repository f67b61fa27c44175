import { queryOptions } from '@tanstack/react-query';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';

export type Found = DataOf<'search'>['results'][number];

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: async () => (await api.search({ text })).data.results,
    enabled: text !== '',
  });
