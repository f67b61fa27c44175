// What there is beside the bills of a customer: deposits, credit notes, single charges and credits.
import { Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { depositPages } from '../../api/queries/customers.ts';
import { serviceQuery } from '../../api/queries/services.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog, Field, type FieldSpec } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import { CreditNotes } from '../../parts/credit-notes.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

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

/** The charges offered are those of the service; what else was typed stays with another choice. */
function Adjust({ subscriptions, close }: AdjustProps) {
  const { t } = useTranslation();
  const [reference] = useState(newRequestKey);
  const form = useForm<Record<string, string>>({
    initialValues: {
      ...{ connectionNumber: subscriptions[0]?.connectionNumber ?? '', component: '' },
      ...{ kind: 'Debit', amount: '', reason: '' },
    },
  });
  const { connectionNumber = '' } = form.values;
  const chosen = subscriptions.find((one) => one.connectionNumber === connectionNumber);
  const service = useQuery(serviceQuery(chosen?.serviceCode ?? ''));
  const components = service.data?.components ?? [];
  const component = components.find(({ name }) => name === form.values.component) ?? components[0];
  const specs = adjustFields(t, subscriptions);
  const field = (name: keyof typeof specs) => (
    <Field name={name} spec={specs[name]} form={form} isFirst={name === 'connectionNumber'} />
  );
  return (
    <SendForm
      form={form}
      action={t('adjust.title')}
      isReady={component !== undefined}
      onDone={close}
      send={({ kind, amount = '', reason = '' }) =>
        api.makeAdjustments({
          adjustments: [
            {
              ...{ reference, connectionNumber, component: component?.name ?? '' },
              kind: kinds.find((one) => one === kind) ?? 'Debit',
              amount: signed(kind, amount.trim()),
              reason: reason.trim(),
            },
          ],
        })
      }
    >
      <Text size="sm">{t('adjust.effect')}</Text>
      {field('connectionNumber')}
      {field('kind')}
      {service.isLoadingError && (
        <Refusal error={service.error} onRetry={() => service.refetch()} />
      )}
      <NativeSelect
        label={t('bill.charge')}
        data={components.map(({ name, label }) => ({ value: name, label: label ?? name }))}
        {...form.getInputProps('component')}
        value={component?.name ?? ''}
      />
      {field('amount')}
      {field('reason')}
    </SendForm>
  );
}

function adjustFields(t: TFunction, subscriptions: readonly Subscription[]) {
  const numbers = subscriptions.map((one) => one.connectionNumber);
  return {
    connectionNumber: {
      label: t('bills.subscription'),
      kind: 'choice',
      choices: numbers.map((value) => ({ value, label: value })),
    },
    kind: {
      label: t('collections.kind'),
      kind: 'choice',
      choices: kinds.map((value) => ({ value, label: t(`adjust.${value}`) })),
    },
    amount: { label: t('bills.amount'), kind: 'amount', required: true },
    reason: { label: t('reason'), kind: 'long', required: true },
  } satisfies Record<string, FieldSpec>;
}

/** People type what is credited or written off; in the books it is below zero. */
function signed(kind: string | undefined, amount: string): string {
  return kind === 'Debit' ? amount : `-${amount.replace(/^-/, '')}`;
}
