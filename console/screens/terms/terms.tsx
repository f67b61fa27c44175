// The run board: every term with its steps, and what comes next.
import { Card, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { jobsQuery } from '../../api/queries/jobs.ts';
import { termPages } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { JobRow } from '../../parts/jobs.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';
import { Steps } from '../../parts/steps.tsx';
import { NewTerm } from './new-term.tsx';

export function Terms() {
  const { t } = useTranslation();
  return (
    <Page
      title={t('terms.title')}
      hint={t('terms.hint')}
      actions={mayUse('terms:write') && <NewTerm />}
    >
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
      <RecentJobs />
    </Page>
  );
}

function RecentJobs() {
  const { t } = useTranslation();
  const { data: jobs } = useQuery(jobsQuery({}));
  if (!jobs || jobs.length === 0) return null;
  return (
    <Card withBorder>
      <Group mb="xs">
        <Text component="h2" fw={600}>
          {t('jobs.recent')}
        </Text>
      </Group>
      <Stack gap="xs">
        {jobs.map((job) => (
          <JobRow key={job.jobID} job={job} />
        ))}
      </Stack>
    </Card>
  );
}
