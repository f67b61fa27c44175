// How many jobs run now. The number leads to the bill runs.
import { Anchor, Indicator } from '@mantine/core';
import { IconProgress } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { jobsQuery } from '../api/queries/jobs.ts';
import { mayUse } from '../api/session.ts';

export function JobsIndicator() {
  const { t } = useTranslation();
  const { data: jobs = [] } = useQuery({
    ...jobsQuery({ status: 'Running' }),
    enabled: mayUse('terms:read'),
  });
  if (jobs.length === 0) return null;
  return (
    <Anchor component={Link} to="/" aria-label={t('jobs.running', { count: jobs.length })}>
      <Indicator label={jobs.length} size={16}>
        <IconProgress size={20} aria-hidden />
      </Indicator>
    </Anchor>
  );
}
