// The run board: every term with its steps, and what comes next.
import { Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { termPages } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';
import { Steps } from '../../parts/steps.tsx';
import { NewTerm } from './new-term.tsx';
import { RunBoard } from './run-board.tsx';

export function Terms() {
  const { t } = useTranslation();
  return (
    <Page
      title={t('terms.title')}
      hint={t('terms.hint')}
      actions={mayUse('terms:write') && <NewTerm />}
    >
      <RunBoard />
      <Title order={2} size="h4">
        {t('runBoard.all')}
      </Title>
      <List
        pages={termPages}
        label={t('terms.title')}
        rowKey={(term) => term.termID ?? 0}
        empty={<Empty title={t('terms.none')}>{t('terms.noneHint')}</Empty>}
        columns={[
          {
            key: 'label',
            label: t('terms.label'),
            text: (term) => term.label,
            show: (term) => (
              <PageLink to="/terms/$termID" params={{ termID: String(term.termID) }}>
                {term.label}
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
          { key: 'due', label: t('terms.due'), show: ({ dueDate }) => dueDate },
          {
            key: 'steps',
            label: t('terms.steps'),
            show: ({ stage = '', stale }) => <Steps stage={stage} isStale={stale === true} small />,
          },
          {
            key: 'status',
            label: t('terms.status'),
            text: ({ stage }) => stage,
            show: ({ stage = '' }) => <Status value={stage} />,
          },
        ]}
      />
    </Page>
  );
}
