// The open terms as rows of nine steps: done, running, blocked, next. A red number is work left.
import { Alert, Badge, Button, Card, Group, Stack, Text, ThemeIcon, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconArrowRight, IconCheck, IconLoader2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { runBoardQuery } from '../../api/queries/terms.ts';
import { isolated } from '../../language/isolated.ts';
import { Money } from '../../parts/amount.tsx';
import { shownTime } from '../../parts/days.ts';
import { JobRow } from '../../parts/jobs.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';

type Board = DataOf<'getRunBoard'>;
type Row = Board['terms'][number];
type Step = Row['steps'][number];

/** The page of a term on which each step is done. */
const pages = [
  '',
  '',
  'population',
  'entry',
  'readings',
  'values',
  'generate',
  'send',
  'send',
  'send',
];

const looks: Record<string, { color: string; icon: typeof IconCheck | null }> = {
  Done: { color: 'teal', icon: IconCheck },
  Running: { color: 'blue', icon: IconLoader2 },
  Blocked: { color: 'red', icon: IconAlertTriangle },
  Next: { color: 'indigo', icon: IconArrowRight },
  Waiting: { color: 'gray', icon: null },
};

export function RunBoard() {
  const { t } = useTranslation();
  const query = useQuery(runBoardQuery);
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { terms, due, jobs } = query.data;
  return (
    <Stack>
      {due.length > 0 && <Due due={due} />}
      {terms.map((row) => (
        <TermRow key={row.termID} row={row} />
      ))}
      {jobs.length > 0 && (
        <Card withBorder>
          <Text component="h2" fw={600} mb="xs">
            {t('jobs.recent')}
          </Text>
          <Stack gap="xs">
            {jobs.map((job) => (
              <JobRow key={job.jobID} job={job} />
            ))}
          </Stack>
        </Card>
      )}
    </Stack>
  );
}

function Due({ due }: { due: Board['due'] }) {
  const { t } = useTranslation();
  return (
    <Alert color="orange" title={t('runBoard.due')}>
      {due.map((one) => (
        <Text key={one.termID} size="sm">
          <PageLink
            to="/terms/$termID"
            params={{ termID: String(one.termID) }}
            c="inherit"
            underline="always"
          >
            {one.label}
          </PageLink>{' '}
          {one.serviceCode} · {one.batchCode}: {t('runBoard.postBy', { date: one.postBy })}
        </Text>
      ))}
    </Alert>
  );
}

function TermRow({ row }: { row: Row }) {
  const { t } = useTranslation();
  const { termID, label, serviceName, batchCode, counts, amounts, job, steps } = row;
  const bills = counts.drafts + counts.posted + counts.published;
  const next = steps.find(({ state }) => state === 'Next' || state === 'Blocked');
  const page = pages[next?.step ?? 0] ?? '';
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <PageLink to="/terms/$termID" params={{ termID: String(termID) }}>
            {label}
          </PageLink>
          <Text size="sm" c="dimmed">
            {serviceName} · {batchCode} · {isolated(`${row.startDate} – ${row.endDate}`)}
          </Text>
        </Group>
        {next && (
          <Button component={Link} to={`/terms/${termID}/${page}`} size="xs">
            {t(`runStep.${next.step}`)}
          </Button>
        )}
      </Group>
      <Group component="ol" gap="xs" m={0} p={0} role="list" style={{ listStyle: 'none' }}>
        {steps.map((step) => (
          <StepMark key={step.step} step={step} />
        ))}
      </Group>
      <Group gap="md" mt="xs">
        <Text size="sm">{t('runBoard.subscriptions', { count: counts.subscriptions })}</Text>
        <Text size="sm">{t('runBoard.bills', { count: bills })}</Text>
        <Text size="sm">
          {t('term.charges')}: <Money value={amounts.currentCharges} />
        </Text>
        {counts.errors > 0 && (
          <Badge color="red" variant="light">
            {t('runBoard.errors', { count: counts.errors })}
          </Badge>
        )}
        {counts.held > 0 && (
          <Badge color="orange" variant="light">
            {t('runBoard.held', { count: counts.held })}
          </Badge>
        )}
      </Group>
      {job && <JobRow job={job} />}
    </Card>
  );
}

function StepMark({ step }: { step: Step }) {
  const { t } = useTranslation();
  const { color, icon: Icon } = looks[step.state] ?? { color: 'gray', icon: null };
  const name = t(`runStep.${step.step}`);
  const words = [
    `${name}: ${t(`runState.${step.state}`)}`,
    step.at && `${shownTime(step.at)} ${step.by ?? ''}`,
    step.error?.message,
  ];
  return (
    <Group component="li" gap={4} wrap="nowrap">
      <Tooltip label={words.filter(Boolean).join(' · ')}>
        <ThemeIcon
          size={24}
          radius="xl"
          color={color}
          variant={step.state === 'Waiting' ? 'outline' : 'light'}
          role="img"
          aria-label={words.filter(Boolean).join(' · ')}
        >
          {Icon ? (
            <Icon size={14} aria-hidden className={Icon === IconArrowRight ? 'points-on' : ''} />
          ) : (
            <Text size="xs">{step.step}</Text>
          )}
        </ThemeIcon>
      </Tooltip>
      <Text size="xs" visibleFrom="md">
        {name}
      </Text>
      {step.left > 0 && (
        <Badge color="red" variant="light" size="sm">
          {step.left}
        </Badge>
      )}
    </Group>
  );
}
