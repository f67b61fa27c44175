// The books: trial balance with its proof, journals, the chart of accounts, and the end of a month.
import { Alert, Card, Table, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { journalPages, trialBalanceQuery } from '../../api/queries/ledger.ts';
import { mayUse, today } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import { monthBefore, toWire } from '../../parts/days.ts';
import { Filters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { AddressTabs } from '../../parts/tabs.tsx';
import { Accounts, accountName } from './accounts.tsx';
import { ExportMonth } from './export-month.tsx';

export function Ledger() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { tab, from, to, account } = useSearch({ from: '/inside/ledger' });
  const days = { fromDate: from && toWire(from), toDate: to && toWire(to) };
  return (
    <Page
      title={t('ledger.title')}
      actions={
        <>
          <ExportMonth />
          {mayUse('ledger:close') && <CloseMonth />}
        </>
      }
    >
      {tab !== 'accounts' && (
        <Filters
          key={account}
          specs={{
            from: { label: t('from'), kind: 'date' },
            to: { label: t('to'), kind: 'date' },
            account: { label: t('ledger.account') },
          }}
          values={{ from, to, account }}
          onChange={(search) => navigate({ to: '/ledger', search: { tab, ...search } })}
        />
      )}
      <AddressTabs usual="balance">
        <Tabs.List>
          <Tabs.Tab value="balance">{t('ledger.trialBalance')}</Tabs.Tab>
          <Tabs.Tab value="journals">{t('ledger.journals')}</Tabs.Tab>
          <Tabs.Tab value="accounts">{t('ledger.accounts')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="balance" pt="sm">
          <TrialBalance days={days} />
        </Tabs.Panel>
        <Tabs.Panel value="journals" pt="sm">
          <Journals filter={{ ...days, accountCode: account }} />
        </Tabs.Panel>
        <Tabs.Panel value="accounts" pt="sm">
          <Accounts />
        </Tabs.Panel>
      </AddressTabs>
    </Page>
  );
}

type Days = { fromDate?: string; toDate?: string };

function TrialBalance({ days }: { days: Days }) {
  const { t } = useTranslation();
  const query = useQuery(trialBalanceQuery(days));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { accounts, totals, asOf } = query.data;
  const isProven = totals.difference === 0;
  return (
    <>
      <Alert
        color={isProven ? 'teal' : 'red'}
        mb="sm"
        title={isProven ? t('ledger.proven', { asOf }) : t('ledger.notProven', { asOf })}
      />
      <Card withBorder {...scrolls(t('ledger.trialBalance'))}>
        <Table aria-label={t('ledger.trialBalance')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('ledger.account')}</Table.Th>
              <Table.Th className="figure">{t('statement.debit')}</Table.Th>
              <Table.Th className="figure">{t('statement.credit')}</Table.Th>
              <Table.Th className="figure">{t('statement.balance')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {accounts.map((one) => (
              <Table.Tr key={one.accountCode}>
                <Table.Td>
                  {one.accountCode} · {accountName(t, one.name)}
                </Table.Td>
                <Figure value={one.debit} />
                <Figure value={one.credit} />
                <Figure value={one.balance} />
              </Table.Tr>
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th scope="row">{t('ledger.total')}</Table.Th>
              <Figure value={totals.debit} />
              <Figure value={totals.credit} />
              <Figure value={totals.difference} />
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </Card>
    </>
  );
}

function Figure({ value }: { value: number }) {
  return (
    <Table.Td className="figure">
      <Amount value={value} />
    </Table.Td>
  );
}

function Journals({ filter }: { filter: Days & { accountCode?: string } }) {
  const { t } = useTranslation();
  return (
    <List
      pages={journalPages(filter)}
      label={t('ledger.journals')}
      rowKey={(journal) => journal.journalID ?? 0}
      empty={<Empty title={t('ledger.none')}>{t('ledger.noneHint')}</Empty>}
      columns={[
        { key: 'number', label: t('ledger.journal'), show: (journal) => journal.journalID },
        { key: 'date', label: t('payments.date'), show: (journal) => journal.postingDate },
        {
          key: 'source',
          label: t('ledger.source'),
          show: ({ sourceType }) => t(`entryKind.${sourceType}`, { defaultValue: sourceType }),
        },
        { key: 'what', label: t('statement.what'), show: (journal) => journal.description },
        {
          key: 'lines',
          label: t('ledger.entries'),
          text: ({ lines = [] }) =>
            lines.map((one) => `${one.accountCode} ${one.debit} ${one.credit}`).join('; '),
          show: ({ lines = [] }) =>
            lines.map((one) => (
              <Text key={`${one.accountCode} ${one.component} ${one.debit}`} size="xs">
                {one.accountCode} {one.debit === 0 ? t('ledger.cr') : t('ledger.dr')}{' '}
                <Amount value={one.debit === 0 ? one.credit : one.debit} />
              </Text>
            )),
        },
      ]}
    />
  );
}

function CloseMonth() {
  const { t } = useTranslation();
  const fields = {
    month: { label: t('ledger.month'), hint: 'MM/YYYY', initial: lastMonth(), required: true },
    reason: { label: t('reason'), required: true },
  };
  return (
    <>
      <ActionDialog
        label={t('ledger.reopen')}
        fields={{ ...fields, month: { ...fields.month, initial: '' } }}
        send={({ month = '', reason = '' }) => api.reopenMonth({ data: { month, reason } })}
      />
      <ActionDialog
        label={t('ledger.close')}
        effect={<Text size="sm">{t('ledger.closeEffect')}</Text>}
        fields={{
          ...fields,
          carryResult: {
            label: t('ledger.carryResult'),
            hint: t('ledger.carryResultHint'),
            kind: 'yes',
          },
        }}
        send={({ month = '', reason = '', carryResult }) =>
          api.closeMonth({ data: { month, reason, carryResult: carryResult === 'yes' } })
        }
      />
    </>
  );
}

/** 10/2026 in November. */
function lastMonth(): string {
  return toWire(monthBefore(today()).start.slice(0, 7));
}
