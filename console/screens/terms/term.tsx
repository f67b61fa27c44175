// A term is the home of its steps: a tab for each, in the order of the work.
import { Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { queries } from '../../api/queries/base.ts';
import { isUnderWay, jobsQuery } from '../../api/queries/jobs.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { isolated } from '../../language/isolated.ts';
import { Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { TabLine } from '../../parts/tabs.tsx';
import { NextStep } from './next-step.tsx';
import { termSteps } from './term-steps.ts';
import { UndoStep } from './undo-step.tsx';

export function Term() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const query = useQuery(termQuery(termID));
  const { data: jobs } = useQuery(jobsQuery({ termID }));
  useReadAfter(jobs);
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  // The figures of 200,000 bills take longer than the first page of the list below them.
  const { term, summary } = query.data ?? {};
  const due = term && `${t('terms.due')} ${isolated(term.dueDate)}`;
  const isBusy = jobs?.some((job) => isUnderWay(job.status)) ?? false;
  return (
    <Page
      title={term?.label ?? t('loading')}
      crumbs={[{ label: t('terms.title'), to: '/' }]}
      hint={
        term &&
        [term.serviceCode, term.batchCode, `${term.startDate} – ${term.endDate}`, due ?? '']
          .map(isolated)
          .join(' · ')
      }
      actions={
        term &&
        summary && (
          <>
            {!isBusy && <UndoStep term={term} summary={summary} />}
            <NextStep term={term} summary={summary} isBusy={isBusy} />
          </>
        )
      }
    >
      <StepTabs termID={termID} />
    </Page>
  );
}

/**
 * A long step ends after its call was answered, and another operator may take one: when a job of
 * the term has ended, its stage and figures are read again.
 */
function useReadAfter(jobs: DataOf<'getJobs'>['jobs'] | undefined): void {
  const ended = jobs
    ?.filter(({ status }) => !isUnderWay(status))
    .map(({ jobID }) => jobID)
    .join(' ');
  const seen = useRef(ended);
  useEffect(() => {
    if (seen.current !== undefined && ended !== seen.current) queries.invalidateQueries();
    seen.current = ended;
  }, [ended]);
}

function StepTabs({ termID }: { termID: number }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const last = (pathname.split('/')[3] ?? '').replace('entry', 'readings');
  const tabs = [{ path: '', key: 'overview', permission: 'bills:read' }, ...termSteps];
  return (
    <Tabs
      value={last === '' ? 'overview' : last}
      onChange={(value) => {
        const path = value === 'overview' ? '' : `/${value}`;
        navigate({ to: `/terms/${termID}${path}` as '/' });
      }}
    >
      <TabLine open={last} label={t('terms.steps')}>
        {tabs
          .filter(({ permission }) => mayUse(permission))
          .map(({ path, key }, index) => (
            <Tabs.Tab key={key} value={path === '' ? 'overview' : path} px="sm">
              {index > 0 && (
                <Text span size="xs" c="dimmed">
                  {index}{' '}
                </Text>
              )}
              {t(`termSteps.${key}`)}
            </Tabs.Tab>
          ))}
      </TabLine>
      <Tabs.Panel value={last === '' ? 'overview' : last} pt="md">
        <Outlet />
      </Tabs.Panel>
    </Tabs>
  );
}
