// The frame of the customer's pages, made for a phone first.
import { AppShell, Group, SegmentedControl, Text } from '@mantine/core';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSession } from '../api/session.ts';
import { Choices } from '../parts/choices.tsx';
import { Connection } from '../parts/connection.tsx';
import { LogInAgain } from '../parts/log-in-again.tsx';

const places = ['/portal', '/portal/bills', '/portal/usage', '/portal/details'] as const;

export function PortalFrame() {
  const { t } = useTranslation();
  const session = useSession();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (
    <AppShell header={{ height: 48 }} padding="sm">
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap">
          <Text fw={700} truncate>
            {session?.workspace}
          </Text>
          <Choices />
        </Group>
      </AppShell.Header>
      <AppShell.Main maw={760} mx="auto">
        <SegmentedControl
          fullWidth
          mb="md"
          className="no-print"
          aria-label={t('navigation')}
          value={places.find((one) => one === pathname) ?? '/portal'}
          onChange={(to) => navigate({ to })}
          data={places.map((value) => ({
            value,
            label: t(`portal.${value.split('/')[2] ?? 'home'}`),
          }))}
        />
        <Connection />
        <Outlet />
      </AppShell.Main>
      {session?.isOver && <LogInAgain user={session.user} />}
    </AppShell>
  );
}
