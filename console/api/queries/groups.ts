import { queryOptions } from '@tanstack/react-query';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { numbered } from '../problem.ts';
import { wholePages } from './whole.ts';

export type Group = DataOf<'listBillingGroups'>[number];
export type Member = DataOf<'getBillingGroup'>['connectionGroups'][number];

export const groupPages = wholePages(
  ['billing-groups'],
  () => api.listBillingGroups(),
  (groups) => groups,
);

export const groupsQuery = queryOptions({
  queryKey: ['billing-groups'],
  queryFn: async () => (await api.listBillingGroups()).data,
});

export const groupQuery = (billingGroupID: number) =>
  queryOptions({
    queryKey: ['billing-group', billingGroupID],
    queryFn: async () =>
      (await api.getBillingGroup({ billingGroupID: numbered(billingGroupID) })).data.billingGroup,
  });

export const memberPages = (billingGroupID: number) =>
  wholePages(
    ['billing-group', billingGroupID, 'members'],
    () => api.getBillingGroup({ billingGroupID }),
    ({ connectionGroups }) => connectionGroups,
  );

export const periodsQuery = queryOptions({
  queryKey: ['periods'],
  queryFn: async () => (await api.getPeriods({})).data.periods,
  staleTime: 60_000,
});
