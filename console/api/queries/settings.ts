import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';

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
