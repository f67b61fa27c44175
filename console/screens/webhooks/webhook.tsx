// One webhook: how its receiver does, what can be changed, and its messages.
import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type Webhook, webhookQuery } from '../../api/queries/webhooks.ts';
import { mayUse } from '../../api/session.ts';
import { shownTime } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { Figures } from '../../parts/figures.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';
import { Steady } from '../../parts/steady.tsx';
import { Messages } from './messages.tsx';
import { ChangeWebhook, RotateSecret } from './webhook-forms.tsx';

const from = '/inside/settings/webhooks/$webhookID';

export function WebhookScreen() {
  const { t } = useTranslation();
  const webhookID = Number(useParams({ from }).webhookID);
  const query = useQuery(webhookQuery(webhookID));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const webhook = query.data;
  const crumbs = [
    { label: t('settings.tabs.webhooks'), to: '/settings', search: { tab: 'webhooks' } },
  ];
  if (webhook === null) {
    return (
      <Page title={t('webhooks.title', { number: webhookID })} crumbs={crumbs}>
        <Empty title={t('webhooks.notFound')} />
      </Page>
    );
  }
  return (
    <Page
      title={t('webhooks.title', { number: webhookID })}
      crumbs={crumbs}
      hint={<bdi className="breaks">{webhook.url}</bdi>}
      actions={mayUse('webhooks:write') && <Actions webhook={webhook} />}
    >
      {webhook.status === 'Disabled' && (
        <Alert color="red" variant="light" title={t('webhooks.disabled')}>
          {webhook.reason}
        </Alert>
      )}
      {webhook.description && <Text>{webhook.description}</Text>}
      <Health webhook={webhook} />
      <Messages webhookID={webhookID} />
    </Page>
  );
}

function Health({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation();
  const { types, lastError, oldSecretUntil } = webhook;
  return (
    <Figures
      items={[
        { label: t('terms.status'), value: <Status value={webhook.status} /> },
        { label: t('webhooks.waiting'), value: webhook.waiting },
        { label: t('webhooks.dead'), value: webhook.dead },
        {
          label: t('webhooks.types'),
          value: types.length === 0 ? t('webhooks.allTypes') : types.join(', '),
        },
        {
          label: t('webhooks.lastSuccess'),
          value: shownTime(webhook.lastSuccessAt) || t('webhooks.never'),
        },
        {
          label: t('webhooks.lastError'),
          value: lastError
            ? `${shownTime(webhook.lastFailureAt)} · ${lastError}`
            : t('webhooks.never'),
        },
        ...(oldSecretUntil
          ? [{ label: t('webhooks.oldSecretUntil'), value: shownTime(oldSecretUntil) }]
          : []),
      ]}
    />
  );
}

function Actions({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation();
  const { webhookID, ts } = webhook;
  const isActive = webhook.status === 'Active';
  const turn = useSend(() =>
    api.updateWebhook({ data: { webhookID, status: isActive ? 'Paused' : 'Active', ts } }),
  );
  return (
    <>
      {turn.isError && <Refusal error={turn.error} />}
      <Button variant="default" loading={turn.isPending} onClick={() => turn.mutate(undefined)}>
        {t(isActive ? 'webhooks.pause' : 'webhooks.resume')}
      </Button>
      <DialogButton label={t('logins.change')} variant="default">
        {(close) => <ChangeWebhook webhook={webhook} onDone={close} />}
      </DialogButton>
      <Steady subject={webhook} versionOf={(shown) => String(shown.ts)}>
        {(shown) => (
          <DialogButton label={t('webhooks.newSecret')} variant="default">
            {(close) => (
              <RotateSecret
                effect={t('webhooks.rotateHint')}
                send={(rotated) =>
                  api.updateWebhook({ data: { webhookID, ...rotated, ts: shown.ts } })
                }
                onDone={close}
              />
            )}
          </DialogButton>
        )}
      </Steady>
    </>
  );
}
