// Log in. In the demo one button enters it.
import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { entryQuery } from '../../api/entry.ts';
import { logIn, needsCode } from '../../api/session.ts';
import { Refusal } from '../../parts/notes.tsx';
import { Visitor } from '../../parts/visitor.tsx';

export function Login() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/login' });
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { data: entry } = useQuery(entryQuery);
  const entering = useMutation({
    mutationFn: (login: { username: string; password: string; code?: string }) =>
      logIn(login.username, login.password, login.code),
    onSuccess: () => navigate({ href: ownPath(next) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    entering.mutate({ username, password, code });
  };
  const { demo } = entry ?? { demo: null };
  return (
    <Visitor title={t('login.title')}>
      {entry?.workspace && (
        <Text c="dimmed" size="sm">
          {t('login.workspace', { name: entry.workspace })}
        </Text>
      )}
      {demo && (
        <Button size="md" loading={entering.isPending} onClick={() => entering.mutate(demo)}>
          {t('login.demo')}
        </Button>
      )}
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t('login.username')}
            autoComplete="username"
            required
            withAsterisk={false}
            value={username}
            onChange={(event) => setUsername(event.currentTarget.value)}
          />
          <PasswordInput
            label={t('login.password')}
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
          />
          {needsCode(entering.error) && (
            <TextInput
              label={t('login.code')}
              description={t('login.codeHint')}
              autoComplete="one-time-code"
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
          )}
          {entering.isError && <Refusal error={entering.error} />}
          <Button type="submit" variant={demo ? 'default' : 'filled'} loading={entering.isPending}>
            {t('login.enter')}
          </Button>
        </Stack>
      </form>
      <Anchor component={Link} to="/forgot" size="sm">
        {t('login.forgot')}
      </Anchor>
    </Visitor>
  );
}

/** A link may bring anything: only a path of this very page is followed. */
function ownPath(next: string | undefined): string {
  return next?.startsWith('/') && !next.startsWith('//') ? next : '/';
}
