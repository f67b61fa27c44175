// Payment gateways: where each sends its notices, and the secret that signs them.
import { Button, Group, NativeSelect, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { bankAccountsQuery } from '../../api/queries/bank.ts';
import { type Gateway, gatewayPages } from '../../api/queries/webhooks.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { shownTime } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { CopyField, newSecret } from '../../parts/secret-field.tsx';
import { SendForm, useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';
import { RotateSecret, SecretField } from '../webhooks/webhook-forms.tsx';

const adapters = ['standard'] as const;
type Adapter = (typeof adapters)[number];

export function Gateways() {
  const { t } = useTranslation();
  const make = mayUse('settings:write') && (
    <DialogButton label={t('gateways.new')}>
      {(close) => <NewGateway onDone={close} />}
    </DialogButton>
  );
  return (
    <List
      pages={gatewayPages}
      columns={useColumns()}
      rowKey={(gateway) => gateway.adapter}
      label={t('settings.tabs.gateways')}
      empty={
        <Empty title={t('gateways.none')} action={make}>
          {t('gateways.noneHint')}
        </Empty>
      }
      tools={make}
    />
  );
}

function useColumns(): Column<Gateway>[] {
  const { t } = useTranslation();
  return [
    { key: 'adapter', label: t('gateways.adapter'), show: (gateway) => gateway.adapter },
    {
      key: 'account',
      label: t('gateways.account'),
      text: (gateway) => gateway.bankAccountID,
      show: (gateway) => <AccountName bankAccountID={gateway.bankAccountID} />,
    },
    {
      key: 'status',
      label: t('terms.status'),
      text: (gateway) => gateway.status,
      show: (gateway) => <Status value={gateway.status} />,
    },
    {
      key: 'url',
      label: t('gateways.url'),
      text: addressOf,
      show: (gateway) => (
        <CopyField aria-label={t('gateways.url')} readOnly miw={240} value={addressOf(gateway)} />
      ),
    },
    {
      key: 'change',
      label: t('logins.action'),
      text: () => '',
      show: (gateway) => mayUse('settings:write') && <Actions gateway={gateway} />,
    },
  ];
}

/** The gateway calls the address at which the console is open. */
function addressOf(gateway: Gateway): string {
  return `${window.location.origin}${gateway.path}`;
}

function AccountName({ bankAccountID }: { bankAccountID: number }) {
  const { data: accounts = [] } = useQuery(bankAccountsQuery);
  const account = accounts.find((one) => one.bankAccountID === bankAccountID);
  return <>{account?.title ?? bankAccountID}</>;
}

function NewGateway({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const { data: accounts = [] } = useQuery(bankAccountsQuery);
  const form = useForm({
    initialValues: { adapter: 'standard' as Adapter, bankAccountID: '', secret: newSecret() },
  });
  return (
    <SendForm
      form={form}
      send={({ bankAccountID, ...gateway }) => {
        const chosen = Number(bankAccountID || accounts[0]?.bankAccountID);
        return api.makeGateways({ gateways: [{ ...gateway, bankAccountID: chosen }] });
      }}
      action={t('gateways.make')}
      isReady={accounts.length > 0}
      onDone={onDone}
    >
      <NativeSelect
        label={t('gateways.adapter')}
        description={t('gateways.adapterHint')}
        data={[...adapters]}
        {...form.getInputProps('adapter')}
      />
      <NativeSelect
        label={t('gateways.account')}
        description={t(accounts.length > 0 ? 'gateways.accountHint' : 'gateways.noAccount')}
        data={accounts.map((one) => ({
          value: String(one.bankAccountID),
          label: one.title,
        }))}
        {...form.getInputProps('bankAccountID')}
      />
      <SecretField {...form.getInputProps('secret')} />
    </SendForm>
  );
}

function Actions({ gateway }: { gateway: Gateway }) {
  const { t } = useTranslation();
  const { status, oldSecretUntil, ts } = gateway;
  const adapter = gateway.adapter as Adapter;
  const isActive = status === 'Active';
  const turn = useSend(() =>
    api.updateGateway({ data: { adapter, status: isActive ? 'Paused' : 'Active', ts } }),
  );
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <Button variant="default" loading={turn.isPending} onClick={() => turn.mutate(undefined)}>
          {t(isActive ? 'webhooks.pause' : 'webhooks.resume')}
        </Button>
        <DialogButton label={t('webhooks.newSecret')} variant="default">
          {(close) => (
            <RotateSecret
              effect={t('gateways.rotateHint')}
              send={(rotated) => api.updateGateway({ data: { adapter, ...rotated, ts } })}
              onDone={close}
            />
          )}
        </DialogButton>
      </Group>
      {oldSecretUntil && (
        <Text size="sm" c="dimmed">
          {t('webhooks.oldSecretUntil')} {shownTime(oldSecretUntil)}
        </Text>
      )}
      {turn.isError && <Refusal error={turn.error} />}
    </>
  );
}
