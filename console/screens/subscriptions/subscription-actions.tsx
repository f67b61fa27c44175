// What can be changed about a subscription. Each dialog says first what it will do.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import {
  plansQuery,
  type SubscriptionData,
  subscriptionQuery,
} from '../../api/queries/subscriptions.ts';
import { mayUse, today } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Steady } from '../../parts/steady.tsx';

export function SubscriptionActions({ subscription }: Props) {
  const query = subscriptionQuery(subscription.connectionNumber ?? '');
  return (
    <Steady
      subject={subscription}
      versionOf={({ ts, status }) => `${ts} ${status}`}
      reload={() => queries.fetchQuery({ ...query, staleTime: 0 })}
    >
      {(steady) => <Actions subscription={steady} />}
    </Steady>
  );
}

function Actions({ subscription }: Props) {
  const { status } = subscription;
  const mayWrite = mayUse('subscriptions:write');
  const mayManage = mayUse('subscriptions:manage');
  const isOpen = status === 'Active' || status === 'Disconnected';
  return (
    <>
      {mayWrite && status === 'Pending' && <Activate subscription={subscription} />}
      {mayWrite && isOpen && <ChangePlan subscription={subscription} />}
      {mayWrite && status === 'Active' && <Disconnect subscription={subscription} />}
      {mayWrite && status === 'Disconnected' && <Reconnect subscription={subscription} />}
      {mayManage && isOpen && <Transfer subscription={subscription} />}
      {mayUse('bills:write') && isOpen && <FinalBill subscription={subscription} />}
      {mayUse('credits:write') && isOpen && <DemandDeposit subscription={subscription} />}
      {mayManage && status === 'Disconnected' && <Close subscription={subscription} />}
    </>
  );
}

type Props = { subscription: SubscriptionData };

function Effect({ name }: { name: string }) {
  const { t } = useTranslation();
  return <Text size="sm">{t(`effect.${name}`)}</Text>;
}

function useDateField() {
  const { t } = useTranslation();
  return { label: t('subscription.effective'), kind: 'date', initial: today() } as const;
}

function Activate({ subscription: { connectionNumber = '' } }: Props) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('subscription.activate')}
      effect={<Effect name="activate" />}
      fields={{}}
      send={() => api.updateConnection({ data: { connectionNumber, activate: true } })}
    />
  );
}

function ChangePlan({ subscription }: Props) {
  const { t } = useTranslation();
  const { connectionNumber = '', serviceCode = '', ts } = subscription;
  const { data: plans = [] } = useQuery(plansQuery(serviceCode));
  const effectiveDate = useDateField();
  return (
    <ActionDialog
      label={t('subscription.changePlan')}
      effect={<Effect name="changePlan" />}
      fields={{
        tariffCode: {
          label: t('customer.plan'),
          kind: 'choice',
          choices: plans
            .filter((plan) => plan.planType === 'BASE_PLAN' || plan.planType === undefined)
            .map((plan) => ({ value: plan.tariffCode, label: plan.label })),
        },
        effectiveDate,
      }}
      send={({ tariffCode = '', effectiveDate }) =>
        api.changeTariff({ data: { connectionNumber, tariffCode, effectiveDate, ts } })
      }
    />
  );
}

const kinds = ['Temporary', 'CustomerRequest', 'Permanent'] as const;

function Disconnect({ subscription: { connectionNumber = '', ts } }: Props) {
  const { t } = useTranslation();
  const effectiveDate = useDateField();
  return (
    <ActionDialog
      label={t('subscription.disconnect')}
      colour="red"
      effect={<Effect name="disconnect" />}
      fields={{
        kind: {
          label: t('subscription.kind'),
          kind: 'choice',
          choices: kinds.map((value) => ({ value, label: t(`disconnection.${value}`) })),
        },
        effectiveDate,
        reason: { label: t('reason') },
      }}
      send={({ kind, effectiveDate, reason }) =>
        api.disconnectConnection({
          data: {
            connectionNumber,
            kind: kinds.find((one) => one === kind),
            effectiveDate,
            reason,
            ts,
          },
        })
      }
    />
  );
}

function Reconnect({ subscription: { connectionNumber = '', ts } }: Props) {
  const { t } = useTranslation();
  const effectiveDate = useDateField();
  return (
    <ActionDialog
      label={t('subscription.reconnect')}
      effect={<Effect name="reconnect" />}
      fields={{ effectiveDate }}
      send={({ effectiveDate }) =>
        api.reconnectConnection({ data: { connectionNumber, effectiveDate, ts } })
      }
    />
  );
}

function Transfer({ subscription: { connectionNumber = '', ts } }: Props) {
  const { t } = useTranslation();
  const transferDate = useDateField();
  return (
    <ActionDialog
      label={t('subscription.transfer')}
      effect={<Effect name="transfer" />}
      fields={{
        toPartyNumber: { label: t('subscription.toParty'), required: true },
        transferDate,
        balanceHandling: {
          label: t('subscription.balance'),
          kind: 'choice',
          choices: [
            { value: 'StayWithOld', label: t('subscription.stays') },
            { value: 'MoveToNew', label: t('subscription.moves') },
          ],
        },
        reason: { label: t('reason') },
      }}
      send={({ toPartyNumber, transferDate, balanceHandling, reason }) =>
        api.transferConnection({
          data: {
            connectionNumber,
            toPartyNumber: Number(toPartyNumber),
            transferDate,
            balanceHandling: balanceHandling === 'MoveToNew' ? 'MoveToNew' : 'StayWithOld',
            reason,
            ts,
          },
        })
      }
    />
  );
}

function FinalBill({ subscription: { connectionNumber = '' } }: Props) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('subscription.finalBill')}
      effect={<Effect name="finalBill" />}
      fields={{}}
      send={() => api.billConnection({ operation: 'schedule', data: { connectionNumber } })}
    />
  );
}

function DemandDeposit({ subscription: { connectionNumber = '' } }: Props) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('subscription.deposit')}
      effect={<Effect name="deposit" />}
      fields={{
        amount: { label: t('bills.amount'), kind: 'amount', required: true },
        reference: { label: t('payments.reference'), required: true },
        dueDate: { label: t('terms.due'), kind: 'date' },
        reason: { label: t('reason'), required: true },
      }}
      send={({ amount = '', reference = '', dueDate, reason = '' }) =>
        api.demandDeposit({ data: { connectionNumber, amount, reference, dueDate, reason } })
      }
    />
  );
}

const deposits = ['ApplyToBalance', 'Refund', 'Keep'] as const;

function Close({ subscription: { connectionNumber = '', ts } }: Props) {
  const { t } = useTranslation();
  const effectiveDate = useDateField();
  return (
    <ActionDialog
      label={t('subscription.close')}
      colour="red"
      effect={<Effect name="close" />}
      fields={{
        effectiveDate,
        depositHandling: {
          label: t('subscription.depositHandling'),
          kind: 'choice',
          choices: deposits.map((value) => ({ value, label: t(`deposit.${value}`) })),
        },
      }}
      send={({ effectiveDate, depositHandling }) =>
        api.closeConnection({
          data: {
            connectionNumber,
            effectiveDate,
            depositHandling: deposits.find((one) => one === depositHandling),
            ts,
          },
        })
      }
    />
  );
}
