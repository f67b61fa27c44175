// What can be done with a bill: hold, cancel, credit, dispute, waive, send again.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { billQuery } from '../../api/queries/bills.ts';
import { mayUse, useSession } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { useMoney } from '../../parts/amount.tsx';
import type { ListedBill } from '../../parts/bill-columns.tsx';
import { monthsAfter } from '../../parts/days.ts';
import { Steady } from '../../parts/steady.tsx';
import { equalParts } from './equal-parts.ts';

type Props = { bill: ListedBill };

/** What another person may change while a dialog is open. */
function versionOf({ ts, status, hold, paidAmount, outstandingAmount }: ListedBill): string {
  return [ts, status, hold, paidAmount, outstandingAmount].join(' ');
}

export function BillActions({ bill }: Props) {
  const query = billQuery(bill.billID);
  const reload = () => queries.fetchQuery({ ...query, staleTime: 0 });
  return (
    <Steady subject={bill} versionOf={versionOf} reload={reload}>
      {(steady) => <Actions bill={steady} />}
    </Steady>
  );
}

function Actions({ bill }: Props) {
  const isDraft = bill.status === 'Draft' || bill.status === 'Error' || bill.status === 'Hold';
  const isPosted = bill.status === 'Posted' || bill.status === 'Published';
  return (
    <>
      {isDraft && mayUse('bills:write') && <Hold bill={bill} />}
      {bill.status === 'Published' && mayUse('bills:distribute') && <SendAgain bill={bill} />}
      {isPosted && mayUse('collections:write') && <Dispute bill={bill} />}
      {canBeSplit(bill) && mayUse('collections:write') && <Instalments bill={bill} />}
      {isPosted && mayUse('credits:write') && bill.surcharges.length > 0 && <Waive bill={bill} />}
      {isPosted && mayUse('credits:write') && <Credit bill={bill} />}
      {isPosted && mayUse('bills:post') && <Cancel bill={bill} />}
    </>
  );
}

function useReason() {
  const { t } = useTranslation();
  return { label: t('reason'), kind: 'long', required: true } as const;
}

function Hold({ bill: { billID, hold, ts } }: Props) {
  const { t } = useTranslation();
  const reason = useReason();
  if (hold === 1) {
    return (
      <ActionDialog
        label={t('billAction.release')}
        fields={{}}
        send={() => api.holdBill({ data: { billID, hold: false, ts } })}
      />
    );
  }
  return (
    <ActionDialog
      label={t('billAction.hold')}
      effect={<Text size="sm">{t('billAction.holdEffect')}</Text>}
      fields={{ reason }}
      send={({ reason }) => api.holdBill({ data: { billID, hold: true, reason, ts } })}
    />
  );
}

function SendAgain({ bill: { billID, termID } }: Props) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('billAction.send')}
      effect={<Text size="sm">{t('billAction.sendEffect')}</Text>}
      fields={{}}
      send={() =>
        api.distributeBills({
          operation: 'schedule',
          data: { termID, resend: true },
          billId: billID,
        })
      }
    />
  );
}

function Dispute({ bill: { billID, outstandingAmount } }: Props) {
  const { t } = useTranslation();
  const reason = useReason();
  return (
    <ActionDialog
      label={t('billAction.dispute')}
      effect={<Text size="sm">{t('billAction.disputeEffect')}</Text>}
      fields={{
        amount: {
          label: t('bills.amount'),
          kind: 'amount',
          initial: String(outstandingAmount),
          required: true,
        },
        reason,
      }}
      send={({ amount = '', reason = '' }) =>
        api.makeDisputes({ disputes: [{ billID, amount, reason }] })
      }
    />
  );
}

function Waive({ bill: { billID } }: Props) {
  const { t } = useTranslation();
  const reason = useReason();
  return (
    <ActionDialog
      label={t('billAction.waive')}
      fields={{ reason }}
      send={({ reason = '' }) => api.waiveSurcharge({ data: { billID, reason } })}
    />
  );
}

function Credit({ bill }: Props) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const reason = useReason();
  const { billID } = bill;
  const left = bill.components.filter((one) => one.amount > one.creditedAmount);
  const choices = left.map((one) => ({
    value: one.component,
    label: `${one.component} · ${money(one.amount - one.creditedAmount)}`,
  }));
  return (
    <ActionDialog
      label={t('billAction.credit')}
      effect={<Text size="sm">{t('billAction.creditEffect')}</Text>}
      fields={{
        component: {
          label: t('billAction.component'),
          kind: 'choice',
          choices: [{ value: '*', label: t('billAction.whole') }, ...choices],
        },
        amount: { label: t('bills.amount'), kind: 'amount', hint: t('billAction.amountHint') },
        reason,
      }}
      send={({ component = '', amount = '', reason = '' }) => {
        const what = component === '*' ? { fullBill: true } : { lines: [{ component, amount }] };
        return api.makeCreditNotes({ creditNotes: [{ billID, reason, ...what }] });
      }}
    />
  );
}

function Cancel({ bill: { billID } }: Props) {
  const { t } = useTranslation();
  const reason = useReason();
  return (
    <ActionDialog
      label={t('billAction.cancel')}
      colour="red"
      effect={<Text size="sm">{t('billAction.cancelEffect')}</Text>}
      fields={{
        reason,
        rebill: { label: t('billAction.rebill'), kind: 'yes', hint: t('billAction.rebillHint') },
      }}
      send={({ reason = '', rebill }) =>
        api.cancelBill({
          operation: 'schedule',
          data: { billID, reason, rebill: rebill === 'yes' },
        })
      }
    />
  );
}

/** What is not published is not with the customer yet. */
function canBeSplit({ status, outstandingAmount }: ListedBill): boolean {
  return status === 'Published' && outstandingAmount > 0;
}

const instalmentCounts = ['2', '3', '4', '6', '12'];

/** Equal parts, one each month; what is left over by rounding is in the last one. */
function Instalments({ bill }: Props) {
  const { t } = useTranslation();
  const decimals = useSession()?.currencyDecimals ?? 2;
  const reason = useReason();
  const { billID, connectionNumber, outstandingAmount } = bill;
  if (connectionNumber === null) return null;
  return (
    <ActionDialog
      label={t('billAction.instalments')}
      effect={<Text size="sm">{t('billAction.instalmentsEffect')}</Text>}
      fields={{
        count: {
          label: t('billAction.instalmentCount'),
          kind: 'choice',
          choices: instalmentCounts.map((value) => ({ value, label: value })),
        },
        first: { label: t('billAction.firstInstalment'), kind: 'date', required: true },
        reason,
      }}
      send={({ count, first = '', reason = '' }) => {
        const amounts = equalParts(outstandingAmount, Number(count), decimals);
        const instalments = amounts.map((amount, index) => ({
          dueDate: monthsAfter(first, index),
          amount,
        }));
        const plan = { connectionNumber, billIDs: [billID], instalments, reason };
        return api.makeInstalmentPlans({ plans: [plan] });
      }}
    />
  );
}
