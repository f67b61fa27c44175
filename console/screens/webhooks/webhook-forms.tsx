// Forms of a webhook: a new one, its details, and a new secret.
import {
  MultiSelect,
  NumberInput,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { found } from '../../api/problem.ts';
import { queries } from '../../api/queries/base.ts';
import { type EventType, type Webhook, webhookQuery } from '../../api/queries/webhooks.ts';
import { useEdited } from '../../parts/edited.tsx';
import { CopyField, newSecret } from '../../parts/secret-field.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { eventTypes } from './event-types.ts';

type Details = { url: string; description: string; types: EventType[] };

export function NewWebhook({ onDone }: { onDone: (webhookID: number) => void }) {
  const { t } = useTranslation();
  const form = useForm<Details & { secret: string }>({
    initialValues: { url: '', description: '', types: [], secret: newSecret() },
  });
  return (
    <SendForm
      form={form}
      send={(webhook) => api.makeWebhooks({ webhooks: [webhook] })}
      action={t('webhooks.make')}
      onDone={({ headers }) => onDone(Number(headers.get('x-resource-id')))}
    >
      <DetailFields form={form as never} />
      <SecretField {...form.getInputProps('secret')} />
    </SendForm>
  );
}

function detailsOf({ url, description, types }: Webhook): Details {
  return { url, description: description ?? '', types: types as EventType[] };
}

export function ChangeWebhook({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const { t } = useTranslation();
  const { webhookID } = webhook;
  const form = useForm<Details>({ initialValues: detailsOf(webhook) });
  const { send, merge } = useEdited({
    form,
    object: webhook,
    valuesOf: detailsOf,
    load: async () =>
      found((await queries.fetchQuery({ ...webhookQuery(webhookID), staleTime: 0 })) ?? undefined),
    labelOf: (name) => t(`webhooks.${name}`),
  });
  return (
    <SendForm
      form={form}
      send={send((details, { ts }) => api.updateWebhook({ data: { webhookID, ...details, ts } }))}
      action={t('logins.save')}
      isReady={form.isDirty()}
      onDone={onDone}
    >
      <DetailFields form={form} />
      {merge}
    </SendForm>
  );
}

function DetailFields({ form }: { form: UseFormReturnType<Details> }) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        required
        dir="ltr"
        data-autofocus
        {...form.getInputProps('url')}
      />
      <TextInput label={t('webhooks.description')} {...form.getInputProps('description')} />
      <MultiSelect
        label={t('webhooks.types')}
        description={t('webhooks.typesHint')}
        data={eventTypes}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('webhooks.allTypes') }}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('types')}
      />
    </>
  );
}

export function SecretField(props: TextInputProps) {
  const { t } = useTranslation();
  return (
    <CopyField
      label={t('webhooks.secret')}
      description={t('webhooks.secretHint')}
      required
      {...props}
    />
  );
}

type Rotated = { secret: string; oldSecretHours: number };

/** Of a webhook or of a gateway. */
export function RotateSecret({
  effect,
  send,
  onDone,
}: {
  effect: string;
  send: (rotated: Rotated) => Promise<unknown>;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const form = useForm<Rotated>({ initialValues: { secret: newSecret(), oldSecretHours: 24 } });
  return (
    <SendForm form={form} send={send} action={t('webhooks.rotate')} onDone={onDone}>
      <Stack gap="sm">
        <Text size="sm">{effect}</Text>
        <SecretField {...form.getInputProps('secret')} />
        <NumberInput
          label={t('webhooks.oldHours')}
          description={t('webhooks.oldHoursHint')}
          hideControls
          {...form.getInputProps('oldSecretHours')}
        />
      </Stack>
    </SendForm>
  );
}
