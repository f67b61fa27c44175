// Billing groups: accounts that are billed by the same period, and looked at together.
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { groupPages } from '../../api/queries/groups.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { usePeriods } from '../../parts/group-period.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';

export function Groups() {
  const { t } = useTranslation();
  const { nameOf } = usePeriods();
  return (
    <Page
      title={t('groups.title')}
      hint={t('groups.hint')}
      actions={mayUse('billing-groups:write') && <NewGroup />}
    >
      <List
        pages={groupPages}
        columns={[
          {
            key: 'name',
            label: t('customers.name'),
            text: ({ name }) => name,
            show: ({ billingGroupID, name }) => (
              <PageLink
                to="/groups/$billingGroupID"
                params={{ billingGroupID: String(billingGroupID) }}
              >
                {name}
              </PageLink>
            ),
          },
          {
            key: 'period',
            label: t('groups.period'),
            show: ({ billingPeriodID }) => nameOf(billingPeriodID),
          },
        ]}
        rowKey={({ billingGroupID }) => billingGroupID}
        label={t('groups.title')}
        empty={<Empty title={t('groups.none')}>{t('groups.noneHint')}</Empty>}
      />
    </Page>
  );
}

function NewGroup() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { choices } = usePeriods();
  return (
    <ActionDialog
      label={t('groups.new')}
      variant="filled"
      fields={{
        name: { label: t('customers.name'), required: true },
        billingPeriodID: {
          label: t('groups.period'),
          hint: t('groups.periodHint'),
          kind: 'choice',
          choices,
        },
        description: { label: t('plans.description'), kind: 'long' },
      }}
      send={({ name = '', billingPeriodID, description }) =>
        api.addBillingGroup({
          name,
          description,
          billingPeriodID: billingPeriodID === undefined ? undefined : Number(billingPeriodID),
        })
      }
      onDone={({ headers }) =>
        navigate({
          to: '/groups/$billingGroupID',
          params: { billingGroupID: headers.get('x-resource-id') ?? '' },
        })
      }
    />
  );
}
