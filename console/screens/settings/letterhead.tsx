// The head of documents, and a bill with it as customers get it.
import { FileInput, Grid, NativeSelect, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { previewQuery } from '../../api/queries/admin.ts';
import { queries } from '../../api/queries/base.ts';
import { settingsQuery } from '../../api/queries/settings.ts';
import { mayUse } from '../../api/session.ts';
import { useEdited } from '../../parts/edited.tsx';
import { base64Of, FileView } from '../../parts/file.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Settings = DataOf<'getSettings'>['settings'];
type Texts = (typeof texts)[number] | (typeof codes)[number] | 'addressLines' | 'pageSize';
type Values = Record<Texts, string> & { logo: File | null };

const texts = ['name', 'phone', 'email', 'website', 'taxNumber', 'color'] as const;
const codes = ['codeText', 'barcodeText'] as const;
/** The built-in template of bills. */
const billTemplate = 1;

export function Letterhead() {
  const { t } = useTranslation();
  const query = useQuery(settingsQuery);
  const ts = query.data?.ts;
  const preview = useQuery({
    ...previewQuery({ templateID: billTemplate, format: 'PDF' }, ts),
    enabled: ts !== undefined,
  });
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} />;
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Form settings={query.data} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        {preview.isLoadingError && <Refusal error={preview.error} />}
        {preview.data && (
          <FileView file={preview.data} name="preview.pdf" title={t('letterhead.preview')} />
        )}
      </Grid.Col>
    </Grid>
  );
}

function valuesOf({ letterhead }: Settings): Values {
  const stored = letterhead as Record<string, unknown>;
  const text = (name: string) => (typeof stored[name] === 'string' ? stored[name] : '');
  const lines = Array.isArray(stored.addressLines) ? stored.addressLines : [];
  return {
    ...Object.fromEntries([...texts, ...codes].map((name) => [name, text(name)])),
    addressLines: lines.join('\n'),
    pageSize: text('pageSize') || 'A4',
    logo: null,
  } as Values;
}

function Form({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  const form = useForm<Values>({ initialValues: valuesOf(settings) });
  const edited = useEdited({
    form,
    object: settings,
    valuesOf,
    load: () => queries.fetchQuery({ ...settingsQuery, staleTime: 0 }),
    labelOf: (name) => t(`letterhead.${name}`),
  });
  const send = async ({ logo, addressLines, ...rest }: Values, seen: Settings) => {
    const stored = seen.letterhead as Record<string, unknown>;
    const filled = Object.entries(rest).filter(([, value]) => value !== '');
    const known = new Set<string>([...texts, ...codes]);
    const kept = Object.entries(stored).filter(([name]) => !known.has(name));
    const letterhead = {
      ...Object.fromEntries(kept),
      ...Object.fromEntries(filled),
      addressLines: addressLines.split('\n').filter((line) => line.trim() !== ''),
      ...(logo ? { logo: await base64Of(logo) } : {}),
    };
    return api.updateSettings({ data: { letterhead, ts: seen.ts } });
  };
  return (
    <SendForm
      form={form}
      send={edited.send(send)}
      onDone={edited.stay}
      action={t('letterhead.save')}
      done={t('letterhead.saved')}
      isReady={form.isDirty() && mayUse('settings:write')}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {texts.map((name) => (
          <TextInput key={name} label={t(`letterhead.${name}`)} {...form.getInputProps(name)} />
        ))}
      </SimpleGrid>
      <Textarea
        label={t('letterhead.addressLines')}
        autosize
        minRows={2}
        {...form.getInputProps('addressLines')}
      />
      <NativeSelect
        label={t('letterhead.pageSize')}
        data={['A4', 'Letter']}
        {...form.getInputProps('pageSize')}
      />
      <FileInput
        label={t('letterhead.logo')}
        placeholder={t('letterhead.chooseLogo')}
        accept="image/png,image/jpeg"
        {...form.getInputProps('logo')}
      />
      {codes.map((name) => (
        <TextInput key={name} label={t(`letterhead.${name}`)} {...form.getInputProps(name)} />
      ))}
      {edited.merge}
    </SendForm>
  );
}
