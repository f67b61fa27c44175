// Takes a file in: its kind, its columns, a check of every row, then the import itself.
import {
  Alert,
  Button,
  Checkbox,
  FileInput,
  Group,
  NativeSelect,
  Progress,
  Stack,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { mayUse } from '../../api/session.ts';
import { offerFile } from '../../parts/download.ts';
import { Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';
import { Columns } from './columns.tsx';
import { type CsvFile, csvText, editableBytes, linesOf, readCsv } from './csv-file.ts';
import { columnFor, type ImportKind, importKinds } from './import-columns.ts';
import { byRow, rowProblems } from './import-problems.ts';
import { Rejected } from './rejected.tsx';
import { sendFile } from './send-file.ts';

/** A file that is too large for the page is sent as it is. */
type Opened = {
  raw: File;
  csv: CsvFile | null;
  columns: (string | null)[];
  /** Cells were corrected here, and the corrected file was neither saved nor imported. */
  isCorrected: boolean;
};

function columnsOf(kind: ImportKind, csv: CsvFile | null): (string | null)[] {
  return (csv?.header ?? []).map((name) => columnFor(kind, name));
}

export function ImportFile() {
  const { t } = useTranslation();
  const kinds = (Object.keys(importKinds) as ImportKind[]).filter((kind) =>
    importKinds[kind].permissions.every((permission) => mayUse(permission)),
  );
  const [kind, setKind] = useState<ImportKind>(kinds[0] ?? 'Readings');
  const [opened, setOpened] = useState<Opened | null>(null);
  const change = (next: Partial<Opened>) => setOpened((now) => now && { ...now, ...next });
  const isCorrected = opened?.isCorrected ?? false;
  useUnsaved(isCorrected);
  const opening = useMutation({
    mutationFn: async (raw: File) => (raw.size > editableBytes ? null : readCsv(raw)),
    onSuccess: (csv, raw) =>
      setOpened({ raw, csv, columns: columnsOf(kind, csv), isCorrected: false }),
  });
  const choose = (raw: File | null) => {
    if (isCorrected && !window.confirm(t('leaveForm'))) return;
    setOpened(null);
    opening.reset();
    if (raw) opening.mutate(raw);
  };
  return (
    <Stack>
      <Group align="flex-start">
        <NativeSelect
          label={t('files.kind')}
          data={kinds.map((value) => ({ value, label: t(`fileKind.${value}`) }))}
          value={kind}
          onChange={({ currentTarget: { value } }) => {
            const next = value as ImportKind;
            setKind(next);
            change({ columns: columnsOf(next, opened?.csv ?? null) });
          }}
        />
        <FileInput
          label={t('import.file')}
          placeholder={t('import.choose')}
          accept=".csv,.txt,text/csv"
          w={280}
          clearable
          clearButtonProps={{ 'aria-label': t('import.clear') }}
          value={opened?.raw ?? null}
          onChange={choose}
        />
      </Group>
      {opening.isError && <Refusal error={opening.error} />}
      {opened && (
        <OpenedFile
          key={`${kind} ${opened.raw.name} ${opened.raw.lastModified}`}
          kind={kind}
          opened={opened}
          onChange={change}
        />
      )}
    </Stack>
  );
}

type Step = { dryRun: boolean };

function OpenedFile({
  kind,
  opened,
  onChange,
}: {
  kind: ImportKind;
  opened: Opened;
  onChange: (change: Partial<Opened>) => void;
}) {
  const { t } = useTranslation();
  const { raw, csv, columns, isCorrected } = opened;
  const [share, setShare] = useState<number | null>(null);
  const [again, setAgain] = useState(false);
  const run = useSend(async ({ dryRun }: Step) => {
    const content = csv ? new Blob([await csvText(csv, columns)]) : raw;
    const sent = await sendFile(content, setShare);
    const { message } = await api.importData({ kind, ...sent, fileName: raw.name, dryRun, again });
    if (!dryRun) onChange({ isCorrected: false });
    return { message, dryRun };
  });
  const change = (next: Partial<Opened>) => {
    run.reset();
    onChange(next);
  };
  const missing = csv ? importKinds[kind].required.filter((name) => !columns.includes(name)) : [];
  const problems = rowProblems(run.error);
  const isChecked = run.isSuccess && run.data.dryRun;
  const send = (dryRun: boolean) => {
    setShare(null);
    run.mutate({ dryRun });
  };
  return (
    <Stack>
      {csv && (
        <Columns
          kind={kind}
          file={csv}
          columns={columns}
          onChange={(next) => change({ columns: next })}
        />
      )}
      {missing.length > 0 && (
        <Alert color="orange" title={t('import.missing', { columns: missing.join(', ') })} />
      )}
      {run.isError && !problems && <Refusal error={run.error} />}
      {problems && csv && (
        <Rejected
          file={csv}
          columns={columns}
          problems={byRow(problems, linesOf(csv, columns))}
          onCell={(row, column, text) => {
            const rows = csv.rows.with(row, (csv.rows[row] ?? []).with(column, text));
            onChange({ csv: { ...csv, rows }, isCorrected: true });
          }}
        />
      )}
      {problems && !csv && <Refusal error={run.error} />}
      {run.isPending && share !== null && (
        <Progress value={share * 100} aria-label={t('import.uploading')} />
      )}
      {run.isSuccess && (
        <Alert color="teal" variant="outline" role="status" title={run.data.message} />
      )}
      <Checkbox
        label={t('import.again')}
        checked={again}
        onChange={(event) => setAgain(event.currentTarget.checked)}
      />
      <Group>
        <Button
          variant={isChecked ? 'default' : 'filled'}
          disabled={missing.length > 0}
          loading={run.isPending}
          onClick={() => send(true)}
        >
          {t('import.check')}
        </Button>
        {isChecked && <Button onClick={() => send(false)}>{t('import.run')}</Button>}
        {csv && isCorrected && (
          <Button
            variant="default"
            onClick={async () => {
              offerFile(raw.name, await csvText(csv, columns));
              onChange({ isCorrected: false });
            }}
          >
            {t('import.saveCorrected')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
