// Templates of bills, mails and messages, each with a preview of what is typed.
import { Checkbox, NativeSelect, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { previewQuery, type Template, templatePages } from '../../api/queries/admin.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { useEdited } from '../../parts/edited.tsx';
import { FileView } from '../../parts/file.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const types = ['Invoice', 'Email', 'SMS'] as const;
type TemplateType = (typeof types)[number];

export function Templates() {
  const { t } = useTranslation();
  return (
    <List
      pages={templatePages}
      columns={useColumns()}
      rowKey={(template) => template.templateID}
      label={t('settings.tabs.templates')}
      empty={<Empty title={t('templates.none')} />}
      tools={
        mayUse('contexts:write') && (
          <DialogButton label={t('templates.new')} size="90%">
            {(close) => <TemplateForm template={null} onDone={close} />}
          </DialogButton>
        )
      }
    />
  );
}

/** `English` for en, in the language of the page. */
function languageName(code: string, shownIn: string): string {
  const names = new Intl.DisplayNames([shownIn], { type: 'language', fallback: 'code' });
  return names.of(code) ?? code;
}

function useColumns(): Column<Template>[] {
  const { t, i18n } = useTranslation();
  return [
    { key: 'id', label: t('templates.number'), show: ({ templateID }) => templateID },
    { key: 'name', label: t('customers.name'), show: ({ name }) => name },
    { key: 'type', label: t('plans.type'), show: ({ type }) => t(`templateType.${type}`) },
    {
      key: 'language',
      label: t('language'),
      show: ({ language }) => languageName(language, i18n.language),
    },
    { key: 'version', label: t('versions.version'), show: ({ version }) => version },
    { key: 'by', label: t('versions.savedBy'), show: ({ modifiedBy }) => modifiedBy },
    {
      key: 'open',
      label: t('logins.action'),
      text: () => '',
      show: (template) => (
        <DialogButton
          label={t('templates.open')}
          title={template.name}
          size="90%"
          variant="default"
        >
          {(close) => <TemplateForm template={template} onDone={close} />}
        </DialogButton>
      ),
    },
  ];
}

type Values = {
  type: TemplateType;
  name: string;
  language: string;
  subject: string;
  body: string;
  amountInWords: boolean;
};

const labels: Record<keyof Values, string> = {
  type: 'plans.type',
  name: 'customers.name',
  language: 'language',
  subject: 'templates.subject',
  body: 'templates.body',
  amountInWords: 'templates.inWords',
};

/** A new template begins as an empty mail in English. */
function valuesOf(template: Partial<Template>): Values {
  return {
    type: (template.type ?? 'Email') as TemplateType,
    name: template.name ?? '',
    language: template.language ?? 'en',
    subject: template.subject ?? '',
    body: template.body ?? '',
    amountInWords: template.amountInWords === 1,
  };
}

async function find(templateID: number): Promise<Template | undefined> {
  return (await api.getTemplates({ templateID })).data.templates[0];
}

function TemplateForm({ template, onDone }: { template: Template | null; onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm<Values>({ initialValues: valuesOf(template ?? {}) });
  const edited = useEdited<Partial<Template>, Values>({
    form,
    object: template ?? {},
    valuesOf,
    load: async () => (await find(template?.templateID ?? 0)) ?? {},
    labelOf: (name) => t(labels[name]),
  });
  const send = ({ type, amountInWords, ...rest }: Values, seen: Partial<Template>) => {
    const fields = { ...rest, amountInWords: amountInWords ? (1 as const) : (0 as const) };
    const { templateID, translations = [], ts } = seen;
    if (templateID === undefined) return api.makeTemplates({ templates: [{ ...fields, type }] });
    return api.updateTemplate({ data: { ...fields, templateID, translations, ts } });
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <SendForm
        form={form}
        send={edited.send(send)}
        action={t('templates.save')}
        done={t('templates.saved')}
        onDone={onDone}
        isReady={form.isDirty() && mayUse('contexts:write')}
      >
        <NativeSelect
          label={t('plans.type')}
          disabled={template !== null}
          data={types.map((value) => ({ value, label: t(`templateType.${value}`) }))}
          {...form.getInputProps('type')}
        />
        <TextInput label={t('customers.name')} required {...form.getInputProps('name')} />
        <TextInput label={t('language')} {...form.getInputProps('language')} />
        {form.values.type === 'Email' && (
          <TextInput label={t('templates.subject')} {...form.getInputProps('subject')} />
        )}
        <Textarea
          label={t('templates.body')}
          description={t('templates.bodyHint', { open: '{{', close: '}}' })}
          autosize
          minRows={6}
          maxRows={24}
          required
          {...form.getInputProps('body')}
        />
        {form.values.type === 'Invoice' && (
          <Checkbox
            label={t('templates.inWords')}
            {...form.getInputProps('amountInWords', { type: 'checkbox' })}
          />
        )}
        {edited.merge}
      </SendForm>
      <Preview values={form.values} />
    </SimpleGrid>
  );
}

function Preview({ values }: { values: Values }) {
  const { t } = useTranslation();
  const [{ type, language, subject, body, amountInWords }] = useDebouncedValue(values, 600);
  const shown = useQuery({
    ...previewQuery(
      {
        template: { type, language, subject, body, amountInWords: amountInWords ? 1 : 0 },
        format: type === 'Invoice' ? 'PDF' : 'Text',
      },
      null,
    ),
    enabled: body.trim() !== '',
  });
  if (shown.isLoadingError) return <Refusal error={shown.error} />;
  if (!shown.data) return <Empty title={t('templates.noPreview')} />;
  if (type === 'Invoice') {
    return <FileView file={shown.data} name="preview.pdf" title={t('letterhead.preview')} />;
  }
  return (
    <Stack gap="xs">
      {shown.data.subject !== null && (
        <TextInput readOnly label={t('templates.subject')} value={shown.data.subject} />
      )}
      <Textarea
        readOnly
        autosize
        label={t('templates.preview')}
        value={textOf(shown.data.base64)}
      />
    </Stack>
  );
}

function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)));
}
