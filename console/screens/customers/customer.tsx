// A customer on one page: what is owed, subscriptions, bills, payments, statement.
import { Card, Table, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { billPages } from '../../api/queries/bills.ts';
import { customerQuery } from '../../api/queries/customers.ts';
import { paymentPages } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { isolated } from '../../language/isolated.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { billColumns } from '../../parts/bill-columns.tsx';
import { Figures } from '../../parts/figures.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { paymentColumns } from '../../parts/payment-columns.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';
import { AddressTabs, TabLine } from '../../parts/tabs.tsx';
import { TakePayment } from '../../parts/take-payment.tsx';
import { Trail } from '../../parts/trail.tsx';
import { UsageByMonth } from '../../parts/usage-by-month.tsx';
import { BillingAccounts } from './accounts.tsx';
import { CustomerActions } from './customer-actions.tsx';
import { Deposits } from './deposits.tsx';
import { FormerNotice } from './former.tsx';
import { Notes } from './notes.tsx';
import { Statement } from './statement.tsx';

type Party = DataOf<'getUsers'>['user'];

export function Customer() {
  const { t } = useTranslation();
  const partyNumber = Number(useParams({ from: '/inside/customers/$partyNumber' }).partyNumber);
  const { tab = 'subscriptions' } = useSearch({ from: '/inside/customers/$partyNumber' });
  const query = useQuery(customerQuery(partyNumber));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const party = query.data;
  const contacts = party.contacts.map((one) => one.contactValue);
  const known = [String(partyNumber), party.email ?? '', ...contacts].filter((one) => one !== '');
  return (
    <Page
      title={party.name}
      crumbs={[{ label: t('customers.title'), to: '/customers' }]}
      hint={known.map(isolated).join(' · ')}
      actions={
        <>
          <CustomerActions party={party} />
          {mayUse('payments:write') && <TakePayment partyNumber={partyNumber} />}
        </>
      }
    >
      <FormerNotice party={party} />
      <Figures
        items={[
          { label: t('customer.owes'), value: <Money value={party.outstandingAccount.balance} /> },
          { label: t('customer.wallet'), value: <Money value={party.walletAccount.balance} /> },
          { label: t('customer.subscriptions'), value: party.subscriptions.length },
        ]}
      />
      <AddressTabs usual="subscriptions">
        <TabLine open={tab}>
          <Tabs.Tab value="subscriptions">{t('customer.subscriptions')}</Tabs.Tab>
          {mayUse('subscriptions:read') && (
            <Tabs.Tab value="usage">{t('subscription.usage')}</Tabs.Tab>
          )}
          <Tabs.Tab value="accounts">{t('groups.accounts')}</Tabs.Tab>
          {mayUse('bills:read') && <Tabs.Tab value="bills">{t('bills.title')}</Tabs.Tab>}
          {mayUse('payments:read') && <Tabs.Tab value="payments">{t('payments.title')}</Tabs.Tab>}
          {mayUse('payments:read') && <Tabs.Tab value="statement">{t('statement.title')}</Tabs.Tab>}
          {mayUse('payments:read') && <Tabs.Tab value="deposits">{t('deposits.tab')}</Tabs.Tab>}
          <Tabs.Tab value="notes">{t('notes.title')}</Tabs.Tab>
          {mayUse('audit:read') && <Tabs.Tab value="history">{t('trail.title')}</Tabs.Tab>}
        </TabLine>
        <Tabs.Panel value="subscriptions" pt="sm">
          <Subscriptions party={party} />
        </Tabs.Panel>
        <Tabs.Panel value="usage" pt="sm">
          <UsageByMonth filter={{ partyNumber }} />
        </Tabs.Panel>
        <Tabs.Panel value="accounts" pt="sm">
          <BillingAccounts party={party} />
        </Tabs.Panel>
        <Tabs.Panel value="bills" pt="sm">
          <Bills partyID={party.partyID} />
        </Tabs.Panel>
        <Tabs.Panel value="payments" pt="sm">
          <Payments partyNumber={partyNumber} />
        </Tabs.Panel>
        <Tabs.Panel value="statement" pt="sm">
          <Statement partyNumber={partyNumber} />
        </Tabs.Panel>
        <Tabs.Panel value="deposits" pt="sm">
          <Deposits party={party} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="sm">
          <Trail subject="party" subjectID={party.partyID} />
        </Tabs.Panel>
        <Tabs.Panel value="notes" pt="sm">
          <Notes partyNumber={partyNumber} />
        </Tabs.Panel>
      </AddressTabs>
    </Page>
  );
}

function Subscriptions({ party }: { party: Party }) {
  const { t } = useTranslation();
  if (party.subscriptions.length === 0) {
    return <Empty title={t('customer.noSubscription')}>{t('customer.noSubscriptionHint')}</Empty>;
  }
  return (
    <Card withBorder {...scrolls(t('customer.subscriptions'))}>
      <Table aria-label={t('customer.subscriptions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bills.subscription')}</Table.Th>
            <Table.Th>{t('terms.service')}</Table.Th>
            <Table.Th>{t('customer.plan')}</Table.Th>
            <Table.Th>{t('terms.status')}</Table.Th>
            <Table.Th className="figure">{t('customer.owes')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {party.subscriptions.map((one) => (
            <Table.Tr key={one.id}>
              <Table.Td>
                {mayUse('subscriptions:read') ? (
                  <PageLink
                    to="/subscriptions/$connectionNumber"
                    params={{ connectionNumber: one.connectionNumber }}
                  >
                    {one.connectionNumber}
                  </PageLink>
                ) : (
                  one.connectionNumber
                )}
              </Table.Td>
              <Table.Td>{one.serviceCode}</Table.Td>
              <Table.Td>{one.tariffCode}</Table.Td>
              <Table.Td>
                <Status value={one.status} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={one.balance} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

function Bills({ partyID }: { partyID: number }) {
  const { t } = useTranslation();
  return (
    <List
      pages={billPages({ partyID })}
      label={t('bills.title')}
      rowKey={(bill) => bill.billID}
      empty={<Empty title={t('bills.none')}>{t('customer.noBillHint')}</Empty>}
      columns={billColumns(t, [
        { key: 'term', label: t('bills.term'), show: (bill) => bill.termLabel },
        { key: 'due', label: t('terms.due'), show: (bill) => bill.dueDate },
        {
          key: 'status',
          label: t('terms.status'),
          text: (bill) => (bill.issueDate ? bill.paymentStatus : bill.status),
          groups: (bill) => t(`status.${bill.issueDate ? bill.paymentStatus : bill.status}`),
          show: (bill) => <Status value={bill.issueDate ? bill.paymentStatus : bill.status} />,
        },
      ])}
    />
  );
}

function Payments({ partyNumber }: { partyNumber: number }) {
  const { t } = useTranslation();
  return (
    <List
      pages={paymentPages({ partyNumber })}
      label={t('payments.title')}
      rowKey={(payment) => payment.paymentID ?? 0}
      empty={<Empty title={t('payments.none')}>{t('payments.noneHint')}</Empty>}
      columns={paymentColumns(t)}
    />
  );
}
