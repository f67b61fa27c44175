// The readings of one term, for roles that do not see its bills: typed in, or on paper and by a file.
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { readingTermQuery } from '../../api/queries/readings.ts';
import { isolated } from '../../language/isolated.ts';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { AddressTabs, TabLine } from '../../parts/tabs.tsx';
import { Entry } from './entry.tsx';
import { Sheet } from './sheet.tsx';

export function ReadingTermScreen() {
  const { t } = useTranslation();
  const { tab = 'entry' } = useSearch({ from: '/inside/readings/$termID' });
  const termID = Number(useParams({ from: '/inside/readings/$termID' }).termID);
  const query = useQuery(readingTermQuery(termID));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const term = query.data;
  return (
    <Page
      title={term.label}
      crumbs={[{ label: t('readingTerms.title'), to: '/readings' }]}
      hint={[term.serviceCode, term.batchCode, `${term.startDate} – ${term.endDate}`]
        .map(isolated)
        .join(' · ')}
    >
      <AddressTabs usual="entry">
        <TabLine open={tab}>
          <Tabs.Tab value="entry">{t('readings.entry')}</Tabs.Tab>
          <Tabs.Tab value="sheet">{t('readings.out')}</Tabs.Tab>
        </TabLine>
        <Tabs.Panel value="entry" pt="md">
          <Entry key={termID} term={term} />
        </Tabs.Panel>
        <Tabs.Panel value="sheet" pt="md">
          <Sheet key={termID} term={term} />
        </Tabs.Panel>
      </AddressTabs>
    </Page>
  );
}
