import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { wholePages } from './whole.ts';

export type Plan = DataOf<'getTariffs'>['tariffs'][number];
export type Service = DataOf<'getServices'>['services'][number];
export type Trial = RequestOf<'simulateTariff'>;

export const planPages = (serviceCode: string) =>
  wholePages(
    ['plans', serviceCode],
    () => api.getTariffs(serviceCode === '' ? {} : { serviceCode }),
    ({ tariffs }) => tariffs.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b))),
  );

function orderOf(plan: Plan): string {
  return `${plan.serviceCode} ${plan.tariffCode}`;
}

export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: async () => (await api.getTariffs({})).data.tariffs,
});

export async function readPlan(planID: number): Promise<Plan> {
  return found((await api.getTariffs({ tariffID: numbered(planID) })).data.tariffs[0]);
}

export const planQuery = (planID: number) =>
  queryOptions({ queryKey: ['plan', planID], queryFn: () => readPlan(planID) });

/** Every version, the newest first. */
export const planVersionsQuery = (planID: number) =>
  queryOptions({
    queryKey: ['plan', planID, 'versions'],
    queryFn: async () => (await api.getTariffs({ tariffID: planID, versions: true })).data.tariffs,
  });

export const servicesQuery = queryOptions({
  queryKey: ['services'],
  queryFn: async () => (await api.getServices({})).data.services,
});

export const servicePages = wholePages(
  ['services'],
  () => api.getServices({}),
  ({ services }) => services,
);

/** One pricing context with all its definitions. */
export const serviceQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['service', serviceCode],
    queryFn: async () => found((await api.getServices({ serviceCode })).data.services[0]),
  });

/** A bill of the plan as it is typed, or what is wrong with the plan. */
export const trialQuery = (trial: Trial) =>
  queryOptions({
    queryKey: ['trial', trial],
    queryFn: async ({ signal }) => (await api.simulateTariff(trial, { signal })).data,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
