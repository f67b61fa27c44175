import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { found, numbered } from '../problem.ts';

/** A service with all its definitions. */
export const serviceQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['service', serviceCode],
    queryFn: async () => found((await api.getServices({ serviceCode })).data.services[0]),
    staleTime: 60_000,
  });

/** The plans of a service, each in short. */
export const plansQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['plans', serviceCode],
    queryFn: async () => (await api.getTariffs({ serviceCode, kinds: true })).data.tariffs,
  });

/** A plan with its values and rules. */
export const planQuery = (tariffID: number) =>
  queryOptions({
    queryKey: ['plan', tariffID],
    queryFn: async () =>
      found((await api.getTariffs({ tariffID: numbered(tariffID) })).data.tariffs[0]),
  });
