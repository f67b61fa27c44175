// Webhooks, their messages, and payment gateways.
import { queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { pagesOf } from './base.ts';
import { wholePages } from './whole.ts';

export type Webhook = DataOf<'getWebhooks'>['webhooks'][number];
export type Message = DataOf<'getWebhookMessages'>['messages'][number];
export type MessageStatus = NonNullable<RequestOf<'getWebhookMessages'>['status']>;
export type Gateway = DataOf<'getGateways'>['gateways'][number];
export type EventType = NonNullable<RequestOf<'getEvents'>['type']>;

/** Messages are sent while the page is open. */
const refetchInterval = 10_000;

export const webhookPages = wholePages(
  ['webhooks'],
  () => api.getWebhooks({}),
  ({ webhooks }) => webhooks,
);

/** A workspace has twenty webhooks at most. */
export const webhookQuery = (webhookID: number) =>
  queryOptions({
    queryKey: ['webhooks', webhookID],
    queryFn: async () => {
      const { webhooks } = (await api.getWebhooks({})).data;
      return webhooks.find((one) => one.webhookID === webhookID) ?? null;
    },
    refetchInterval,
  });

export const messagePages = (webhookID: number, status: MessageStatus | undefined) => {
  const pages = pagesOf(
    ['webhooks', webhookID, 'messages', status],
    (page) => api.getWebhookMessages({ webhookID, ...(status ? { status } : {}), page }),
    ({ messages }) => messages,
  );
  return (pageNumber: number, size?: number) => ({ ...pages(pageNumber, size), refetchInterval });
};

export const gatewayPages = wholePages(
  ['gateways'],
  () => api.getGateways({}),
  ({ gateways }) => gateways,
);
