// A forgotten password: a mail brings a link. Customers can ask for a link that logs in.
import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { requestLink, requestReset } from '../../api/session.ts';
import { Refusal } from '../../parts/notes.tsx';
import { Visitor } from '../../parts/visitor.tsx';

export function Forgot() {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { username: '' } });
  const asking = useMutation({
    mutationFn: (what: 'reset' | 'link') =>
      (what === 'reset' ? requestReset : requestLink)(form.values.username),
  });
  return (
    <Visitor title={t('forgot.title')}>
      <form onSubmit={form.onSubmit(() => asking.mutate('reset'))}>
        <Stack>
          <Text size="sm">{t('forgot.hint')}</Text>
          <TextInput
            label={t('login.username')}
            autoComplete="username"
            required
            withAsterisk={false}
            {...form.getInputProps('username')}
          />
          {asking.isError && <Refusal error={asking.error} />}
          {asking.isSuccess && <Text role="status">{t('forgot.sent')}</Text>}
          <Button type="submit" loading={asking.isPending}>
            {t('forgot.reset')}
          </Button>
          <Button
            variant="default"
            loading={asking.isPending}
            disabled={form.values.username === ''}
            onClick={() => asking.mutate('link')}
          >
            {t('forgot.link')}
          </Button>
          <Group>
            <Anchor component={Link} to="/login" size="sm">
              {t('login.title')}
            </Anchor>
          </Group>
        </Stack>
      </form>
    </Visitor>
  );
}
