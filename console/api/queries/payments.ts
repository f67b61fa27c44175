import { queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { found, numbered } from '../problem.ts';
import { pagesOf } from './base.ts';

type PaymentFilter = Omit<RequestOf<'getPayments'>, 'page' | 'metaData'>;

export const paymentPages = (filter: PaymentFilter) =>
  pagesOf(
    ['payments', filter],
    (page) => api.getPayments({ ...filter, page }),
    ({ payments }) => payments,
  );

export const paymentQuery = (paymentID: number) =>
  queryOptions({
    queryKey: ['payment', paymentID],
    queryFn: async () =>
      found((await api.getPayments({ paymentID: numbered(paymentID) })).data.payments[0]),
  });

export type Desk = DataOf<'getCashDesks'>['cashDesks'][number];

/** Cash desks with what each took on a day, as DD/MM/YYYY; today where it is left out. */
export const cashDesksQuery = (date: string | undefined) =>
  queryOptions({
    queryKey: ['cash-desks', date],
    queryFn: async () => (await api.getCashDesks({ date })).data.cashDesks,
  });

export const approvalPages = (status: 'Waiting' | undefined) =>
  pagesOf(
    ['approvals', status],
    (page) => api.getApprovals({ status, page }),
    ({ approvals }) => approvals,
  );

/** The payments that settled something of a bill. */
export const paymentsOfBillQuery = (billID: number) =>
  queryOptions({
    queryKey: ['payments', 'of bill', billID],
    queryFn: async () => (await api.getPayments({ billID })).data.payments,
  });
