// The second factor of the person's own login: an authenticator app, confirmed by a first code.
import { Button, Code, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { offerFile } from './download.ts';
import { Refusal } from './notes.tsx';
import { QrCode } from './qr-code.tsx';
import { CopyField } from './secret-field.tsx';
import { SendForm } from './send-form.tsx';

export default function SecondFactor({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const enrolling = useMutation({ mutationFn: () => api.enrolTotp({}), gcTime: 0 });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('secondFactor.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : enrolling.data ? (
        <Confirm {...enrolling.data.data} onDone={setCodes} />
      ) : (
        <Stack>
          <Text size="sm">{t('secondFactor.what')}</Text>
          {enrolling.isError && <Refusal error={enrolling.error} />}
          <Button loading={enrolling.isPending} onClick={() => enrolling.mutate()} data-autofocus>
            {t('secondFactor.begin')}
          </Button>
        </Stack>
      )}
    </Modal>
  );
}

function Confirm({
  secret,
  uri,
  onDone,
}: {
  secret: string;
  uri: string;
  onDone: (codes: readonly string[]) => void;
}) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { code: '' } });
  return (
    <SendForm
      form={form}
      send={({ code }) => api.confirmTotp({ code: code.trim() })}
      action={t('secondFactor.confirm')}
      onDone={({ data }) => onDone(data.recoveryCodes)}
    >
      <Text size="sm">{t('secondFactor.scan')}</Text>
      <Stack align="center">
        <QrCode text={uri} label={t('secondFactor.qr')} />
      </Stack>
      <CopyField label={t('secondFactor.secret')} value={secret} readOnly />
      <TextInput
        label={t('secondFactor.code')}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        data-autofocus
        {...form.getInputProps('code')}
      />
    </SendForm>
  );
}

/** They are shown once; each replaces a code of the app once. */
function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const save = () => offerFile('recovery-codes.txt', `${codes.join('\n')}\n`, 'text/plain');
  return (
    <Stack>
      <Text size="sm">{t('secondFactor.codes')}</Text>
      <SimpleGrid cols={2} spacing="xs">
        {codes.map((code) => (
          <Code key={code}>{code}</Code>
        ))}
      </SimpleGrid>
      <Button variant="default" onClick={save}>
        {t('secondFactor.save')}
      </Button>
      <Button onClick={onClose}>{t('secondFactor.kept')}</Button>
    </Stack>
  );
}
