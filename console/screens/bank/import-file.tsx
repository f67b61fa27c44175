// Imports a file of the bank. A trial counts what would be done and stores nothing.
import { Button, FileInput, Group, NativeSelect, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { bankAccountsQuery, mappingsQuery } from '../../api/queries/bank.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { base64Of } from '../../parts/file.tsx';
import { Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const formats = ['CSV', 'CAMT', 'MT940'] as const;
type Fields = {
  file: File | null;
  bankAccountID: string;
  format: (typeof formats)[number];
  mappingName: string;
};

export function ImportFile({ onDone }: { onDone: (bankFileID: number) => unknown }) {
  const { t } = useTranslation();
  return (
    <DialogButton label={t('bank.import')}>
      {(close) => (
        <Form
          onDone={(bankFileID) => {
            close();
            return onDone(bankFileID);
          }}
        />
      )}
    </DialogButton>
  );
}

function Form({ onDone }: { onDone: (bankFileID: number) => unknown }) {
  const { t } = useTranslation();
  const { data: accounts = [] } = useQuery(bankAccountsQuery);
  const { data: mappings = [] } = useQuery(mappingsQuery);
  const form = useForm<Fields>({
    initialValues: { file: null, bankAccountID: '', format: 'CSV', mappingName: '' },
  });
  const { file, format } = form.values;
  const send = async (fields: Fields, dryRun: boolean) =>
    api.importBankFile({
      bankAccountID: Number(fields.bankAccountID || accounts[0]?.bankAccountID),
      format: fields.format,
      contentBase64: fields.file ? await base64Of(fields.file) : '',
      ...(fields.file ? { fileName: fields.file.name } : {}),
      ...(fields.format === 'CSV' ? { mappingName: fields.mappingName || mappings[0]?.name } : {}),
      dryRun,
    });
  const trying = useMutation({ mutationFn: () => send(form.values, true) });
  return (
    <SendForm
      form={form}
      action={t('bank.import')}
      isReady={file !== null}
      send={(fields) => send(fields, false)}
      onDone={({ headers }) => onDone(Number(headers.get('x-resource-id') ?? 0))}
    >
      <FileInput
        label={t('bank.file')}
        placeholder={t('bank.choose')}
        required
        {...form.getInputProps('file')}
        onChange={(chosen) => {
          form.setFieldValue('file', chosen);
          if (chosen) form.setFieldValue('format', formatOf(chosen.name));
        }}
      />
      <NativeSelect
        label={t('bank.account')}
        data={accounts.map((one) => ({
          value: String(one.bankAccountID),
          label: `${one.title} ${one.iban ?? one.accountNumber ?? ''}`,
        }))}
        {...form.getInputProps('bankAccountID')}
      />
      <NativeSelect label={t('bank.format')} data={formats} {...form.getInputProps('format')} />
      {format === 'CSV' && (
        <NativeSelect
          label={t('bank.mapping')}
          description={mappings.length === 0 ? t('bank.noMapping') : undefined}
          data={mappings.map((one) => one.name ?? '')}
          {...form.getInputProps('mappingName')}
        />
      )}
      <Group>
        <Button
          variant="default"
          disabled={file === null}
          loading={trying.isPending}
          onClick={() => trying.mutate()}
        >
          {t('bank.try')}
        </Button>
      </Group>
      {trying.isSuccess && <Text role="status">{trying.data.message}</Text>}
      {trying.isError && <Refusal error={trying.error} />}
    </SendForm>
  );
}

/** A guess that the person can change. */
function formatOf(name: string): (typeof formats)[number] {
  if (/\.xml$/i.test(name)) return 'CAMT';
  return /\.(sta|mt940|940|txt)$/i.test(name) ? 'MT940' : 'CSV';
}
