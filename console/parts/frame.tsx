// The frame around every screen: navigation, language, colours, log-out.
import { Anchor, AppShell, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBook2,
  IconBuildingBank,
  IconCalendarDollar,
  IconCash,
  IconCashRegister,
  IconChartBar,
  IconFileImport,
  IconMailDollar,
  IconPlug,
  IconSettings,
  IconStack2,
  IconTags,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { mayUse, useSession } from '../api/session.ts';
import { Choices } from './choices.tsx';
import { Connection } from './connection.tsx';
import { JobsIndicator } from './jobs-indicator.tsx';
import { KeyList, ShowKeys } from './keys.tsx';
import { LogInAgain } from './log-in-again.tsx';
import { Search } from './search.tsx';

const places = [
  { to: '/', key: 'terms', permission: 'terms:read', icon: IconCalendarDollar },
  { to: '/customers', key: 'customers', permission: 'parties:read', icon: IconUsers },
  { to: '/groups', key: 'groups', permission: 'billing-groups:read', icon: IconUsersGroup },
  { to: '/subscriptions', key: 'subscriptions', permission: 'subscriptions:read', icon: IconPlug },
  { to: '/payments', key: 'payments', permission: 'payments:read', icon: IconCash },
  { to: '/cash-desk', key: 'cashDesk', permission: 'payments:write', icon: IconCashRegister },
  { to: '/bank', key: 'bank', permission: 'bank-files:read', icon: IconBuildingBank },
  { to: '/collections', key: 'collections', permission: 'collections:read', icon: IconMailDollar },
  { to: '/ledger', key: 'ledger', permission: 'ledger:read', icon: IconBook2 },
  { to: '/reports', key: 'reports', permission: 'ledger:read', icon: IconChartBar },
  { to: '/services', key: 'services', permission: 'contexts:read', icon: IconStack2 },
  { to: '/plans', key: 'plans', permission: 'plans:read', icon: IconTags },
  { to: '/files', key: 'files', permission: 'meters:read', icon: IconFileImport },
  { to: '/settings', key: 'settings', permission: 'settings:read', icon: IconSettings },
] as const;

export function Frame() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const session = useSession();
  const content = useContentFocus(pathname);
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <Anchor
        href="#content"
        className="skip"
        onClick={(event) => {
          event.preventDefault();
          content.current?.focus();
        }}
      >
        {t('skip')}
      </Anchor>
      <AppShell.Header>
        <Group
          h="100%"
          px={{ base: 'xs', xs: 'md' }}
          gap="xs"
          justify="space-between"
          wrap="nowrap"
        >
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('menu')}
            />
            <Anchor component={Link} to="/" fw={700} c="inherit" underline="never">
              Billwright
            </Anchor>
            <Text c="dimmed" size="sm" truncate visibleFrom="xs">
              {session?.workspace}
            </Text>
          </Group>
          <Group gap={4} wrap="nowrap">
            <JobsIndicator />
            <Search />
            <ShowKeys />
            <Choices />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('navigation')}>
        {places
          .filter(({ permission }) => mayUse(permission))
          .map(({ to, key, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              onClick={close}
              label={t(`places.${key}`)}
              leftSection={<Icon size={18} aria-hidden />}
              active={isWithin(pathname, to)}
              {...(isWithin(pathname, to) ? { 'aria-current': 'page' as const } : {})}
            />
          ))}
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={content} tabIndex={-1}>
        <Connection />
        <Outlet />
      </AppShell.Main>
      <KeyList />
      {session?.isOver && <LogInAgain user={session.user} />}
    </AppShell>
  );
}

/** After a link of the navigation, the next Tab is in the page that it opened. */
function useContentFocus(pathname: string) {
  const content = useRef<HTMLElement>(null);
  const seen = useRef(pathname);
  useEffect(() => {
    if (seen.current === pathname) return;
    seen.current = pathname;
    const isInside = content.current?.contains(document.activeElement) ?? false;
    if (!isInside) content.current?.focus({ preventScroll: true });
  }, [pathname]);
  return content;
}

function isWithin(pathname: string, to: string): boolean {
  if (to === '/') return pathname === '/' || /^\/(terms|bills)\//.test(pathname);
  return pathname.startsWith(to);
}
