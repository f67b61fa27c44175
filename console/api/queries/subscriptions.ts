import { queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { pagesOf } from './base.ts';
import { wholePages } from './whole.ts';

export type Meter = DataOf<'getMeters'>['meters']['meters'][number];
export type SubscriptionData = DataOf<'getConnections'>['connections'][number];
type Filter = Omit<RequestOf<'getConnections'>, 'page' | 'metaData'>;

export const subscriptionPages = (filter: Filter) =>
  pagesOf(
    ['subscriptions', filter],
    (page) => api.getConnections({ ...filter, page }),
    ({ connections }) => connections,
  );

/** One subscription with its newest readings and bills. */
export const subscriptionQuery = (connectionNumber: string) =>
  queryOptions({
    queryKey: ['subscription', connectionNumber],
    queryFn: async () => {
      const filters = { readings: true, bills: true };
      return found((await api.getConnections({ connectionNumber, filters })).data.connections[0]);
    },
  });

/** The plans of a service that a subscription can have. */
export const plansQuery = (serviceCode: string) =>
  queryOptions({
    queryKey: ['plans', serviceCode, 'offered'],
    queryFn: async () => {
      const { tariffs } = (await api.getTariffs({ serviceCode, kinds: true })).data;
      return tariffs.filter((plan) => plan.abstract !== 1 && plan.archiveStatus !== 1);
    },
  });

export type ReadingFilter = { connectionNumber: string } | { number: number };

export const readingPages = (filter: ReadingFilter) =>
  pagesOf(
    ['readings', filter],
    (page) => api.getReadings({ ...filter, page }),
    ({ readings }) => readings,
  );

/** A meter with its brand. */
export const meterQuery = (number: number) =>
  queryOptions({
    queryKey: ['meter', number],
    queryFn: async () => {
      const metaData = { fields: [...meterFields] };
      const { meters } = (await api.getMeters({ number: numbered(number), metaData })).data;
      return found(meters.meters[0]);
    },
  });

const meterFields = [
  ...['number', 'meterType', 'brand', 'meterHealth'],
  ...['mf', 'status', 'modifiedBy', 'ts'],
];

export type MeterType = DataOf<'getMeterMetaData'>['meterTypes'][number];

export const meterTypePages = wholePages(
  ['meter-meta-data'],
  () => api.getMeterMetaData({}),
  ({ meterTypes }) => meterTypes,
);

/** The types that a new meter can have, and the brands that are known. */
export const meterMetaDataQuery = queryOptions({
  queryKey: ['meter-meta-data'],
  queryFn: async () => (await api.getMeterMetaData({})).data,
  staleTime: 60_000,
});
