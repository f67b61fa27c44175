// The customer's bills with their files, and the statement of the account.
import { Card, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { ownBillPages, ownStatementQuery } from '../api/queries/portal.ts';
import { useSession } from '../api/session.ts';
import { Amount } from '../parts/amount.tsx';
import { FileButton } from '../parts/file.tsx';
import { List } from '../parts/list.tsx';
import { Empty, Loading, Refusal } from '../parts/notes.tsx';
import { usePageTitle } from '../parts/page.tsx';
import { scrolls } from '../parts/scrolls.ts';
import { Status } from '../parts/status.tsx';

export function PortalBills() {
  const { t } = useTranslation();
  usePageTitle(t('portal.bills'));
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('portal.bills')}
      </Title>
      <List
        pages={ownBillPages}
        label={t('portal.bills')}
        rowKey={(bill) => bill.billID}
        empty={<Empty title={t('bills.none')}>{t('portal.noBill')}</Empty>}
        columns={[
          {
            key: 'term',
            label: t('bills.term'),
            isNarrow: true,
            text: (bill) => `${bill.termLabel} ${bill.billNumber} ${bill.paymentStatus}`,
            show: (bill) => (
              <>
                {bill.termLabel}
                <Text size="xs" c="dimmed">
                  {bill.billNumber}
                </Text>
              </>
            ),
          },
          {
            key: 'amount',
            label: t('bills.amount'),
            isFigure: true,
            text: (bill) => bill.billAmount,
            show: (bill) => (
              <Stack gap={2} align="flex-end">
                <Amount value={bill.billAmount} />
                <Status value={bill.paymentStatus} />
              </Stack>
            ),
          },
          {
            key: 'file',
            label: t('portal.file'),
            show: (bill) => (
              <FileButton
                isSmall
                label={t('portal.pdf')}
                name={`${bill.billNumber}.pdf`}
                load={() => api.getBillDocument({ billID: bill.billID, format: 'PDF' })}
              />
            ),
          },
        ]}
      />
      <Statement />
    </Stack>
  );
}

function Statement() {
  const { t } = useTranslation();
  const partyNumber = useSession()?.user.partyNumber ?? 0;
  const query = useQuery(ownStatementQuery(partyNumber));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { entries, balanceBefore, closingBalance, total } = query.data;
  const isCut = total > entries.length;
  return (
    <Card withBorder {...scrolls(t('statement.title'))}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('statement.title')}
        </Title>
        <FileButton
          label={t('portal.pdf')}
          name="statement.pdf"
          load={() => api.getStatementDocument({ partyNumber, format: 'PDF' })}
        />
      </Group>
      {isCut && (
        <Text size="sm">{t('portal.newestEntries', { shown: entries.length, total })}</Text>
      )}
      <Table aria-label={t('statement.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th visibleFrom="sm">{t('statement.date')}</Table.Th>
            <Table.Th>{t('statement.what')}</Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
            <Table.Th className="figure">{t('statement.balance')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {isCut && <Balance label={t('statement.before')} value={balanceBefore} />}
          {entries.map((entry, index) => (
            // Entries have no id; they are shown in the order of the server and never change it.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <Table.Tr key={index}>
              <Table.Td visibleFrom="sm">{entry.date}</Table.Td>
              <Table.Td>
                <Text size="xs" c="dimmed" hiddenFrom="sm">
                  {entry.date}
                </Text>
                {t(`entryKind.${entry.type}`, { defaultValue: entry.type })} {entry.reference}
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={entry.debit === 0 ? -entry.credit : entry.debit} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={entry.balance} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Balance label={t('statement.closing')} value={closingBalance} />
        </Table.Tfoot>
      </Table>
    </Card>
  );
}

function Balance({ label, value }: { label: string; value: number }) {
  return (
    <Table.Tr>
      <Table.Td visibleFrom="sm" />
      <Table.Th scope="row">{label}</Table.Th>
      <Table.Td />
      <Table.Td className="figure">
        <Amount value={value} />
      </Table.Td>
    </Table.Tr>
  );
}
