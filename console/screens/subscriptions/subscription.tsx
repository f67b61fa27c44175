// One subscription: its state, plan, meters with their usage, bills and history, and what can be
// changed.
import { Card, Stack, Table, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type SubscriptionData, subscriptionQuery } from '../../api/queries/subscriptions.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { shownDay } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';
import { AddressTabs } from '../../parts/tabs.tsx';
import { Meters } from './meters.tsx';
import { SubscriptionActions } from './subscription-actions.tsx';
import { Usage } from './usage.tsx';

export function Subscription() {
  const { t } = useTranslation();
  const { connectionNumber } = useParams({ from: '/inside/subscriptions/$connectionNumber' });
  const query = useQuery(subscriptionQuery(connectionNumber));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const subscription = query.data;
  return (
    <Page
      title={t('subscription.heading', { number: connectionNumber })}
      crumbs={[{ label: t('subscriptions.title'), to: '/subscriptions' }]}
      hint={
        <PageLink
          to="/customers/$partyNumber"
          params={{ partyNumber: String(subscription.partyNumber) }}
        >
          {subscription.partyName}
        </PageLink>
      }
      actions={<SubscriptionActions subscription={subscription} />}
    >
      <Figures
        items={[
          { label: t('terms.status'), value: <Status value={subscription.status ?? ''} /> },
          { label: t('terms.service'), value: subscription.serviceCode },
          { label: t('customer.plan'), value: subscription.tariffLabel },
          { label: t('subscription.batch'), value: subscription.batchCode },
          { label: t('subscription.since'), value: shownDay(subscription.connectionDate) },
          {
            label: t('subscription.billedThrough'),
            value: shownDay(subscription.billedThrough) || '–',
          },
          ...(subscription.accounts ?? []).map((one) => ({
            label: t(`accountName.${one.title}`, { defaultValue: one.title }),
            value: <Money value={one.balance} />,
          })),
        ]}
      />
      <AddressTabs usual="meters">
        <Tabs.List>
          <Tabs.Tab value="meters">{t('subscription.meters')}</Tabs.Tab>
          <Tabs.Tab value="usage">{t('subscription.usage')}</Tabs.Tab>
          <Tabs.Tab value="bills">{t('bills.title')}</Tabs.Tab>
          <Tabs.Tab value="history">{t('subscription.history')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="meters" pt="sm">
          <Meters subscription={subscription} />
        </Tabs.Panel>
        <Tabs.Panel value="usage" pt="sm">
          <Usage connectionNumber={connectionNumber} bills={subscription.bills ?? []} />
        </Tabs.Panel>
        <Tabs.Panel value="bills" pt="sm">
          <Bills bills={subscription.bills ?? []} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="sm">
          <History subscription={subscription} />
        </Tabs.Panel>
      </AddressTabs>
    </Page>
  );
}

function Bills({ bills }: { bills: NonNullable<SubscriptionData['bills']> }) {
  const { t } = useTranslation();
  if (bills.length === 0) {
    return <Empty title={t('bills.none')}>{t('customer.noBillHint')}</Empty>;
  }
  return (
    <Card withBorder {...scrolls(t('bills.title'))}>
      <Table aria-label={t('bills.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bills.number')}</Table.Th>
            <Table.Th>{t('bills.term')}</Table.Th>
            <Table.Th>{t('terms.status')}</Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
            <Table.Th className="figure">{t('bills.open')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bills.map((bill) => (
            <Table.Tr key={bill.billID}>
              <Table.Td>
                <PageLink to="/bills/$billID" params={{ billID: String(bill.billID) }}>
                  {bill.billNumber ?? bill.billRefNo}
                </PageLink>
              </Table.Td>
              <Table.Td>{bill.termLabel}</Table.Td>
              <Table.Td>
                <Status value={bill.issueDate ? bill.paymentStatus : bill.status} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={bill.billAmount} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={bill.outstandingAmount} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

/** States, plans and owners by date, the newest first. */
function History({ subscription }: { subscription: SubscriptionData }) {
  const { t } = useTranslation();
  const { statusHistory = [], tariffHistory = [], transfers = [] } = subscription;
  const events = [
    ...statusHistory.map((one) => ({
      date: shownDay(one.fromDate),
      what: [t(`status.${one.status}`), one.kind, one.reason].filter(Boolean).join(' · '),
    })),
    ...tariffHistory.map((one) => ({
      date: shownDay(one.fromDate),
      what: t('subscription.planFrom', { plan: one.tariffCode }),
    })),
    ...transfers.map((one) => ({
      date: shownDay(one.transferDate),
      what: t('subscription.transferred', {
        from: one.fromPartyName ?? '–',
        to: one.toPartyName ?? '–',
      }),
    })),
  ];
  const newest = events.toSorted((a, b) => sortable(b.date).localeCompare(sortable(a.date)));
  return (
    <Stack gap="xs" component="ol" style={{ listStyle: 'none' }} p={0} m={0}>
      {newest.map(({ date, what }) => (
        <Text key={`${date} ${what}`} component="li" size="sm">
          <Text span fw={500}>
            {date}
          </Text>{' '}
          {what}
        </Text>
      ))}
    </Stack>
  );
}

/** 31/07/2026 as 20260731. */
function sortable(date: string): string {
  return date.split('/').reverse().join('');
}
