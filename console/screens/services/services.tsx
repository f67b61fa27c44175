// Every service (pricing context): what its plans share.
import { useTranslation } from 'react-i18next';
import { type Service, servicePages } from '../../api/queries/plans.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { NewService } from './new-service.tsx';

export function Services() {
  const { t } = useTranslation();
  return (
    <Page
      title={t('services.title')}
      hint={t('services.hint')}
      actions={mayUse('contexts:write') && <NewService />}
    >
      <List
        pages={servicePages}
        columns={useColumns()}
        rowKey={(service) => service.serviceCode}
        label={t('services.title')}
        empty={<Empty title={t('services.none')}>{t('services.noneHint')}</Empty>}
      />
    </Page>
  );
}

function useColumns(): Column<Service>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'code',
      label: t('plans.code'),
      text: (service) => service.serviceCode,
      show: (service) => (
        <PageLink to="/services/$serviceCode" params={{ serviceCode: service.serviceCode }}>
          {service.serviceCode}
        </PageLink>
      ),
    },
    { key: 'name', label: t('plans.name'), show: (service) => service.serviceLabel },
    {
      key: 'charging',
      label: t('services.charging'),
      show: (service) => t(`chargingType.${service.chargingType}`),
    },
    {
      key: 'due',
      label: t('services.dueDateOffset'),
      isFigure: true,
      show: (service) => service.dueDateOffset,
    },
    { key: 'template', label: t('services.template'), show: (service) => service.templateName },
  ];
}
