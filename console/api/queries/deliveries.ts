import { queryOptions } from '@tanstack/react-query';
import { api, totalIn } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';

export type DeliveryStatus = 'Queued' | 'Sending' | 'Sent' | 'Delivered' | 'Failed' | 'Uncertain';

export const deliveryPages = (filter: { termID: number; status?: DeliveryStatus }) =>
  pagesOf(
    ['deliveries', filter],
    (page) => api.getDeliveries({ ...filter, page }),
    ({ deliveries }) => deliveries,
  );

/** How many deliveries of a term have a status, of one channel or of all. */
export async function countDeliveries(
  filter: Parameters<typeof api.getDeliveries>[0],
): Promise<number> {
  return totalIn((await api.getDeliveries({ ...filter, page: pageOf(0, 1) })).headers);
}

/** Deliveries that failed or whose outcome is not known. */
export const troubleCountQuery = (termID: number) =>
  queryOptions({
    queryKey: ['deliveries', 'trouble', termID],
    queryFn: async () => {
      const counts = await Promise.all(
        (['Failed', 'Uncertain'] as const).map((status) => countDeliveries({ termID, status })),
      );
      return counts.reduce((sum, one) => sum + one, 0);
    },
  });

/** As many deliveries as one call resolves. */
const resolvedAtOnce = 1_000;

/** The first deliveries of a term with a status, and how many there are. */
export const deliveriesQuery = (filter: { termID: number; status: DeliveryStatus }) =>
  queryOptions({
    queryKey: ['deliveries', 'first', filter],
    queryFn: async () => {
      const page = pageOf(0, resolvedAtOnce);
      const { data, headers } = await api.getDeliveries({ ...filter, page });
      return { deliveries: data.deliveries, total: totalIn(headers) };
    },
  });

const channels = ['Email', 'SMS', 'WhatsApp', 'Portal', 'Print', 'Webhook'] as const;
const statuses = ['Queued', 'Sending', 'Sent', 'Delivered', 'Failed', 'Uncertain'] as const;

/** How the deliveries of a term ended, by channel; channels without any are left out. */
export const outcomeQuery = (termID: number) =>
  queryOptions({
    queryKey: ['deliveries', 'outcome', termID],
    queryFn: async () => {
      const totals = await Promise.all(
        channels.map((channel) => countDeliveries({ termID, channel })),
      );
      const used = channels.filter((_, index) => totals[index] !== 0);
      const counted = await Promise.all(
        used.map(async (channel) => ({
          channel,
          counts: await Promise.all(
            statuses.map((status) => countDeliveries({ termID, channel, status })),
          ),
        })),
      );
      return { channels: counted, statuses };
    },
  });

export const printQuery = (termID: number) =>
  queryOptions({
    queryKey: ['print-files', termID],
    queryFn: async () =>
      (await api.getPrintFiles({ termID, page: pageOf(0, 100) })).data.printFiles,
  });
