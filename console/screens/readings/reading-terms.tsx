// The open terms that readings are for, without what they bill.
import { useTranslation } from 'react-i18next';
import { readingTermPages } from '../../api/queries/readings.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';

export function ReadingTerms() {
  const { t } = useTranslation();
  return (
    <Page title={t('readingTerms.title')} hint={t('readingTerms.hint')}>
      <List
        pages={readingTermPages}
        label={t('readingTerms.title')}
        rowKey={({ termID }) => termID}
        empty={<Empty title={t('readingTerms.none')}>{t('readingTerms.noneHint')}</Empty>}
        columns={[
          {
            key: 'label',
            label: t('terms.label'),
            text: ({ label }) => label,
            show: ({ termID, label }) => (
              <PageLink to="/readings/$termID" params={{ termID: String(termID) }}>
                {label}
              </PageLink>
            ),
          },
          {
            key: 'service',
            label: t('terms.service'),
            show: ({ serviceCode, batchCode }) => `${serviceCode} · ${batchCode}`,
          },
          {
            key: 'days',
            label: t('terms.days'),
            show: ({ startDate, endDate }) => `${startDate} – ${endDate}`,
          },
        ]}
      />
    </Page>
  );
}
