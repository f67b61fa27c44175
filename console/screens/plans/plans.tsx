// Every plan, of one service or of all.
import { NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Plan, planPages, servicesQuery } from '../../api/queries/plans.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { NewPlan } from './new-plan.tsx';

export function Plans() {
  const { t } = useTranslation();
  const { service = '' } = useSearch({ from: '/inside/plans' });
  const navigate = useNavigate();
  const services = useQuery(servicesQuery);
  const choose = (code: string) =>
    navigate({ to: '/plans', search: code === '' ? {} : { service: code } });
  return (
    <Page
      title={t('plans.title')}
      hint={t('plans.hint')}
      actions={mayUse('plans:write') && <NewPlan serviceCode={service} />}
    >
      <NativeSelect
        maw={360}
        label={t('plans.service')}
        value={service}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: '', label: t('plans.allServices') },
          ...(services.data ?? []).map((one) => ({
            value: one.serviceCode,
            label: `${one.serviceCode} · ${one.serviceLabel}`,
          })),
        ]}
      />
      <List
        pages={planPages(service)}
        columns={useColumns()}
        rowKey={(plan) => plan.tariffID}
        label={t('plans.title')}
        empty={<Empty title={t('plans.none')}>{t('plans.noneHint')}</Empty>}
      />
    </Page>
  );
}

function useColumns(): Column<Plan>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'code',
      label: t('plans.code'),
      text: (plan) => plan.tariffCode,
      show: (plan) => (
        <PageLink to="/plans/$planID" params={{ planID: String(plan.tariffID) }}>
          {plan.tariffCode}
        </PageLink>
      ),
    },
    { key: 'name', label: t('plans.name'), show: (plan) => plan.label },
    { key: 'service', label: t('plans.service'), show: (plan) => plan.serviceCode },
    { key: 'parent', label: t('plans.parent'), show: (plan) => plan.parentTariffCode },
    {
      key: 'description',
      label: t('plans.description'),
      text: (plan) => plan.description,
      show: (plan) => (
        <Text size="sm" maw={320} truncate>
          {plan.description}
        </Text>
      ),
    },
    {
      key: 'count',
      label: t('plans.subscriptions'),
      isFigure: true,
      show: (plan) => plan.connCount,
    },
  ];
}
