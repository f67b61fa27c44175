// One meter, installed or in store: what it is, and its readings at all its places.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { meterQuery } from '../../api/queries/subscriptions.ts';
import { mayUse } from '../../api/session.ts';
import { Figures } from '../../parts/figures.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { EditMeter } from './edit-meter.tsx';
import { ReadingList } from './reading-list.tsx';

export function MeterScreen() {
  const { t } = useTranslation();
  const number = Number(useParams({ from: '/inside/meters/$meterNumber' }).meterNumber);
  const query = useQuery(meterQuery(number));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { status = '', meterType, brand, mf, meterHealth = '' } = query.data;
  return (
    <Page
      title={t('meter.heading', { number })}
      crumbs={[{ label: t('subscriptions.title'), to: '/subscriptions' }]}
      actions={mayUse('meters:write') && <EditMeter number={number} />}
    >
      <Figures
        items={[
          { label: t('terms.status'), value: t(`meter.is${status}`) },
          { label: t('meter.type'), value: meterType },
          { label: t('meterEdit.brand'), value: brand },
          { label: t('meter.mf'), value: mf },
          { label: t('meter.health'), value: <Status value={meterHealth} /> },
        ]}
      />
      {mayUse('readings:read') && <ReadingList filter={{ number }} />}
    </Page>
  );
}
