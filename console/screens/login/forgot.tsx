// A forgotten password: a mail brings a link. Customers can ask for a link that logs in.
import { Anchor, Button, Card, Center, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { requestLink, requestReset } from '../../api/session.ts';
import { Refusal } from '../../parts/notes.tsx';
import { usePageTitle } from '../../parts/page.tsx';

export function Forgot() {
  const { t } = useTranslation();
  usePageTitle(t('forgot.title'));
  const form = useForm({ initialValues: { username: '' } });
  const asking = useMutation({
    mutationFn: (what: 'reset' | 'link') =>
      (what === 'reset' ? requestReset : requestLink)(form.values.username),
  });
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w={380} padding="lg">
        <form onSubmit={form.onSubmit(() => asking.mutate('reset'))}>
          <Stack>
            <Title order={1} size="h3">
              {t('forgot.title')}
            </Title>
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
      </Card>
    </Center>
  );
}
