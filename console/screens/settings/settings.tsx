// Everything that an administrator sets up and looks after.
import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { mayUse } from '../../api/session.ts';
import { Page } from '../../parts/page.tsx';
import { TabLine } from '../../parts/tabs.tsx';
import { Webhooks } from '../webhooks/webhooks.tsx';
import { ApiClients } from './api-clients.tsx';
import { AuditTrail } from './audit-trail.tsx';
import { Gateways } from './gateways.tsx';
import { Jobs } from './jobs.tsx';
import { Letterhead } from './letterhead.tsx';
import { Logins } from './logins.tsx';
import { MeterTypes } from './meter-types.tsx';
import { Periods } from './periods.tsx';
import { System } from './system.tsx';
import { Templates } from './templates.tsx';
import { Workspace } from './workspace.tsx';

const tabs: readonly { key: string; permission: string; show: () => ReactNode }[] = [
  { key: 'workspace', permission: 'settings:read', show: () => <Workspace /> },
  { key: 'letterhead', permission: 'contexts:read', show: () => <Letterhead /> },
  { key: 'templates', permission: 'contexts:read', show: () => <Templates /> },
  { key: 'periods', permission: 'contexts:read', show: () => <Periods /> },
  { key: 'meterTypes', permission: 'meters:read', show: () => <MeterTypes /> },
  { key: 'logins', permission: 'access:read', show: () => <Logins /> },
  { key: 'clients', permission: 'access:read', show: () => <ApiClients /> },
  { key: 'webhooks', permission: 'webhooks:read', show: () => <Webhooks /> },
  { key: 'gateways', permission: 'settings:read', show: () => <Gateways /> },
  { key: 'audit', permission: 'audit:read', show: () => <AuditTrail /> },
  { key: 'jobs', permission: 'terms:read', show: () => <Jobs /> },
  { key: 'system', permission: 'settings:read', show: () => <System /> },
];

export function Settings() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { tab } = useSearch({ from: '/inside/settings' });
  const offered = tabs.filter(({ permission }) => mayUse(permission));
  const chosen = offered.find(({ key }) => key === tab) ?? offered[0];
  return (
    <Page title={t('settings.title')}>
      <Tabs
        value={chosen?.key ?? null}
        onChange={(key) => navigate({ to: '/settings', search: key === null ? {} : { tab: key } })}
      >
        <TabLine open={chosen?.key}>
          {offered.map(({ key }) => (
            <Tabs.Tab key={key} value={key} px="xs">
              {t(`settings.tabs.${key}`)}
            </Tabs.Tab>
          ))}
        </TabLine>
        {chosen && (
          <Tabs.Panel value={chosen.key} pt="md">
            {chosen.show()}
          </Tabs.Panel>
        )}
      </Tabs>
    </Page>
  );
}
