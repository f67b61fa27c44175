// The readings of a subscription, or of a meter at all its places.
import { useTranslation } from 'react-i18next';
import { type ReadingFilter, readingPages } from '../../api/queries/subscriptions.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';

export function ReadingList({ filter }: { filter: ReadingFilter }) {
  const { t } = useTranslation();
  return (
    <List
      pages={readingPages(filter)}
      label={t('subscription.readings')}
      rowKey={(reading) => reading.readingID ?? 0}
      empty={<Empty title={t('subscription.noReading')}>{t('subscription.noReadingHint')}</Empty>}
      columns={[
        { key: 'date', label: t('payments.date'), show: (reading) => reading.readingDate },
        'number' in filter
          ? {
              key: 'connection',
              label: t('bills.subscription'),
              text: (reading) => reading.connectionNumber,
              show: ({ connectionNumber = '' }) => (
                <PageLink to="/subscriptions/$connectionNumber" params={{ connectionNumber }}>
                  {connectionNumber}
                </PageLink>
              ),
            }
          : { key: 'meter', label: t('bill.meter'), show: (reading) => reading.number },
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
  );
}
