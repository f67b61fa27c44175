import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { Missing } from '../missing.ts';

/** A service with all its definitions. */
export const serviceQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['service', serviceCode],
    queryFn: async () => {
      const [service] = (await api.getServices({ serviceCode })).data.services;
      if (!service) throw new Missing();
      return service;
    },
    staleTime: 60_000,
  });

/** The plans of a service, each in short. */
export const plansQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['plans', serviceCode],
    queryFn: async () => (await api.getTariffs({ serviceCode })).data.tariffs,
  });

/** A plan with its values and rules. */
export const planQuery = (tariffID: number) =>
  queryOptions({
    queryKey: ['plan', tariffID],
    queryFn: async () => {
      const [plan] = (await api.getTariffs({ tariffID })).data.tariffs;
      if (!plan) throw new Missing();
      return plan;
    },
  });
