// Whether the server answers, and the clock of a sandbox.
import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { readyQuery } from '../../api/queries/admin.ts';
import { settingsQuery } from '../../api/queries/settings.ts';
import { mayUse, readWorkspaceAgain } from '../../api/session.ts';
import { shownTime } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

export function System() {
  const { t } = useTranslation();
  const ready = useQuery(readyQuery);
  const settings = useQuery({ ...settingsQuery, staleTime: 0 });
  return (
    <Stack>
      {ready.isLoadingError && <Refusal error={ready.error} onRetry={() => ready.refetch()} />}
      <Figures
        items={[
          {
            label: t('system.database'),
            value: ready.data ? t(ready.data.isReady ? 'system.ready' : 'system.notReady') : '…',
          },
          {
            label: t('system.answer'),
            value: ready.data ? t('system.milliseconds', { count: ready.data.milliseconds }) : '…',
          },
          { label: t('system.now'), value: shownTime(settings.data?.now) || '…' },
          {
            label: t('system.kind'),
            value: settings.data
              ? t(settings.data.sandbox ? 'system.sandbox' : 'system.live')
              : '…',
          },
        ]}
      />
      {settings.data?.sandbox && mayUse('settings:write') && <Clock />}
    </Stack>
  );
}

function Clock() {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { to: '' } });
  return (
    <Stack maw={360}>
      <SendForm
        form={form}
        send={({ to }) => api.moveClock({ data: { to: `${to}:00` } })}
        action={t('system.move')}
        done={t('system.moved')}
        onDone={() => {
          form.reset();
          return readWorkspaceAgain();
        }}
        isReady={form.values.to !== ''}
      >
        <TextInput
          type="datetime-local"
          label={t('system.clock')}
          description={t('system.clockHint')}
          {...form.getInputProps('to')}
        />
      </SendForm>
    </Stack>
  );
}
