// The statement of a customer: every entry with the balance after it, and what is owed by age.
import { Card, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { daysSent, type newestEntries, statementQuery } from '../../api/queries/customers.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { DayField } from '../../parts/day-field.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FileButton } from '../../parts/file.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';

type StatementData = Awaited<ReturnType<typeof newestEntries>>;

export function Statement({ partyNumber }: { partyNumber: number }) {
  const { t } = useTranslation();
  const [days, setDays] = useState({ fromDate: '', toDate: '' });
  const query = useQuery(statementQuery(partyNumber, days));
  return (
    <Stack>
      <Group align="flex-end">
        {(['fromDate', 'toDate'] as const).map((name) => (
          <DayField
            key={name}
            label={t(name === 'fromDate' ? 'from' : 'to')}
            value={days[name]}
            onChange={(day) => setDays((before) => ({ ...before, [name]: day }))}
          />
        ))}
        <FileButton
          label={t('statement.pdf')}
          name={`statement-${partyNumber}.pdf`}
          load={() => api.getStatementDocument({ partyNumber, ...daysSent(days), format: 'PDF' })}
        />
      </Group>
      {query.isPending && <Loading />}
      {query.isLoadingError && <Refusal error={query.error} onRetry={() => query.refetch()} />}
      {query.data && <Entries statement={query.data} />}
    </Stack>
  );
}

function Entries({ statement }: { statement: StatementData }) {
  const { t } = useTranslation();
  const { entries, balanceBefore, closingBalance, aging, total } = statement;
  const isCut = total > entries.length;
  return (
    <>
      {isCut && <Text size="sm">{t('statement.newest', { shown: entries.length, total })}</Text>}
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
              <Table.Td>{t(isCut ? 'statement.before' : 'statement.opening')}</Table.Td>
              <Table.Td />
              <Table.Td />
              <Table.Td className="figure">
                <Amount value={balanceBefore} />
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
      <Ages aging={aging} />
    </>
  );
}

function Ages({ aging }: Pick<StatementData, 'aging'>) {
  const { t } = useTranslation();
  const ages = Object.entries(aging) as [keyof typeof aging, number][];
  return (
    <Figures
      items={ages.map(([age, value]) => ({
        label: t(`statement.${age}`),
        value: <Money value={value} />,
      }))}
    />
  );
}
