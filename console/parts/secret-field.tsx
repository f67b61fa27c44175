// A text that is copied to another program: a new secret, or an address.
import { ActionIcon, CopyButton, TextInput, type TextInputProps, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** Made in the browser: the server never shows it. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export function CopyField(props: TextInputProps) {
  return <TextInput dir="ltr" rightSection={<Copy value={String(props.value)} />} {...props} />;
}

function Copy({ value }: { value: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={t(copied ? 'copied' : 'copyText')}>
          <ActionIcon
            variant="subtle"
            aria-label={t(copied ? 'copied' : 'copyText')}
            onClick={copy}
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
