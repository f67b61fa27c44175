import { api } from '../client.ts';
import { pagesOf } from './base.ts';

export const paymentPages = (filter: { partyNumber?: number }) =>
  pagesOf(
    ['payments', filter],
    (page) => api.getPayments({ ...filter, page }),
    ({ payments }) => payments,
  );
