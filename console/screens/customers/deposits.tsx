// What there is beside the bills of a customer: deposits, credit notes, single charges and credits.
import { Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { depositPages } from '../../api/queries/customers.ts';
import { serviceQuery } from '../../api/queries/services.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog, ActionForm } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import { CreditNotes } from '../../parts/credit-notes.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading } from '../../parts/notes.tsx';

type Party = DataOf<'getUsers'>['user'];
type Subscription = Party['subscriptions'][number];
type Deposit = DataOf<'getDeposits'>['deposits'][number];

export function Deposits({ party }: { party: Party }) {
  const { t } = useTranslation();
  return (
    <Stack>
      {mayUse('credits:write') && party.subscriptions.length > 0 && (
        <Group>
          <DialogButton label={t('adjust.title')} variant="default">
            {(close) => <Adjust subscriptions={party.subscriptions} close={close} />}
          </DialogButton>
        </Group>
      )}
      <List
        pages={depositPages(party.partyNumber)}
        label={t('deposits.title')}
        rowKey={(deposit) => deposit.depositID ?? 0}
        empty={<Empty title={t('deposits.none')}>{t('deposits.noneHint')}</Empty>}
        columns={[
          {
            key: 'subscription',
            label: t('bills.subscription'),
            show: (deposit) => deposit.connectionNumber,
          },
          { key: 'date', label: t('statement.date'), show: (deposit) => deposit.issueDate },
          { key: 'reason', label: t('reason'), show: (deposit) => deposit.reason },
          ...(['amount', 'outstandingAmount', 'heldAmount'] as const).map((name) => ({
            key: name,
            label: t(`deposits.${name}`),
            isFigure: true,
            text: (deposit: Deposit) => deposit[name],
            sum: (deposit: Deposit) => deposit[name] ?? 0,
            show: (deposit: Deposit) => <Amount value={deposit[name] ?? 0} />,
          })),
          {
            key: 'refund',
            label: t('logins.action'),
            text: () => '',
            show: (deposit) =>
              mayUse('credits:write') &&
              (deposit.heldAmount ?? 0) > 0 && <RefundDeposit deposit={deposit} />,
          },
        ]}
      />
      {mayUse('bills:read') && <CreditNotes of={{ partyID: party.partyID }} />}
    </Stack>
  );
}

const methods = ['Bank', 'Cash', 'Cheque'] as const;

function RefundDeposit({
  deposit: { connectionNumber = '', heldAmount = 0 },
}: {
  deposit: Deposit;
}) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('deposits.refund')}
      effect={<Text size="sm">{t('deposits.refundEffect')}</Text>}
      fields={{
        amount: {
          label: t('bills.amount'),
          kind: 'amount',
          initial: String(heldAmount),
          required: true,
        },
        paymentMethod: {
          label: t('payments.method'),
          kind: 'choice',
          choices: methods.map((value) => ({ value, label: t(`method.${value}`) })),
        },
        reason: { label: t('reason'), kind: 'long', required: true },
      }}
      send={({ amount = '', paymentMethod, reason = '' }, reference) =>
        api.refundDeposit({
          data: {
            connectionNumber,
            amount,
            reference,
            reason,
            paymentMethod: methods.find((one) => one === paymentMethod) ?? 'Bank',
          },
        })
      }
    />
  );
}

const kinds = ['Debit', 'Credit', 'WriteOff', 'BadDebt'] as const;

type AdjustProps = { subscriptions: readonly Subscription[]; close: () => void };

function Adjust({ subscriptions, close }: AdjustProps) {
  const { t } = useTranslation();
  const [number, setNumber] = useState(subscriptions[0]?.connectionNumber ?? '');
  const chosen = subscriptions.find((one) => one.connectionNumber === number);
  if (!chosen) return null;
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('bills.subscription')}
        data={subscriptions.map((one) => one.connectionNumber)}
        value={number}
        onChange={(event) => setNumber(event.currentTarget.value)}
      />
      <AdjustForm key={number} subscription={chosen} close={close} />
    </Stack>
  );
}

function AdjustForm({
  subscription: { connectionNumber, serviceCode },
  close,
}: {
  subscription: Subscription;
  close: () => void;
}) {
  const { t } = useTranslation();
  const { data: service } = useQuery(serviceQuery(serviceCode));
  if (!service) return <Loading />;
  return (
    <ActionForm
      label={t('adjust.title')}
      close={close}
      effect={<Text size="sm">{t('adjust.effect')}</Text>}
      fields={{
        kind: {
          label: t('collections.kind'),
          kind: 'choice',
          choices: kinds.map((value) => ({ value, label: t(`adjust.${value}`) })),
        },
        component: {
          label: t('bill.charge'),
          kind: 'choice',
          choices: (service.components ?? []).map(({ name, label }) => ({
            value: name,
            label: label ?? name,
          })),
        },
        amount: { label: t('bills.amount'), kind: 'amount', required: true },
        reason: { label: t('reason'), kind: 'long', required: true },
      }}
      send={({ kind, component = '', amount = '', reason = '' }, reference) =>
        api.makeAdjustments({
          adjustments: [
            {
              reference,
              connectionNumber,
              component,
              kind: kinds.find((one) => one === kind) ?? 'Debit',
              // People type what is credited or written off; in the books it is below zero.
              amount: kind === 'Debit' ? amount : `-${amount.replace(/^-/, '')}`,
              reason,
            },
          ],
        })
      }
    />
  );
}
