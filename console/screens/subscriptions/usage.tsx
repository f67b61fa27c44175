// Usage by bill beside the same months of the year before, and the readings behind it.
import { Card, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { readingPages, type SubscriptionData } from '../../api/queries/subscriptions.ts';
import { List } from '../../parts/list.tsx';
import { Empty, Loading } from '../../parts/notes.tsx';
import { Status } from '../../parts/status.tsx';

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
      <List
        pages={readingPages(connectionNumber)}
        label={t('subscription.readings')}
        rowKey={(reading) => reading.readingID ?? 0}
        empty={<Empty title={t('subscription.noReading')}>{t('subscription.noReadingHint')}</Empty>}
        columns={[
          { key: 'date', label: t('payments.date'), show: (reading) => reading.readingDate },
          { key: 'meter', label: t('bill.meter'), show: (reading) => reading.number },
          { key: 'register', label: t('meter.register'), show: (reading) => reading.register },
          {
            key: 'value',
            label: t('meter.reading'),
            isFigure: true,
            show: (reading) => reading.value,
          },
          {
            key: 'use',
            label: t('bill.use'),
            isFigure: true,
            show: (reading) => reading.consumption,
          },
          {
            key: 'type',
            label: t('meter.readingType'),
            show: ({ readingType = '' }) =>
              t(`readingType.${readingType}`, { defaultValue: readingType }),
          },
          {
            key: 'status',
            label: t('terms.status'),
            text: (reading) => reading.status,
            show: ({ status = '' }) => <Status value={status} />,
          },
          { key: 'remark', label: t('payments.remark'), show: (reading) => reading.remark },
        ]}
      />
    </>
  );
}
