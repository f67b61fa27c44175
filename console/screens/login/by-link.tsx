// Opened by a link of a mail: it sets a new password, or logs a customer in. Nothing happens before
// a person clicks, since programs that check mails open links too.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { enterByLink, needsCode, resetPassword } from '../../api/session.ts';
import { Refusal } from '../../parts/notes.tsx';
import { Visitor } from '../../parts/visitor.tsx';

export function ByLink() {
  const { link, reset } = useSearch({ from: '/link' });
  return reset === undefined ? <Enter link={link ?? ''} /> : <NewPassword link={reset} />;
}

function Enter({ link }: { link: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [code, setCode] = useState('');
  const entering = useMutation({
    mutationFn: () => enterByLink(link, code),
    onSuccess: () => navigate({ to: '/portal' }),
  });
  return (
    <Visitor title={t('byLink.enter')}>
      {needsCode(entering.error) && (
        <TextInput
          label={t('login.code')}
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      )}
      {entering.isError && <Refusal error={entering.error} />}
      <Button loading={entering.isPending} onClick={() => entering.mutate()}>
        {t('login.enter')}
      </Button>
    </Visitor>
  );
}

function NewPassword({ link }: { link: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { newPassword: '' } });
  const setting = useMutation({
    mutationFn: () => resetPassword(link, form.values.newPassword),
    onSuccess: () => navigate({ to: '/login' }),
  });
  return (
    <Visitor title={t('byLink.reset')}>
      <form onSubmit={form.onSubmit(() => setting.mutate())}>
        <Stack>
          <PasswordInput
            label={t('byLink.newPassword')}
            autoComplete="new-password"
            required
            withAsterisk={false}
            visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
            {...form.getInputProps('newPassword')}
          />
          {setting.isError && <Refusal error={setting.error} />}
          <Button type="submit" loading={setting.isPending}>
            {t('byLink.set')}
          </Button>
        </Stack>
      </form>
    </Visitor>
  );
}
