// The customer's usage by month against the year before.
import { Card, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { ownBillsQuery } from '../api/queries/portal.ts';
import type { ListedBill } from '../parts/bill-columns.tsx';
import { Empty, Loading, Refusal } from '../parts/notes.tsx';
import { usePageTitle } from '../parts/page.tsx';

const Bars = lazy(() => import('../parts/bars.tsx').then(({ Bars }) => ({ default: Bars })));

export function PortalUsage() {
  const { t } = useTranslation();
  const query = useQuery(ownBillsQuery);
  usePageTitle(t('portal.usage'));
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const measured = query.data.filter((bill) => bill.usage.length > 0);
  const byNumber = Map.groupBy(measured, (bill) => bill.connectionNumber ?? '');
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('portal.usage')}
      </Title>
      {byNumber.size === 0 && <Empty title={t('portal.noUsage')}>{t('portal.noUsageHint')}</Empty>}
      {[...byNumber].map(([number, bills]) => (
        <UsageOf key={number} number={number} bills={bills} />
      ))}
    </Stack>
  );
}

function UsageOf({ number, bills }: { number: string; bills: readonly ListedBill[] }) {
  const { t } = useTranslation();
  const unit = bills[0]?.usage[0]?.unit ?? '';
  // Newest first: the thirteenth bill before is the same month of the year before.
  const bars = bills
    .slice(0, 12)
    .map((bill, index) => {
      const before = bills[index + 12];
      return {
        label: bill.termLabel,
        value: quantityOf(bill),
        ...(before ? { before: quantityOf(before) } : {}),
      };
    })
    .reverse();
  const hasBefore = bars.some((bar) => bar.before !== undefined);
  return (
    <Card withBorder>
      <Title order={2} size="h4">
        {number}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('subscription.usageBy', { unit })}
      </Text>
      <Suspense fallback={<Loading />}>
        <Bars data={bars} label={unit} {...(hasBefore ? { before: t('portal.lastYear') } : {})} />
      </Suspense>
    </Card>
  );
}

function quantityOf(bill: ListedBill): number {
  return Number(bill.usage[0]?.quantity ?? 0);
}
