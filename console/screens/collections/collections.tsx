// Collections: who is at which step of dunning, promises, disputes, and what waits for a second
// person.
import { Badge, Group, ScrollArea, SegmentedControl, Stack, Tabs, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { disputePages, dunningPages } from '../../api/queries/collections.ts';
import { approvalPages } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { inOrder } from '../../language/isolated.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import type { Column } from '../../parts/columns.ts';
import { shownTime } from '../../parts/days.ts';
import { FileButton } from '../../parts/file.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';
import { AddressTabs } from '../../parts/tabs.tsx';

type Dunned = DataOf<'getDunning'>['dunning'][number];
type Dispute = DataOf<'getDisputes'>['disputes'][number];
type Approval = DataOf<'getApprovals'>['approvals'][number];
const actions = ['Remind', 'Fee', 'List', 'Disconnect'] as const;

export function Collections() {
  const { t } = useTranslation();
  return (
    <Page title={t('collections.title')} hint={t('collections.hint')}>
      <AddressTabs usual="dunning">
        <Tabs.List>
          <Tabs.Tab value="dunning">{t('collections.dunning')}</Tabs.Tab>
          <Tabs.Tab value="disputes">{t('collections.disputes')}</Tabs.Tab>
          {mayUse('ledger:read') && (
            <Tabs.Tab value="approvals">{t('collections.approvals')}</Tabs.Tab>
          )}
        </Tabs.List>
        <Tabs.Panel value="dunning" pt="sm">
          <Dunning />
        </Tabs.Panel>
        <Tabs.Panel value="disputes" pt="sm">
          <Disputes />
        </Tabs.Panel>
        <Tabs.Panel value="approvals" pt="sm">
          <Approvals />
        </Tabs.Panel>
      </AddressTabs>
    </Page>
  );
}

function partyColumn<Row extends { partyNumber?: number; partyName?: string }>(
  label: string,
): Column<Row> {
  return {
    key: 'party',
    label,
    text: (row) => row.partyName,
    show: (row) => (
      <PageLink to="/customers/$partyNumber" params={{ partyNumber: String(row.partyNumber) }}>
        {row.partyName}
      </PageLink>
    ),
  };
}

function Dunning() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { step } = useSearch({ from: '/inside/collections' });
  const chosen = actions.find((one) => one === step);
  return (
    <Stack gap="sm">
      <ScrollArea type="auto">
        <SegmentedControl
          aria-label={t('collections.byStep')}
          value={chosen ?? 'All'}
          onChange={(value) =>
            navigate({ to: '/collections', search: value === 'All' ? {} : { step: value } })
          }
          data={['All', ...actions].map((value) => ({ value, label: t(`dunningStep.${value}`) }))}
        />
      </ScrollArea>
      <List
        pages={dunningPages({ step: chosen })}
        label={t('collections.dunning')}
        rowKey={(row) => row.connectionNumber ?? ''}
        empty={<Empty title={t('collections.none')}>{t('collections.noneHint')}</Empty>}
        columns={[
          partyColumn<Dunned>(t('bills.customer')),
          {
            key: 'subscription',
            label: t('bills.subscription'),
            text: (row) => row.connectionNumber,
            show: ({ connectionNumber = '' }) => (
              <PageLink to="/subscriptions/$connectionNumber" params={{ connectionNumber }}>
                {connectionNumber}
              </PageLink>
            ),
          },
          {
            key: 'overdue',
            label: t('collections.overdue'),
            isFigure: true,
            text: (row) => row.overdueAmount,
            sum: ({ overdueAmount = 0 }) => overdueAmount,
            show: ({ overdueAmount = 0 }) => <Amount value={overdueAmount} />,
          },
          {
            key: 'days',
            label: t('collections.days'),
            isFigure: true,
            show: (row) => row.daysOverdue,
          },
          {
            key: 'steps',
            label: t('collections.steps'),
            text: ({ steps = [] }) =>
              steps
                .map((one) => `${one.step}. ${t(`dunningStep.${one.action}`)} ${one.date}`)
                .join('; '),
            show: (row) => <StepsDone row={row} />,
          },
          {
            key: 'next',
            label: t('collections.next'),
            show: (row) =>
              row.nextAction ? `${t(`dunningStep.${row.nextAction}`)} ${row.nextDate}` : '',
          },
          { key: 'pause', label: t('collections.pause'), show: (row) => <Pause row={row} /> },
        ]}
      />
    </Stack>
  );
}

function StepsDone({ row: { steps = [] } }: { row: Dunned }) {
  const { t } = useTranslation();
  return steps.map((one) => (
    <Stack key={one.step} gap={0}>
      <Text size="xs">
        {one.step}. {t(`dunningStep.${one.action}`, { defaultValue: one.action })} {one.date}{' '}
        {one.mail && t(`status.${one.mail}`, { defaultValue: one.mail })}
      </Text>
      {one.problem !== null && (
        <Text size="xs" c="red">
          {inOrder(one.problem ?? '')}
        </Text>
      )}
      {one.reminderID !== null && one.reminderID !== undefined && (
        <FileButton
          isSmall
          label={t('collections.reminder')}
          name={`reminder-${one.reminderID}.pdf`}
          load={() => api.getReminderDocument({ reminderID: one.reminderID ?? 0, format: 'PDF' })}
        />
      )}
    </Stack>
  ));
}

/** A promise stops dunning until its day; an arrangement can be ended early. */
function Pause({ row }: { row: Dunned }) {
  const { t } = useTranslation();
  const { partyNumber = 0, arrangements = [], dunningHold } = row;
  const mayWrite = mayUse('collections:write');
  return (
    <Stack gap={4} align="flex-start">
      {dunningHold && (
        <Text size="xs">
          {t('collections.holdUntil', dunningHold)} {dunningHold.reason}
        </Text>
      )}
      {arrangements.map((one) => (
        <Group key={one.arrangementID} gap={4}>
          <Badge variant="light">
            {t(`arrangementKind.${one.kind}`, { defaultValue: one.kind })}{' '}
            <Amount value={one.amount} /> {one.until}
          </Badge>
          {mayWrite && (
            <ActionDialog
              label={t('collections.end')}
              fields={{ reason: { label: t('reason'), required: true } }}
              send={({ reason = '' }) =>
                api.endArrangement({ data: { arrangementID: one.arrangementID, reason } })
              }
            />
          )}
        </Group>
      ))}
      {mayWrite && (
        <ActionDialog
          label={t('collections.promise')}
          fields={{
            amount: {
              label: t('bills.amount'),
              kind: 'amount',
              initial: String(row.overdueAmount ?? ''),
              required: true,
            },
            date: { label: t('collections.payBy'), kind: 'date', required: true },
            reason: { label: t('reason'), required: true },
          }}
          send={({ amount = '', date = '', reason = '' }) =>
            api.makePromises({ promises: [{ partyNumber, amount, date, reason }] })
          }
        />
      )}
    </Stack>
  );
}

function Disputes() {
  const { t } = useTranslation();
  return (
    <List
      pages={disputePages({})}
      label={t('collections.disputes')}
      rowKey={(row) => row.disputeID ?? 0}
      empty={<Empty title={t('collections.noDispute')}>{t('collections.noDisputeHint')}</Empty>}
      columns={[
        partyColumn<Dispute>(t('bills.customer')),
        {
          key: 'bill',
          label: t('bills.number'),
          text: (row) => row.billNumber,
          show: (row) => (
            <PageLink to="/bills/$billID" params={{ billID: String(row.billID) }}>
              {row.billNumber}
            </PageLink>
          ),
        },
        {
          key: 'amount',
          label: t('bills.amount'),
          isFigure: true,
          text: (row) => row.amount,
          sum: ({ amount = 0 }) => amount,
          show: ({ amount = 0 }) => <Amount value={amount} />,
        },
        { key: 'reason', label: t('reason'), show: (row) => row.reason },
        { key: 'raised', label: t('collections.raised'), show: (row) => row.raisedDate },
        {
          key: 'status',
          label: t('terms.status'),
          text: (row) => row.status,
          groups: ({ status = '' }) => t(`status.${status}`, { defaultValue: status }),
          show: ({ status = '' }) => <Status value={status} />,
        },
        { key: 'resolve', label: t('collections.outcome'), show: (row) => <Resolve row={row} /> },
      ]}
    />
  );
}

function Resolve({ row }: { row: Dispute }) {
  const { t } = useTranslation();
  const { disputeID = 0 } = row;
  if (row.status !== 'Open' || !mayUse('credits:write')) return <Text size="sm">{row.remark}</Text>;
  return (
    <ActionDialog
      label={t('collections.resolve')}
      fields={{
        outcome: {
          label: t('collections.outcome'),
          kind: 'choice',
          choices: [
            { value: 'Upheld', label: t('collections.upheld') },
            { value: 'Rejected', label: t('collections.rejected') },
          ],
        },
        remark: { label: t('payments.remark'), kind: 'long' },
      }}
      send={({ outcome, remark }) =>
        api.resolveDispute({
          data: { disputeID, outcome: outcome === 'Rejected' ? 'Rejected' : 'Upheld', remark },
        })
      }
    />
  );
}

function Approvals() {
  const { t } = useTranslation();
  return (
    <List
      pages={approvalPages(undefined)}
      label={t('collections.approvals')}
      rowKey={(row) => row.approvalID ?? 0}
      empty={<Empty title={t('collections.noApproval')}>{t('collections.noApprovalHint')}</Empty>}
      columns={[
        {
          key: 'kind',
          label: t('collections.kind'),
          show: ({ kind }) => t(`entryKind.${kind}`, { defaultValue: kind }),
        },
        { key: 'reference', label: t('payments.reference'), show: (row) => row.reference },
        {
          key: 'amount',
          label: t('bills.amount'),
          isFigure: true,
          text: (row) => row.amount,
          sum: ({ amount = 0 }) => amount,
          show: ({ amount = 0 }) => <Amount value={amount} />,
        },
        {
          key: 'by',
          label: t('collections.requested'),
          show: (row) => `${row.requestedBy} · ${shownTime(row.requestedAt)}`,
        },
        {
          key: 'status',
          label: t('terms.status'),
          text: (row) => row.status,
          groups: ({ status = '' }) => t(`status.${status}`, { defaultValue: status }),
          show: ({ status = '' }) => <Status value={status} />,
        },
        { key: 'decide', label: t('collections.outcome'), show: (row) => <Decide row={row} /> },
      ]}
    />
  );
}

function Decide({ row }: { row: Approval }) {
  const { t } = useTranslation();
  const { approvalID = 0 } = row;
  const mayDecide = mayUse('credits:write') && (row.kind !== 'Refund' || mayUse('payments:manage'));
  if (row.status !== 'Waiting' || !mayDecide) return <Text size="sm">{row.reason}</Text>;
  const fields = { reason: { label: t('reason'), required: true } };
  return (
    <Group gap={4}>
      <ActionDialog
        label={t('collections.approve')}
        fields={fields}
        send={({ reason = '' }) =>
          api.decideApproval({ data: { approvalID, decision: 'Approve', reason } })
        }
      />
      <ActionDialog
        label={t('collections.reject')}
        fields={fields}
        send={({ reason = '' }) =>
          api.decideApproval({ data: { approvalID, decision: 'Reject', reason } })
        }
      />
    </Group>
  );
}
