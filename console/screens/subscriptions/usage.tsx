// Usage by bill beside the same months of the year before, and the readings behind it.
import { Card, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { SubscriptionData } from '../../api/queries/subscriptions.ts';
import { Loading } from '../../parts/notes.tsx';
import { ReadingList } from './reading-list.tsx';

const Bars = lazy(() => import('../../parts/bars.tsx').then(({ Bars }) => ({ default: Bars })));

export function Usage({
  connectionNumber,
  bills,
}: {
  connectionNumber: string;
  bills: NonNullable<SubscriptionData['bills']>;
}) {
  const { t } = useTranslation();
  const bars = bills
    .filter((bill) => bill.usage.length > 0 && bill.status !== 'Cancelled')
    .slice(0, 13)
    .reverse()
    .map((bill) => ({
      label: bill.termLabel,
      value: Number(bill.usage[0]?.quantity ?? 0),
    }));
  const unit = bills.find((bill) => bill.usage.length > 0)?.usage[0]?.unit ?? '';
  return (
    <>
      {bars.length > 0 && (
        <Card withBorder mb="sm">
          <Text component="h2" fw={600} mb="xs">
            {t('subscription.usageBy', { unit })}
          </Text>
          <Suspense fallback={<Loading />}>
            <Bars data={bars} label={unit} />
          </Suspense>
        </Card>
      )}
      <ReadingList filter={{ connectionNumber }} />
    </>
  );
}
