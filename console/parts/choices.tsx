// Language, colours, and the way out.
import { ActionIcon, Group, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconLanguage, IconLogout, IconMoon, IconSun } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../api/session.ts';
import { chooseLanguage, type Language, languages } from '../language/start.ts';
import { useLogOut } from './log-out.ts';

const OwnPassword = lazy(() => import('./own-password.tsx'));
const SecondFactor = lazy(() => import('./second-factor.tsx'));

/** Before the login too: not everyone reads the first language. */
export function LooksChoice() {
  const { t } = useTranslation();
  const { colorScheme, toggleColorScheme } = useMantineColorScheme();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('language')}>
            <IconLanguage size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(languages).map(([code, name]) => (
            <Menu.Item key={code} lang={code} onClick={() => chooseLanguage(code as Language)}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('colours')}
        onClick={() => toggleColorScheme()}
      >
        {colorScheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
      </ActionIcon>
    </>
  );
}

export function Choices() {
  const { t } = useTranslation();
  const session = useSession();
  const leave = useLogOut();
  return (
    <Group gap={4} wrap="nowrap">
      <LooksChoice />
      <Text size="sm" visibleFrom="sm" translate="no">
        {session?.user.name}
      </Text>
      <OwnLogin />
      <ActionIcon variant="subtle" color="gray" aria-label={t('logOut')} onClick={leave}>
        <IconLogout size={18} />
      </ActionIcon>
    </Group>
  );
}

/** The person's own password and second factor. */
function OwnLogin() {
  const { t } = useTranslation();
  const [isPasswordOpen, password] = useDisclosure();
  const [isFactorOpen, factor] = useDisclosure();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('ownLogin')}>
            <IconKey size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={password.open}>{t('ownPassword.title')}</Menu.Item>
          <Menu.Item onClick={factor.open}>{t('secondFactor.title')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>{isPasswordOpen && <OwnPassword onClose={password.close} />}</Suspense>
      <Suspense>{isFactorOpen && <SecondFactor onClose={factor.close} />}</Suspense>
    </>
  );
}
