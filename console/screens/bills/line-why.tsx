// Why a line has its amount: the formula, the names in it, and where each value came from.
import { Card, Code, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { explanationQuery } from '../../api/queries/bills.ts';
import { Loading, Refusal } from '../../parts/notes.tsx';

export function LineWhy({ billID, lineNo }: { billID: number; lineNo: number }) {
  const { t } = useTranslation();
  const query = useQuery(explanationQuery(billID, lineNo));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} />;
  return (
    <Stack mt="sm" aria-live="polite">
      {query.data.map((line) => (
        <Card key={`${line.lineNo} ${line.fromDate}`} withBorder padding="sm">
          <Text size="sm" mb="xs">
            {line.text}
          </Text>
          {line.formula !== null && <Code block>{line.formula}</Code>}
          {line.names.length > 0 && (
            <Stack component="dl" gap={4} mt="xs" mb={0} aria-label={t('bill.values')}>
              {line.names.map(({ name, value, unit, source }) => (
                <div key={name}>
                  <Text component="dt" size="sm" fw={600}>
                    {name}
                  </Text>
                  <Text component="dd" size="sm" m={0} ml="md">
                    {value} {unit}{' '}
                    <Text span size="xs" c="dimmed">
                      {sourceText(source)}
                    </Text>
                  </Text>
                </div>
              ))}
            </Stack>
          )}
        </Card>
      ))}
    </Stack>
  );
}

/** The parts of a source that are words or numbers, as "kind: Reading, meterNumber: 7". */
function sourceText(source: object): string {
  return Object.entries(source)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}
