// Generating the bills: how far it is, and what the last run changed.
import { Button, Card, Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { changesPages, runsQuery } from '../../api/queries/bills.ts';
import { isUnderWay, jobsQuery } from '../../api/queries/jobs.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { shownTime } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { JobRow } from '../../parts/jobs.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { useSend } from '../../parts/send-form.tsx';

type Job = DataOf<'getJobs'>['jobs'][number];
type Difference = DataOf<'compareRuns'>['differences'][number];

export function Generate() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  const { data: jobs = [] } = useQuery(jobsQuery({ termID }));
  const running = useSend(() => api.generateBills({ operation: 'schedule', data: { termID } }));
  if (!data) return <Loading />;
  const { term, summary } = data;
  const job = jobs.find(({ operation }) => operation === 'generate-bills');
  const isBusy = jobs.some(({ status }) => isUnderWay(status));
  return (
    <Stack gap="md">
      <Card withBorder>
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {t('generate.title')}
            </Title>
            {mayUse('bills:write') && term.status === 'Open' && (
              <Button
                disabled={isBusy}
                loading={running.isPending}
                onClick={() => running.mutate(undefined)}
              >
                {term.runID ? t('generate.again') : t('generate.run')}
              </Button>
            )}
          </Group>
          {running.isError && <Refusal error={running.error} />}
          {job && <JobProgress job={job} />}
          <Text size="sm" c="dimmed">
            {t('generate.hint')}
          </Text>
        </Stack>
      </Card>
      <Figures
        items={[
          { label: t('term.bills'), value: summary.bills },
          { label: t('term.errors'), value: summary.errors },
          { label: t('term.onHold'), value: summary.onHold },
          { label: t('term.charges'), value: <Money value={summary.currentCharges} /> },
        ]}
      />
      {(term.runID ?? 0) > 1 && !isBusy && <Changes termID={termID} />}
    </Stack>
  );
}

function JobProgress({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { done = 0, total = 0, secondsLeft = null } = job.progress ?? {};
  if (!isUnderWay(job.status)) return <JobRow job={job} />;
  const share = total === 0 ? 0 : (100 * done) / total;
  const rate = secondsLeft && total > done ? Math.round((total - done) / secondsLeft) : null;
  return (
    <Stack gap={4} aria-live="polite">
      <Progress value={share} size="lg" aria-label={t('jobs.progress')} />
      <Text size="sm">
        {t('jobs.done', { done, total })}
        {rate !== null && ` · ${t('generate.rate', { rate })}`}
        {secondsLeft !== null && ` · ${t('jobs.left', { seconds: secondsLeft })}`}
      </Text>
    </Stack>
  );
}

/** The bills that differ from the run before, each with its causes. */
function Changes({ termID }: { termID: number }) {
  const { t } = useTranslation();
  const runs = useQuery(runsQuery(termID));
  if (runs.isPending) return <Loading />;
  if (runs.isLoadingError) return <Refusal error={runs.error} />;
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('generate.changes')}
      </Title>
      <Runs runs={[runs.data.against, runs.data.run]} />
      <List
        pages={changesPages(termID)}
        label={t('generate.changes')}
        rowKey={(row) => row.billID}
        empty={<Empty title={t('generate.same')}>{t('generate.sameHint')}</Empty>}
        columns={[
          {
            key: 'bill',
            label: t('bills.subscription'),
            text: (row) => row.connectionNumber,
            show: (row) => (
              <PageLink to="/bills/$billID" params={{ billID: String(row.billID) }}>
                {row.connectionNumber ?? row.billID}
              </PageLink>
            ),
          },
          {
            key: 'before',
            label: t('generate.before'),
            isFigure: true,
            text: (row) => row.before,
            show: (row) => row.before !== null && <Amount value={row.before} />,
          },
          {
            key: 'after',
            label: t('generate.after'),
            isFigure: true,
            text: (row) => row.after,
            show: (row) => row.after !== null && <Amount value={row.after} />,
          },
          {
            key: 'causes',
            label: t('generate.causes'),
            text: causesText,
            show: (row) => (
              <Text size="sm" style={{ whiteSpace: 'normal' }}>
                {causesText(row)}
              </Text>
            ),
          },
        ]}
      />
    </Stack>
  );
}

function causesText({ causes }: Difference): string {
  return causes
    .map(({ name, before, after }) => `${name}: ${before ?? '–'} → ${after ?? '–'}`)
    .join('; ');
}

function Runs({ runs }: { runs: readonly DataOf<'compareRuns'>['run'][] }) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('generate.runs'))}>
      <Table aria-label={t('generate.runs')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('generate.runNumber')}</Table.Th>
            <Table.Th>{t('generate.at')}</Table.Th>
            <Table.Th className="figure">{t('term.bills')}</Table.Th>
            <Table.Th className="figure">{t('term.errors')}</Table.Th>
            <Table.Th className="figure">{t('term.charges')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.runID}>
              <Table.Td>{run.runID}</Table.Td>
              <Table.Td>{shownTime(run.generatedAt)}</Table.Td>
              <Table.Td className="figure">{run.bills}</Table.Td>
              <Table.Td className="figure">{run.errors}</Table.Td>
              <Table.Td className="figure">
                <Amount value={run.currentCharges} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
