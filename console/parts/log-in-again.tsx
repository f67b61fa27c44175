// The session has ended while a page was open. Over it the person logs in again, and what was typed
// is still there.
import { Modal, PasswordInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { currentSession, logIn, type Session } from '../api/session.ts';
import { useLogOut } from './log-out.ts';
import { SendForm } from './send-form.tsx';

export function LogInAgain({ user }: { user: Session['user'] }) {
  const { t } = useTranslation();
  const leave = useLogOut();
  const form = useForm({ initialValues: { username: user.email ?? '', password: '', code: '' } });
  return (
    <Modal
      opened
      onClose={leave}
      title={t('login.again')}
      closeOnClickOutside={false}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': t('logOut') }}
    >
      <SendForm
        form={form}
        send={({ username, password, code }) => logIn(username, password, code)}
        // Another person starts afresh: the page may show what only the first one may see.
        onDone={() => currentSession()?.user.userID !== user.userID && window.location.assign('/')}
        action={t('login.enter')}
      >
        <Text size="sm">{t('login.againHint', { name: user.name })}</Text>
        <TextInput
          label={t('login.username')}
          autoComplete="username"
          {...form.getInputProps('username')}
        />
        <PasswordInput
          label={t('login.password')}
          autoComplete="current-password"
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
          {...form.getInputProps('password')}
        />
        <TextInput
          label={t('login.code')}
          description={t('login.codeWhere')}
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
      </SendForm>
    </Modal>
  );
}
