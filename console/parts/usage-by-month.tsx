// Billed usage by month against the year before: for each subscription and each thing it measures.
import { Card, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type UsageFilter, usageQuery } from '../api/queries/usage.ts';
import { Empty, Loading, Refusal } from './notes.tsx';

const Bars = lazy(() => import('./bars.tsx').then(({ Bars }) => ({ default: Bars })));

export function UsageByMonth({ filter }: { filter: UsageFilter }) {
  const { t } = useTranslation();
  const query = useQuery(usageQuery(filter));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  // All meters of an input together: a meter that was exchanged breaks no row of bars.
  const measured = query.data.filter(({ meterNumber }) => meterNumber === null);
  if (measured.length === 0) {
    return <Empty title={t('portal.noUsage')}>{t('usageByMonth.noneHint')}</Empty>;
  }
  return (
    <Stack>
      {measured.map(({ connectionNumber, input, unit, months }) => {
        const bars = months
          .filter(({ quantity, lastYear }) => quantity !== null || lastYear !== null)
          .map(({ month, quantity, lastYear }) => ({
            label: month,
            value: Number(quantity ?? 0),
            before: Number(lastYear ?? 0),
          }));
        const hasBefore = months.some(({ lastYear }) => lastYear !== null);
        return (
          <Card withBorder key={`${connectionNumber} ${input}`}>
            <Text component="h2" fw={600} translate="no">
              {connectionNumber}
            </Text>
            <Text size="sm" c="dimmed" mb="xs">
              {t('subscription.usageBy', { unit: unit ?? '' })}
            </Text>
            <Suspense fallback={<Loading />}>
              <Bars
                data={bars}
                label={unit ?? input ?? ''}
                {...(hasBefore ? { before: t('portal.lastYear') } : {})}
              />
            </Suspense>
          </Card>
        );
      })}
    </Stack>
  );
}
