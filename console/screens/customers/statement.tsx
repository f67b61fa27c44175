// The statement of a customer: every entry with the balance after it, and what is owed by age.
import { Card, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { daysSent, statementQuery } from '../../api/queries/customers.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FileButton } from '../../parts/file.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';

export function Statement({ partyNumber }: { partyNumber: number }) {
  const { t } = useTranslation();
  const [days, setDays] = useState({ fromDate: '', toDate: '' });
  const query = useQuery(statementQuery(partyNumber, days));
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { entries, openingBalance, closingBalance, aging, total } = query.data;
  const ages = Object.entries(aging) as [keyof typeof aging, number][];
  return (
    <Stack>
      <Group align="flex-end">
        {(['fromDate', 'toDate'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={t(name === 'fromDate' ? 'from' : 'to')}
            value={days[name]}
            onChange={(event) => setDays({ ...days, [name]: event.currentTarget.value })}
          />
        ))}
        <FileButton
          label={t('statement.pdf')}
          name={`statement-${partyNumber}.pdf`}
          load={() => api.getStatementDocument({ partyNumber, ...daysSent(days), format: 'PDF' })}
        />
      </Group>
      {total > entries.length && (
        <Text size="sm">{t('statement.first', { shown: entries.length, total })}</Text>
      )}
      <Card withBorder {...scrolls(t('statement.title'))}>
        <Table aria-label={t('statement.title')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('statement.date')}</Table.Th>
              <Table.Th>{t('statement.what')}</Table.Th>
              <Table.Th className="figure">{t('statement.debit')}</Table.Th>
              <Table.Th className="figure">{t('statement.credit')}</Table.Th>
              <Table.Th className="figure">{t('statement.balance')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Table.Td />
              <Table.Td>{t('statement.opening')}</Table.Td>
              <Table.Td />
              <Table.Td />
              <Table.Td className="figure">
                <Amount value={openingBalance} />
              </Table.Td>
            </Table.Tr>
            {entries.map((entry, index) => (
              // Entries have no id; they are shown in the order of the server and never change it.
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <Table.Tr key={index}>
                <Table.Td>{entry.date}</Table.Td>
                <Table.Td>
                  {t(`entryKind.${entry.type}`, { defaultValue: entry.type })} {entry.reference}
                  {entry.description !== null && (
                    <Text size="xs" c="dimmed">
                      {entry.description}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td className="figure">
                  {entry.debit !== 0 && <Amount value={entry.debit} />}
                </Table.Td>
                <Table.Td className="figure">
                  {entry.credit !== 0 && <Amount value={entry.credit} />}
                </Table.Td>
                <Table.Td className="figure">
                  <Amount value={entry.balance} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Td />
              <Table.Th scope="row">{t('statement.closing')}</Table.Th>
              <Table.Td />
              <Table.Td />
              <Table.Td className="figure">
                <Amount value={closingBalance} />
              </Table.Td>
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </Card>
      <Figures
        items={ages.map(([age, value]) => ({
          label: t(`statement.${age}`),
          value: <Money value={value} />,
        }))}
      />
    </Stack>
  );
}
