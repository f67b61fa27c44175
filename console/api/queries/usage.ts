import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';

/** A customer's own where neither is given. */
export type UsageFilter = { partyNumber?: number; connectionNumber?: string };

export const usageQuery = (filter: UsageFilter) =>
  queryOptions({
    queryKey: ['usage', filter],
    queryFn: async () => (await api.getUsage(filter)).data.usage,
  });
