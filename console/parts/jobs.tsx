// A job: what it does, how far it is, and why it failed.
import { Group, Progress, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../sdk/client.ts';
import { isUnderWay } from '../api/queries/jobs.ts';
import { inOrder, isolated } from '../language/isolated.ts';
import { shownTime } from './days.ts';
import { Status } from './status.tsx';

type Job = DataOf<'getJobs'>['jobs'][number];

export function JobRow({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { operation = '', status = '', progress, message, createdAt } = job;
  const { done, total, secondsLeft } = progress ?? { done: 0, total: 0, secondsLeft: null };
  const share = total === 0 ? 0 : (100 * done) / total;
  return (
    <Group gap="sm" wrap="wrap">
      <Status value={status} />
      <Text size="sm" fw={500}>
        {t(`jobName.${operation}`, { defaultValue: operation })}
      </Text>
      {isUnderWay(status) && (
        <>
          <Progress value={share} w={160} aria-label={t('jobs.progress')} />
          <Text size="sm" className="figure">
            {t('jobs.done', { done, total })}
            {secondsLeft !== null && ` · ${t('jobs.left', { seconds: secondsLeft })}`}
          </Text>
        </>
      )}
      <Text size="sm" c="dimmed">
        {isolated(shownTime(createdAt))}
      </Text>
      {message !== null && message !== undefined && !isUnderWay(status) && (
        <Text size="sm" c="dimmed">
          {inOrder(message)}
        </Text>
      )}
    </Group>
  );
}
