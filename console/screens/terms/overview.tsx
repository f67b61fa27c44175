// A term at a glance: how far each step is, its figures and its bills.
import { Alert, ScrollArea, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { billPages, billStatuses, billsOfTerm } from '../../api/queries/bills.ts';
import { isUnderWay, jobsQuery } from '../../api/queries/jobs.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { Money } from '../../parts/amount.tsx';
import { billColumns } from '../../parts/bill-columns.tsx';
import { Figures } from '../../parts/figures.tsx';
import { JobRow } from '../../parts/jobs.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading } from '../../parts/notes.tsx';
import { Status } from '../../parts/status.tsx';
import { StepCards } from './step-cards.tsx';

type TermData = DataOf<'getBillTerm'>;

export function Overview() {
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  return (
    <Stack gap="md">
      {data ? <Steps {...data} /> : <Loading />}
      <Bills termID={termID} />
    </Stack>
  );
}

function Steps({ term, summary }: Pick<TermData, 'term' | 'summary'>) {
  const { t } = useTranslation();
  const { data: jobs = [] } = useQuery(jobsQuery({ termID: term.termID }));
  return (
    <>
      <StepCards term={term} summary={summary} />
      {term.stale && (
        <Alert color="orange" title={t('terms.stale')}>
          {t('terms.staleHint')}
        </Alert>
      )}
      {jobs.filter((job) => isUnderWay(job.status) || job.status === 'Failed').length > 0 && (
        <Stack gap="xs" aria-live="polite">
          {jobs.slice(0, 3).map((job) => (
            <JobRow key={job.jobID} job={job} />
          ))}
        </Stack>
      )}
      <Figures
        items={[
          { label: t('term.bills'), value: summary.bills },
          { label: t('term.errors'), value: summary.errors },
          { label: t('term.onHold'), value: summary.onHold },
          { label: t('term.charges'), value: <Money value={summary.currentCharges} /> },
          { label: t('term.tax'), value: <Money value={summary.taxAmount} /> },
          { label: t('term.outstanding'), value: <Money value={summary.outstandingAmount} /> },
        ]}
      />
    </>
  );
}

function Bills({ termID }: { termID: number }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { status } = useSearch({ from: '/inside/terms/$termID/' });
  const filter = billsOfTerm(termID, status);
  const params = { termID: String(termID) };
  return (
    <Stack gap="sm">
      <ScrollArea type="auto">
        <SegmentedControl
          aria-label={t('bills.byStatus')}
          value={filter.status ?? 'All'}
          onChange={(value) =>
            navigate({
              to: '/terms/$termID',
              params,
              search: value === 'All' ? {} : { status: value },
            })
          }
          data={['All', ...billStatuses].map((value) => ({ value, label: t(`status.${value}`) }))}
        />
      </ScrollArea>
      <List
        pages={billPages(filter)}
        label={t('bills.title')}
        rowKey={(bill) => bill.billID}
        empty={<Empty title={t('bills.none')}>{t('bills.noneHint')}</Empty>}
        columns={billColumns(t, [
          { key: 'party', label: t('bills.customer'), show: (bill) => bill.partyName },
          {
            key: 'connection',
            label: t('bills.subscription'),
            show: (bill) => bill.connectionNumber ?? bill.connectionGroupLabel,
          },
          {
            key: 'status',
            label: t('terms.status'),
            text: (bill) => (bill.hold === 1 ? 'Hold' : bill.status),
            groups: (bill) => t(`status.${bill.hold === 1 ? 'Hold' : bill.status}`),
            show: (bill) => (
              <>
                <Status value={bill.hold === 1 ? 'Hold' : bill.status} />{' '}
                {bill.issueDate !== null && <Status value={bill.paymentStatus} />}
              </>
            ),
          },
        ])}
      />
    </Stack>
  );
}
