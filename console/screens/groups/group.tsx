// One billing group: what it owes, and the accounts in it.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { groupQuery, type Member, memberPages } from '../../api/queries/groups.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Money } from '../../parts/amount.tsx';
import type { Column } from '../../parts/columns.ts';
import { EditDialog } from '../../parts/edit-dialog.tsx';
import { Figures } from '../../parts/figures.tsx';
import { usePeriods } from '../../parts/group-period.ts';
import { List } from '../../parts/list.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';

export function GroupScreen() {
  const { t } = useTranslation();
  const id = Number(useParams({ from: '/inside/groups/$billingGroupID' }).billingGroupID);
  const { nameOf } = usePeriods();
  const query = useQuery(groupQuery(id));
  const columns = useColumns(id);
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { name, description, billingPeriodID, accountCount, outstandingBalance } = query.data;
  return (
    <Page
      title={name}
      hint={description}
      crumbs={[{ label: t('groups.title'), to: '/groups' }]}
      actions={
        mayUse('billing-groups:write') && (
          <>
            <Edit group={query.data} />
            <AddAccounts id={id} />
          </>
        )
      }
    >
      <Figures
        items={[
          { label: t('groups.accounts'), value: accountCount },
          { label: t('customer.owes'), value: <Money value={outstandingBalance} /> },
          { label: t('groups.period'), value: nameOf(billingPeriodID) },
        ]}
      />
      <List
        pages={memberPages(id)}
        columns={columns}
        rowKey={({ connectionGroupID }) => connectionGroupID}
        label={t('groups.accounts')}
        empty={<Empty title={t('groups.noAccounts')}>{t('groups.noAccountsHint')}</Empty>}
      />
    </Page>
  );
}

function useColumns(billingGroupID: number): Column<Member>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'account',
      label: t('groups.account'),
      text: ({ connectionGroupLabel }) => connectionGroupLabel,
      show: ({ connectionGroupLabel }) => <span translate="no">{connectionGroupLabel}</span>,
    },
    { key: 'kind', label: t('customers.type'), show: ({ type }) => t(`partyKind.${type}`) },
    { key: 'service', label: t('terms.service'), show: ({ serviceCode }) => serviceCode },
    { key: 'plan', label: t('customer.plan'), show: ({ tariffLabel }) => tariffLabel },
    ...(mayUse('billing-groups:write')
      ? [
          {
            key: 'remove',
            label: t('logins.action'),
            text: () => '',
            show: ({ connectionGroupID, connectionGroupLabel }: Member) => (
              <ActionDialog
                label={t('groups.remove')}
                effect={
                  <Text size="sm">
                    {t('groups.removeEffect', { account: connectionGroupLabel })}
                  </Text>
                }
                fields={{}}
                send={() =>
                  api.removeBillingAccounts({
                    data: { billingGroupID, connectionGroupIDs: [connectionGroupID] },
                  })
                }
              />
            ),
          },
        ]
      : []),
  ];
}

function Edit({ group }: { group: DataOf<'getBillingGroup'>['billingGroup'] }) {
  const { t } = useTranslation();
  const { choices } = usePeriods();
  const { billingGroupID } = group;
  return (
    <EditDialog
      label={t('groups.edit')}
      object={group}
      fieldsOf={(one) => ({
        name: { label: t('customers.name'), initial: one.name, required: true },
        billingPeriodID: {
          label: t('groups.period'),
          hint: t('groups.periodHint'),
          kind: 'choice',
          initial: String(one.billingPeriodID ?? ''),
          choices,
        },
        description: {
          label: t('plans.description'),
          kind: 'long',
          initial: one.description ?? '',
        },
      })}
      load={async () => (await api.getBillingGroup({ billingGroupID })).data.billingGroup}
      send={({ name = '', billingPeriodID, description = null }, { ts }) =>
        api.updateBillingGroup({
          data: {
            billingGroupID,
            name,
            billingPeriodID: billingPeriodID === undefined ? null : Number(billingPeriodID),
            description,
            ts,
          },
        })
      }
    />
  );
}

function AddAccounts({ id: billingGroupID }: { id: number }) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('groups.add')}
      variant="filled"
      effect={<Text size="sm">{t('groups.addEffect')}</Text>}
      fields={{
        connectionGroupLabels: {
          label: t('groups.labels'),
          hint: t('groups.labelsHint'),
          kind: 'long',
          required: true,
        },
      }}
      send={({ connectionGroupLabels: typed = '' }) =>
        api.assignBillingAccounts({
          data: {
            billingGroupID,
            connectionGroupLabels: typed
              .split('\n')
              .map((label) => label.trim())
              .filter((label) => label !== ''),
          },
        })
      }
    />
  );
}
