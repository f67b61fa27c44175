// The billing accounts of a customer, each with its group.
import { Card, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { groupsQuery } from '../../api/queries/groups.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';

type Party = DataOf<'getUsers'>['user'];
type Account = Party['subscriptionGroups'][number];

export function BillingAccounts({ party }: { party: Party }) {
  const { t } = useTranslation();
  const accounts = party.subscriptionGroups;
  return (
    <>
      {mayUse('parties:write') && party.archiveStatus === 0 && (
        <Group mb="sm">
          <ActionDialog
            label={t('groups.newAccount')}
            fields={{ connectionGroupLabel: { label: t('groups.label'), required: true } }}
            send={({ connectionGroupLabel = '' }) => rename(party, { connectionGroupLabel })}
          />
        </Group>
      )}
      {accounts.length === 0 && (
        <Empty title={t('groups.noAccount')}>{t('groups.noAccountHint')}</Empty>
      )}
      {accounts.length > 0 && <Accounts party={party} />}
    </>
  );
}

type Sent = { connectionGroupID?: number; connectionGroupLabel: string };

function rename({ partyNumber }: Party, account: Sent) {
  return api.updateUser({ user: { partyNumber, connectionGroups: [account] } });
}

function Accounts({ party }: { party: Party }) {
  const { t } = useTranslation();
  return (
    <Card withBorder {...scrolls(t('groups.accounts'))}>
      <Table aria-label={t('groups.accounts')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('groups.account')}</Table.Th>
            <Table.Th>{t('bills.subscription')}</Table.Th>
            <Table.Th>{t('groups.group')}</Table.Th>
            <Table.Th className="figure">{t('customer.owes')}</Table.Th>
            <Table.Th>{t('logins.action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {party.subscriptionGroups.map((account) => (
            <Table.Tr key={account.connectionGroupID}>
              <Table.Td translate="no">{account.connectionGroupLabel}</Table.Td>
              <Table.Td>{account.subscriptions.join(', ')}</Table.Td>
              <Table.Td>
                <GroupOf account={account} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={account.balance} />
              </Table.Td>
              <Table.Td>
                <Actions party={party} account={account} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

function GroupOf({ account: { billingGroupID, billingGroupName } }: { account: Account }) {
  if (billingGroupID === null) return null;
  if (!mayUse('billing-groups:read')) return <Text size="sm">{billingGroupName}</Text>;
  return (
    <PageLink to="/groups/$billingGroupID" params={{ billingGroupID: String(billingGroupID) }}>
      {billingGroupName}
    </PageLink>
  );
}

function Actions({ party, account }: { party: Party; account: Account }) {
  const { t } = useTranslation();
  const { connectionGroupID, connectionGroupLabel } = account;
  return (
    <Group gap="xs" wrap="nowrap">
      {mayUse('parties:write') && party.archiveStatus === 0 && (
        <ActionDialog
          label={t('groups.rename')}
          fields={{
            connectionGroupLabel: {
              label: t('groups.label'),
              initial: connectionGroupLabel,
              required: true,
            },
          }}
          send={(typed) =>
            rename(party, {
              connectionGroupID,
              connectionGroupLabel: typed.connectionGroupLabel ?? '',
            })
          }
        />
      )}
      {mayUse('billing-groups:write') && <ChooseGroup account={account} />}
    </Group>
  );
}

/** By the id of the account: many customers may have one with the same label. */
function ChooseGroup({ account: { connectionGroupID, billingGroupID } }: { account: Account }) {
  const { t } = useTranslation();
  const { data: groups = [] } = useQuery(groupsQuery);
  const connectionGroupIDs = [connectionGroupID];
  return (
    <ActionDialog
      label={t('groups.choose')}
      effect={<Text size="sm">{t('groups.addEffect')}</Text>}
      fields={{
        billingGroupID: {
          label: t('groups.group'),
          kind: 'choice',
          initial: String(billingGroupID ?? ''),
          choices: [
            { value: '', label: t('groups.noGroup') },
            ...groups.map((one) => ({ value: String(one.billingGroupID), label: one.name })),
          ],
        },
      }}
      send={async ({ billingGroupID: chosen }) => {
        if (chosen !== undefined) {
          const data = { billingGroupID: Number(chosen), connectionGroupIDs };
          return api.assignBillingAccounts({ data });
        }
        if (billingGroupID === null) return null;
        return api.removeBillingAccounts({ data: { billingGroupID, connectionGroupIDs } });
      }}
    />
  );
}
