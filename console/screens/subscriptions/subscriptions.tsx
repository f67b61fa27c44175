// Subscriptions, found by number, service and status.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { servicesQuery } from '../../api/queries/ledger.ts';
import { subscriptionPages } from '../../api/queries/subscriptions.ts';
import { shownDay } from '../../parts/days.ts';
import { Filters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';
import { NewMeter } from './new-meter.tsx';

const statuses = ['Pending', 'Active', 'Disconnected', 'Closed'] as const;

export function Subscriptions() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { number, service, status } = useSearch({ from: '/inside/subscriptions' });
  const { data: services = [] } = useQuery(servicesQuery);
  const pages = subscriptionPages({
    connectionNumber: number,
    serviceCode: service,
    status: statuses.find((one) => one === status),
  });
  return (
    <Page title={t('subscriptions.title')} actions={<NewMeter />}>
      <Filters
        specs={{
          number: { label: t('bills.subscription') },
          service: {
            label: t('terms.service'),
            kind: 'choice',
            choices: services.map((one) => ({ value: one.serviceCode, label: one.serviceLabel })),
          },
          status: {
            label: t('terms.status'),
            kind: 'choice',
            choices: statuses.map((value) => ({ value, label: t(`status.${value}`) })),
          },
        }}
        values={{ number, service, status }}
        onChange={(search) => navigate({ to: '/subscriptions', search })}
      />
      <List
        pages={pages}
        label={t('subscriptions.title')}
        rowKey={(row) => row.id ?? 0}
        empty={<Empty title={t('subscriptions.none')}>{t('subscriptions.noneHint')}</Empty>}
        columns={[
          {
            key: 'number',
            label: t('bills.subscription'),
            text: (row) => row.connectionNumber,
            show: ({ connectionNumber = '' }) => (
              <PageLink to="/subscriptions/$connectionNumber" params={{ connectionNumber }}>
                {connectionNumber}
              </PageLink>
            ),
          },
          { key: 'party', label: t('bills.customer'), show: (row) => row.partyName },
          { key: 'service', label: t('terms.service'), show: (row) => row.serviceCode },
          { key: 'plan', label: t('customer.plan'), show: (row) => row.tariffLabel },
          { key: 'batch', label: t('subscription.batch'), show: (row) => row.batchCode },
          {
            key: 'status',
            label: t('terms.status'),
            text: (row) => row.status,
            show: ({ status = '' }) => <Status value={status} />,
          },
          {
            key: 'billed',
            label: t('subscription.billedThrough'),
            show: (row) => shownDay(row.billedThrough),
          },
        ]}
      />
    </Page>
  );
}
