// Documents of the server: shown in the page, or opened beside it.
import { Button, Card, Group } from '@mantine/core';
import { IconDownload, IconFileText } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { offerFile } from './download.ts';
import { Loading, Refusal } from './notes.tsx';

export type SentFile = { contentType: string; base64: string };

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** The document in the page, with a link that saves it. */
export function FileView({ file, name, title }: { file?: SentFile; name: string; title: string }) {
  const { t } = useTranslation();
  const url = useFileUrl(file);
  if (url === null) return <Loading />;
  return (
    <Card withBorder padding="xs">
      <Group justify="flex-end" mb="xs">
        <Button
          component="a"
          href={url}
          download={name}
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('downloadPdf')}
        </Button>
      </Group>
      <iframe className="document" src={`${url}#navpanes=0&view=FitH`} title={title} />
    </Card>
  );
}

function useFileUrl(file: SentFile | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!file) return undefined;
    const blob = new Blob([bytesOf(file.base64)], { type: file.contentType });
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

/** Fetches a document and saves it. */
export function FileButton({
  label,
  name,
  load,
  isSmall = false,
}: {
  label: string;
  name: string;
  load: () => Promise<{ data: SentFile }>;
  /** In a row of a table. */
  isSmall?: boolean;
}) {
  const loading = useMutation({
    mutationFn: load,
    onSuccess: ({ data }) => offerFile(name, bytesOf(data.base64), data.contentType),
  });
  return (
    <>
      <Button
        variant="default"
        loading={loading.isPending}
        onClick={() => loading.mutate()}
        leftSection={<IconFileText size={isSmall ? 14 : 16} aria-hidden />}
        {...(isSmall ? { size: 'compact-xs' } : {})}
      >
        {label}
      </Button>
      {loading.isError && <Refusal error={loading.error} />}
    </>
  );
}

/** A chosen file as the API takes it. */
export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts: string[] = [];
  // In slices: a call takes a limited number of arguments.
  for (let start = 0; start < bytes.length; start += 32_768) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + 32_768)));
  }
  return btoa(parts.join(''));
}
