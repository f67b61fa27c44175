// The settings of the workspace. Only what was changed is sent.
import { Checkbox, Fieldset, JsonInput, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { templatesQuery } from '../../api/queries/admin.ts';
import { queries } from '../../api/queries/base.ts';
import { settingsQuery } from '../../api/queries/settings.ts';
import { mayUse, readWorkspaceAgain } from '../../api/session.ts';
import { useEdited } from '../../parts/edited.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { typedNumber } from '../../parts/typed-number.ts';

type Settings = DataOf<'getSettings'>['settings'];
type Change = RequestOf<'updateSettings'>['data'];

const channels = ['Email', 'SMS', 'WhatsApp', 'Portal', 'Print', 'Webhook'] as const;
const texts = ['name', 'timezone', 'currency', 'country', 'locale'] as const;
const formats = ['connectionNumberFormat', 'billNumberFormat'] as const;
const numbers = [
  'currencyDecimals',
  'documentRetentionYears',
  'accessTokenSeconds',
  'idleSeconds',
] as const;

export function Workspace() {
  const query = useQuery(settingsQuery);
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  return <Form settings={query.data} />;
}

function valuesOf(settings: Settings) {
  const { mailSender, receiptMail } = settings;
  return {
    name: settings.name,
    timezone: settings.timezone,
    currency: settings.currency,
    country: settings.country,
    locale: settings.locale,
    connectionNumberFormat: settings.connectionNumberFormat,
    billNumberFormat: settings.billNumberFormat,
    currencyDecimals: String(settings.currencyDecimals),
    documentRetentionYears: String(settings.documentRetentionYears),
    accessTokenSeconds: String(settings.accessTokenSeconds ?? ''),
    idleSeconds: String(settings.idleSeconds ?? ''),
    approvalLimit: String(settings.approvalLimit ?? ''),
    separationOfDuty: settings.separationOfDuty,
    logPartyReads: settings.logPartyReads,
    deliveryChannels: settings.deliveryChannels,
    senderName: mailSender.name ?? '',
    replyTo: mailSender.replyTo ?? '',
    portalAddress: settings.portalAddress ?? '',
    receiptTemplate: receiptMail === null ? '' : String(receiptMail.templateID ?? 0),
    reminders: JSON.stringify(settings.reminders, null, 2),
  };
}
type Values = ReturnType<typeof valuesOf>;

/** As the API takes them; an empty field that may be empty is null. */
function changesOf(settings: Settings, values: Values): Change {
  const before = valuesOf(settings);
  const isChanged = (name: keyof Values) =>
    JSON.stringify(values[name]) !== JSON.stringify(before[name]);
  const change: Record<string, unknown> = { ts: settings.ts };
  for (const name of [...texts, ...formats]) if (isChanged(name)) change[name] = values[name];
  for (const name of numbers) {
    if (isChanged(name)) change[name] = typedNumber(values[name]);
  }
  if (isChanged('approvalLimit')) change.approvalLimit = values.approvalLimit || null;
  if (isChanged('portalAddress')) change.portalAddress = values.portalAddress || null;
  if (isChanged('separationOfDuty')) change.separationOfDuty = values.separationOfDuty;
  if (isChanged('logPartyReads')) change.logPartyReads = values.logPartyReads;
  if (isChanged('deliveryChannels')) change.deliveryChannels = values.deliveryChannels;
  if (isChanged('reminders')) change.reminders = JSON.parse(values.reminders || '[]');
  if (isChanged('senderName') || isChanged('replyTo')) {
    change.mailSender = { name: values.senderName || null, replyTo: values.replyTo || null };
  }
  if (isChanged('receiptTemplate')) {
    const templateID = Number(values.receiptTemplate) || null;
    change.receiptMail = values.receiptTemplate === '' ? null : { templateID };
  }
  return change;
}

function Form({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  const templates = useQuery({ ...templatesQuery, enabled: mayUse('contexts:read') });
  const form = useForm<Values>({ initialValues: valuesOf(settings) });
  const { send, stay, merge } = useEdited({
    form,
    object: settings,
    valuesOf,
    load: () => queries.fetchQuery({ ...settingsQuery, staleTime: 0 }),
    labelOf: (name) => t(`settings.${name}`),
  });
  const mails = (templates.data ?? []).filter(({ type }) => type === 'Email');
  const field = (name: keyof Values) => (
    <TextInput
      key={name}
      label={t(`settings.${name}`)}
      description={t(`settings.hints.${name}`, { defaultValue: '' })}
      {...form.getInputProps(name)}
    />
  );
  return (
    <Fieldset variant="unstyled" disabled={!mayUse('settings:write')} maw={900}>
      <SendForm
        form={form}
        send={send((values, seen) => api.updateSettings({ data: changesOf(seen, values) }))}
        onDone={() => {
          stay();
          void readWorkspaceAgain();
        }}
        action={t('settings.save')}
        done={t('settings.saved')}
        isReady={form.isDirty()}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
          {[...texts, ...formats, ...numbers].map(field)}
          {field('approvalLimit')}
          {field('senderName')}
          {field('replyTo')}
          {field('portalAddress')}
          <NativeSelect
            label={t('settings.receiptTemplate')}
            data={[
              { value: '', label: t('settings.noReceiptMail') },
              { value: '0', label: t('settings.plainReceiptMail') },
              ...mails.map(({ templateID, name }) => ({ value: String(templateID), label: name })),
            ]}
            {...form.getInputProps('receiptTemplate')}
          />
        </SimpleGrid>
        <Checkbox.Group
          label={t('settings.deliveryChannels')}
          {...form.getInputProps('deliveryChannels')}
        >
          <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} mt="xs">
            {channels.map((value) => (
              <Checkbox key={value} value={value} label={t(`sendChannel.${value}`)} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <Checkbox
          label={t('settings.separationOfDuty')}
          {...form.getInputProps('separationOfDuty', { type: 'checkbox' })}
        />
        <Checkbox
          label={t('settings.logPartyReads')}
          {...form.getInputProps('logPartyReads', { type: 'checkbox' })}
        />
        <JsonInput
          label={t('settings.reminders')}
          validationError={t('settings.notJson')}
          autosize
          minRows={2}
          {...form.getInputProps('reminders')}
        />
        {merge}
      </SendForm>
    </Fieldset>
  );
}
