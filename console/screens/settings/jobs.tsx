// All jobs: how far each is, why one failed, and the way to cancel one that has not begun.
import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { jobPages } from '../../api/queries/admin.ts';
import { mayUse } from '../../api/session.ts';
import { inOrder } from '../../language/isolated.ts';
import { shownTime } from '../../parts/days.ts';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';

const statuses = ['', 'Scheduled', 'Running', 'Succeeded', 'Failed', 'Cancelled'] as const;

export function Jobs() {
  const { t } = useTranslation();
  const [status, setStatus] = useState('');
  return (
    <Stack>
      <NativeSelect
        maw={240}
        label={t('terms.status')}
        value={status}
        onChange={(event) => setStatus(event.currentTarget.value)}
        data={statuses.map((value) => ({ value, label: t(`status.${value || 'All'}`) }))}
      />
      <List
        pages={jobPages(status)}
        columns={[
          { key: 'id', label: t('job.number'), show: ({ jobID }) => jobID },
          {
            key: 'operation',
            label: t('job.operation'),
            show: ({ operation = '' }) => t(`jobName.${operation}`, { defaultValue: operation }),
          },
          {
            key: 'status',
            label: t('terms.status'),
            text: (job) => job.status,
            show: (job) => <Status value={job.status ?? ''} />,
          },
          {
            key: 'done',
            label: t('jobs.progress'),
            isFigure: true,
            show: ({ progress }) => progress && t('jobs.done', progress),
          },
          {
            key: 'message',
            label: t('job.message'),
            text: (job) => job.error?.message ?? job.message,
            show: (job) => (
              <Text size="sm" {...(job.error ? { c: 'var(--mantine-color-error)' } : {})}>
                {inOrder(job.error?.message ?? job.message ?? '')}
              </Text>
            ),
          },
          { key: 'by', label: t('job.by'), show: ({ requestedBy }) => requestedBy },
          { key: 'at', label: t('job.at'), show: ({ createdAt }) => shownTime(createdAt) },
          {
            key: 'cancel',
            label: t('logins.action'),
            text: () => '',
            show: (job) =>
              job.status === 'Scheduled' &&
              mayUse('terms:write') && <CancelJob jobID={job.jobID ?? 0} />,
          },
        ]}
        rowKey={(job) => job.jobID ?? 0}
        label={t('settings.tabs.jobs')}
        empty={<Empty title={t('job.none')} />}
      />
    </Stack>
  );
}

function CancelJob({ jobID }: { jobID: number }) {
  const { t } = useTranslation();
  const cancel = useSend(() => api.cancelJob({ data: { jobID } }), { done: t('job.cancelled') });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        loading={cancel.isPending}
        onClick={() => cancel.mutate(undefined)}
      >
        {t('job.cancel')}
      </Button>
      {cancel.isError && <Refusal error={cancel.error} />}
    </>
  );
}
