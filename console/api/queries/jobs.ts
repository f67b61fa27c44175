import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { pageOf, queries } from './base.ts';

export const jobsQuery = (filter: { termID?: number; status?: 'Running' }) =>
  queryOptions({
    queryKey: ['jobs', filter],
    queryFn: async () => (await api.getJobs({ ...filter, page: pageOf(0, 10) })).data.jobs,
    refetchInterval: (query) => {
      const isBusy = query.state.data?.some((job) => isUnderWay(job.status));
      return isBusy || queries.isMutating() > 0 ? 1_000 : 15_000;
    },
  });

/** Long before a step has its answer, its job is under way: a moment for the call to make it. */
const beginsMs = 400;

/** Called when a step is sent: its progress is shown from the beginning. */
export function watchJobs(): void {
  setTimeout(() => {
    queries.invalidateQueries({ queryKey: ['jobs'] });
    queries.invalidateQueries({ queryKey: ['run-board'] });
  }, beginsMs);
}

export function isUnderWay(status: string | undefined): boolean {
  return status === 'Running' || status === 'Scheduled';
}
