// What was sent to a webhook: each message with its attempts, and the way to send one again.
import { Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type Message, messagePages } from '../../api/queries/webhooks.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { shownTime } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';

const statuses = ['Queued', 'Sending', 'Delivered', 'Dead'] as const;

export function Messages({ webhookID }: { webhookID: number }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { status } = useSearch({ from: '/inside/settings/webhooks/$webhookID' });
  const chosen = statuses.find((one) => one === status);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t('webhooks.byStatus')}
        value={chosen ?? 'All'}
        onChange={(value) =>
          navigate({
            to: '/settings/webhooks/$webhookID',
            params: { webhookID: String(webhookID) },
            search: value === 'All' ? {} : { status: value },
          })
        }
        data={['All', ...statuses].map((value) => ({ value, label: t(`status.${value}`) }))}
      />
      <List
        pages={messagePages(webhookID, chosen)}
        columns={useColumns()}
        rowKey={(message) => message.sequence}
        label={t('webhooks.messages')}
        empty={<Empty title={t('webhooks.noMessage')}>{t('webhooks.noMessageHint')}</Empty>}
      />
    </Stack>
  );
}

function useColumns(): Column<Message>[] {
  const { t } = useTranslation();
  return [
    { key: 'sequence', label: t('webhooks.sequence'), show: (message) => message.sequence },
    { key: 'type', label: t('webhooks.type'), show: (message) => message.type },
    { key: 'event', label: t('webhooks.event'), show: (message) => message.eventID },
    {
      key: 'status',
      label: t('terms.status'),
      text: (message) => message.status,
      show: (message) => <Status value={message.status} />,
    },
    { key: 'answer', label: t('webhooks.answer'), show: ({ tried }) => answerOf(tried[0]) },
    { key: 'at', label: t('webhooks.lastAttempt'), show: ({ tried }) => timeOf(tried[0]) },
    {
      key: 'next',
      label: t('webhooks.nextAttempt'),
      show: ({ status, nextAttemptAt }) => status === 'Queued' && shownTime(nextAttemptAt),
    },
    {
      key: 'actions',
      label: t('logins.action'),
      text: () => '',
      show: (message) => (
        <Group gap="xs" wrap="nowrap">
          <DialogButton
            label={t('webhooks.attempts', { count: message.attempts })}
            title={t('webhooks.attemptsOf', { number: message.sequence })}
            variant="default"
            size="lg"
            disabled={message.attempts === 0}
          >
            {() => <Attempts message={message} />}
          </DialogButton>
          {mayUse('webhooks:write') && <SendAgain message={message} />}
        </Group>
      ),
    },
  ];
}

type Attempt = Message['tried'][number];

/** The status of the answer, or why there was none. */
function answerOf(attempt: Attempt | undefined): string | number | null {
  return attempt?.httpStatus ?? attempt?.detail ?? null;
}

function timeOf(attempt: Attempt | undefined): string {
  return shownTime(attempt?.endedAt ?? attempt?.startedAt);
}

function Attempts({ message }: { message: Message }) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={300} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t('webhooks.attemptsOf', { number: message.sequence })}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('webhooks.attempt')}</Table.Th>
            <Table.Th>{t('webhooks.startedAt')}</Table.Th>
            <Table.Th>{t('webhooks.answer')}</Table.Th>
            <Table.Th>{t('webhooks.outcome')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {message.tried.map((one) => (
            <Table.Tr key={one.attempt}>
              <Table.Td>{one.attempt}</Table.Td>
              <Table.Td>{shownTime(one.startedAt)}</Table.Td>
              <Table.Td>{one.httpStatus}</Table.Td>
              <Table.Td>
                {one.outcome ? <Status value={one.outcome} /> : t('webhooks.notKnown')}
                <Text size="sm" c="dimmed">
                  {one.detail}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function SendAgain({ message }: { message: Message }) {
  const { t } = useTranslation();
  const { eventID, item, webhookID } = message;
  const again = useSend(() => api.redeliverEvent({ data: { eventID, item, webhookID } }));
  const isUnderway = message.status === 'Queued' || message.status === 'Sending';
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={isUnderway}
        loading={again.isPending}
        onClick={() => again.mutate(undefined)}
      >
        {t('webhooks.again')}
      </Button>
      {again.isError && <Refusal error={again.error} />}
    </>
  );
}
