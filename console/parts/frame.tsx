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
  IconGauge,
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
import { useSession } from '../api/session.ts';
import { Choices } from './choices.tsx';
import { Connection } from './connection.tsx';
import { JobsIndicator } from './jobs-indicator.tsx';
import { KeyList, ShowKeys } from './keys.tsx';
import { LogInAgain } from './log-in-again.tsx';
import { ownPlaces, type PlaceKey } from './places.ts';
import { Search } from './search.tsx';

const icons = {
  terms: IconCalendarDollar,
  readings: IconGauge,
  customers: IconUsers,
  groups: IconUsersGroup,
  subscriptions: IconPlug,
  payments: IconCash,
  cashDesk: IconCashRegister,
  bank: IconBuildingBank,
  collections: IconMailDollar,
  ledger: IconBook2,
  reports: IconChartBar,
  services: IconStack2,
  plans: IconTags,
  files: IconFileImport,
  settings: IconSettings,
} satisfies Record<PlaceKey, unknown>;

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
        {ownPlaces().map(({ to, key }) => {
          const Icon = icons[key];
          return (
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
          );
        })}
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
