// The chart of accounts, and on which of them the charges of each service are booked.
import { Group, Stack, Text, Title } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import {
  type BookedCharge,
  bookedChargePages,
  type LedgerAccount,
  ledgerAccountPages,
} from '../../api/queries/ledger.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import type { Column } from '../../parts/columns.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';

const kinds = ['Asset', 'Liability', 'Income', 'Expense', 'Equity'] as const;

/** The first accounts have names in every language until a person renames them. */
export function accountName(t: TFunction, name: string): string {
  return t(`accountName.${name}`, { defaultValue: name });
}

export function Accounts() {
  const { t } = useTranslation();
  return (
    <Stack>
      {mayUse('ledger:write') && (
        <Group>
          <NewAccount />
        </Group>
      )}
      <List
        pages={ledgerAccountPages}
        columns={useColumns()}
        rowKey={(account) => account.accountCode}
        label={t('ledger.accounts')}
        empty={<Empty title={t('accounts.none')} />}
      />
      {mayUse('contexts:read') && <BookedCharges />}
    </Stack>
  );
}

function useColumns(): Column<LedgerAccount>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'code',
      label: t('accounts.code'),
      text: ({ accountCode }) => accountCode,
      show: ({ accountCode }) => (
        <PageLink to="/ledger" search={{ tab: 'journals', account: accountCode }}>
          {accountCode}
        </PageLink>
      ),
    },
    { key: 'name', label: t('accounts.name'), show: ({ name }) => accountName(t, name) },
    { key: 'kind', label: t('accounts.kind'), show: ({ kind }) => t(`accountKind.${kind}`) },
    {
      key: 'control',
      label: t('accounts.bookedBy'),
      text: ({ isControl }) => t(isControl === 1 ? 'accounts.control' : 'accounts.free'),
      show: ({ isControl }) => (
        <Text size="sm" miw="max-content">
          {t(isControl === 1 ? 'accounts.control' : 'accounts.free')}
        </Text>
      ),
    },
    ...(mayUse('ledger:write') ? [renaming(t)] : []),
  ];
}

function renaming(t: TFunction): Column<LedgerAccount> {
  return {
    key: 'rename',
    label: t('logins.action'),
    text: () => '',
    show: ({ accountCode, name }) => (
      <ActionDialog
        label={t('accounts.rename')}
        effect={<Text size="sm">{t('accounts.renameEffect', { code: accountCode })}</Text>}
        fields={{ name: { label: t('accounts.name'), initial: accountName(t, name) } }}
        send={(typed) =>
          // An empty name is refused at its field.
          api.updateLedgerAccount({ data: { accountCode, name: typed.name ?? '' } })
        }
      />
    ),
  };
}

function NewAccount() {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('accounts.new')}
      variant="filled"
      fields={{
        code: { label: t('accounts.code'), hint: t('accounts.codeHint'), required: true },
        name: { label: t('accounts.name'), required: true },
        kind: {
          label: t('accounts.kind'),
          kind: 'choice',
          initial: 'Income',
          choices: kinds.map((value) => ({ value, label: t(`accountKind.${value}`) })),
        },
      }}
      send={({ code = '', name = '', kind }) =>
        api.makeLedgerAccounts({
          accounts: [{ code, name, kind: kinds.find((one) => one === kind) ?? 'Income' }],
        })
      }
    />
  );
}

function BookedCharges() {
  const { t } = useTranslation();
  const columns: Column<BookedCharge>[] = [
    {
      key: 'service',
      label: t('terms.service'),
      text: ({ serviceCode }) => serviceCode,
      show: ({ serviceCode }) => (
        <PageLink to="/services/$serviceCode" params={{ serviceCode }}>
          {serviceCode}
        </PageLink>
      ),
    },
    {
      key: 'charge',
      label: t('bill.charge'),
      text: ({ label }) => label,
      show: ({ label }) => <span translate="no">{label}</span>,
    },
    {
      key: 'account',
      label: t('ledger.account'),
      text: ({ account, usual }) => account ?? usual,
      show: ({ account, usual }) => account ?? t('accounts.usual', { code: usual }),
    },
  ];
  return (
    <>
      <Title order={2} size="h4">
        {t('accounts.bookings')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('accounts.bookingsHint')}
      </Text>
      <List
        pages={bookedChargePages}
        columns={columns}
        rowKey={({ serviceCode, name }) => `${serviceCode} ${name}`}
        label={t('accounts.bookings')}
        empty={<Empty title={t('services.none')}>{t('services.noneHint')}</Empty>}
      />
    </>
  );
}
