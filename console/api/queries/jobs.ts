import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pageOf } from './base.ts';

export const jobsQuery = (filter: { termID?: number; status?: 'Running' }) =>
  queryOptions({
    queryKey: ['jobs', filter],
    queryFn: async () => (await api.getJobs({ ...filter, page: pageOf(0, 10) })).data.jobs,
    refetchInterval: (query) => {
      const isBusy = query.state.data?.some((job) => isUnderWay(job.status));
      return isBusy ? 1_000 : 15_000;
    },
  });

export function isUnderWay(status: string | undefined): boolean {
  return status === 'Running' || status === 'Scheduled';
}
