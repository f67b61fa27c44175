import type { RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { pagesOf } from './base.ts';

type DunningFilter = Omit<RequestOf<'getDunning'>, 'page' | 'metaData'>;

export const dunningPages = (filter: DunningFilter) =>
  pagesOf(
    ['dunning', filter],
    (page) => api.getDunning({ ...filter, page }),
    ({ dunning }) => dunning,
  );

type DisputeFilter = Omit<RequestOf<'getDisputes'>, 'page' | 'metaData'>;

export const disputePages = (filter: DisputeFilter) =>
  pagesOf(
    ['disputes', filter],
    (page) => api.getDisputes({ ...filter, page }),
    ({ disputes }) => disputes,
  );
