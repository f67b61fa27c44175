// Where events are sent to, and whether they arrive.
import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Webhook, webhookPages } from '../../api/queries/webhooks.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { shownTime } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';
import { NewWebhook } from './webhook-forms.tsx';

export function Webhooks() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const make = mayUse('webhooks:write') && (
    <DialogButton label={t('webhooks.new')}>
      {(close) => (
        <NewWebhook
          onDone={(webhookID) => {
            close();
            navigate({
              to: '/settings/webhooks/$webhookID',
              params: { webhookID: String(webhookID) },
            });
          }}
        />
      )}
    </DialogButton>
  );
  return (
    <List
      pages={webhookPages}
      columns={useColumns()}
      rowKey={(webhook) => webhook.webhookID}
      label={t('settings.tabs.webhooks')}
      empty={
        <Empty title={t('webhooks.none')} action={make}>
          {t('webhooks.noneHint')}
        </Empty>
      }
      tools={make}
    />
  );
}

function useColumns(): Column<Webhook>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'url',
      label: t('webhooks.url'),
      text: (webhook) => webhook.url,
      show: ({ webhookID, url, description }) => (
        <>
          <PageLink
            to="/settings/webhooks/$webhookID"
            params={{ webhookID: String(webhookID) }}
            className="breaks"
          >
            <bdi>{url}</bdi>
          </PageLink>
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        </>
      ),
    },
    {
      key: 'status',
      label: t('terms.status'),
      text: (webhook) => webhook.status,
      show: (webhook) => <Status value={webhook.status} />,
    },
    {
      key: 'waiting',
      label: t('webhooks.waiting'),
      isFigure: true,
      show: (webhook) => webhook.waiting,
    },
    { key: 'dead', label: t('webhooks.dead'), isFigure: true, show: (webhook) => webhook.dead },
    {
      key: 'success',
      label: t('webhooks.lastSuccess'),
      show: (webhook) => shownTime(webhook.lastSuccessAt),
    },
    {
      key: 'error',
      label: t('webhooks.lastError'),
      text: (webhook) => webhook.lastError,
      show: (webhook) =>
        webhook.lastError && `${shownTime(webhook.lastFailureAt)} · ${webhook.lastError}`,
    },
  ];
}
