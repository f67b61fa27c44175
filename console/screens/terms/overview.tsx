// A term at a glance: how far each step is, its figures and its bills.
import { Alert, Checkbox, Group, ScrollArea, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { type BillFilter, billPages, billStatuses, billsOfTerm } from '../../api/queries/bills.ts';
import { isUnderWay, jobsQuery } from '../../api/queries/jobs.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { Money } from '../../parts/amount.tsx';
import { billColumns, type ListedBill } from '../../parts/bill-columns.tsx';
import { useChosen } from '../../parts/chosen.ts';
import type { Column } from '../../parts/columns.ts';
import { Figures } from '../../parts/figures.tsx';
import { JobRow } from '../../parts/jobs.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading } from '../../parts/notes.tsx';
import { Status } from '../../parts/status.tsx';
import { HoldBills } from './hold-bills.tsx';
import { StepCards } from './step-cards.tsx';

type TermData = DataOf<'getBillTerm'>;

export function Overview() {
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  const isGenerated = data?.term.status === 'Open' && data.term.stage === 'Generated';
  return (
    <Stack gap="md">
      {data ? <Steps {...data} /> : <Loading />}
      <Bills termID={termID} mayHold={isGenerated && mayUse('bills:write')} />
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

function Bills({ termID, mayHold }: { termID: number; mayHold: boolean }) {
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
      <BillList key={filter.status} filter={filter} mayHold={mayHold} />
    </Stack>
  );
}

function BillList({ filter, mayHold }: { filter: BillFilter; mayHold: boolean }) {
  const { t } = useTranslation();
  const { chosen, has, choose, toggle } = useChosen<ListedBill>(({ billID }) => billID);
  const choice: Column<ListedBill> = {
    key: 'chosen',
    label: t('exceptions.chosen'),
    text: () => '',
    show: (bill) => (
      <Checkbox
        aria-label={t('exceptions.choose', { number: bill.billRefNo })}
        checked={has(bill)}
        onChange={() => toggle(bill)}
      />
    ),
  };
  const columns = billColumns(t, [
    { key: 'party', label: t('bills.customer'), show: (bill) => bill.partyName },
    {
      key: 'connection',
      label: t('bills.subscription'),
      show: (bill) => bill.connectionNumber ?? bill.connectionGroupLabel,
    },
    {
      key: 'status',
      label: t('terms.status'),
      text: statusOf,
      groups: (bill) => t(`status.${statusOf(bill)}`),
      show: (bill) => (
        <>
          <Status value={statusOf(bill)} />{' '}
          {bill.issueDate !== null && <Status value={bill.paymentStatus} />}
        </>
      ),
    },
  ]);
  return (
    <List
      pages={billPages(filter)}
      label={t('bills.title')}
      rowKey={(bill) => bill.billID}
      empty={<Empty title={t('bills.none')}>{t('bills.noneHint')}</Empty>}
      columns={mayHold ? [choice, ...columns] : columns}
      tools={mayHold && <Holds bills={chosen} onDone={() => choose([])} />}
    />
  );
}

function statusOf({ hold, status }: ListedBill): string {
  return hold === 1 ? 'Hold' : status;
}

function Holds({ bills, onDone }: { bills: readonly ListedBill[]; onDone: () => void }) {
  const held = bills.filter(({ hold }) => hold === 1);
  const others = bills.filter(({ hold }) => hold !== 1);
  return (
    <Group gap="xs">
      <HoldBills bills={others} isHold onDone={onDone} />
      {held.length > 0 && <HoldBills bills={held} isHold={false} onDone={onDone} />}
    </Group>
  );
}
