// What an administrator reads: logins, clients, the audit trail, jobs, templates, periods.
import { queryOptions } from '@tanstack/react-query';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../client.ts';
import { pageOf, pagesOf } from './base.ts';
import { wholePages } from './whole.ts';

export type Login = DataOf<'getLogins'>['logins'][number];
export type ApiClient = DataOf<'getClients'>['clients'][number];
export type AuditEntry = DataOf<'getAudit'>['entries'][number];
export type Job = DataOf<'getJobs'>['jobs'][number];
export type Template = DataOf<'getTemplates'>['templates'][number];

export const loginPages = pagesOf(
  ['logins'],
  (page) => api.getLogins({ page }),
  ({ logins }) => logins,
);

export const clientPages = pagesOf(
  ['clients'],
  (page) => api.getClients({ page }),
  ({ clients }) => clients,
);

export const auditPages = (filter: Omit<RequestOf<'getAudit'>, 'page'>) =>
  pagesOf(
    ['audit', filter],
    (page) => api.getAudit({ ...filter, page }),
    ({ entries }) => entries,
  );

export const jobPages = (status: string) =>
  pagesOf(
    ['all jobs', status],
    (page) => api.getJobs({ ...(status === '' ? {} : { status: status as 'Failed' }), page }),
    ({ jobs }) => jobs,
  );

export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: async () => (await api.getTemplates({})).data.templates,
});

export const templatePages = wholePages(
  ['templates'],
  () => api.getTemplates({}),
  ({ templates }) => templates,
);

export const previewQuery = (asked: RequestOf<'previewTemplate'>, key: unknown) =>
  queryOptions({
    queryKey: ['preview', asked, key],
    queryFn: async () => (await api.previewTemplate(asked)).data,
    retry: false,
    gcTime: 0,
  });

export const periodPages = wholePages(
  ['periods'],
  () => api.getPeriods({}),
  ({ periods }) => periods,
);

/** Whether the server and its database answer. */
export const readyQuery = queryOptions({
  queryKey: ['ready'],
  queryFn: async () => {
    const began = performance.now();
    const response = await fetch('/ready');
    const { status } = (await response.json()) as { status: string };
    return { isReady: status === 'ready', milliseconds: Math.round(performance.now() - began) };
  },
  refetchInterval: 15_000,
});

/** So many changes of one thing are shown beside it; the audit trail has all. */
const trailSize = 20;

export const auditOfQuery = (subject: string, subjectID: string) =>
  queryOptions({
    queryKey: ['audit', 'of', subject, subjectID],
    queryFn: async () =>
      (await api.getAudit({ subject, subjectID, page: pageOf(0, trailSize) })).data.entries,
  });
