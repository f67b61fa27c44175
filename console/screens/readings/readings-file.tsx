// A file of readings: checked first, its rejected rows corrected in place, then taken in.
import { Button, Card, FileInput, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingError } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { cellsOfCsv } from '../../parts/csv.ts';
import { csvLine, offerFile } from '../../parts/download.ts';
import { FixRows, type Row, rowProblems } from '../../parts/fix-rows.tsx';
import { Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';

type Sheet = { name: string; header: Row; rows: Row[] };

export function ReadingsFile() {
  const { t } = useTranslation();
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const checking = useSend((one: Sheet) => send(one, true));
  const taking = useSend((one: Sheet) => send(one, false), {
    done: t('readings.taken'),
    onDone: () => {
      setSheet(null);
      checking.reset();
    },
  });
  useUnsaved(sheet !== null);
  const opening = useMutation({
    mutationFn: readSheet,
    onSuccess: (opened) => {
      setSheet(opened);
      checking.mutate(opened);
    },
  });
  const open = (file: File | null) => {
    for (const step of [opening, checking, taking]) step.reset();
    setSheet(null);
    if (file) opening.mutate(file);
  };
  const fix = (row: number, column: number, value: string) => {
    if (!sheet) return;
    const rows = sheet.rows.with(row, (sheet.rows[row] ?? []).with(column, value));
    setSheet({ ...sheet, rows });
  };
  const refused = opening.error ?? taking.error ?? checking.error;
  const details = refused instanceof BillingError ? refused.error.details : [];
  const problems = rowProblems(details, firstLine);
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('readings.in')}
        </Title>
        <FileInput
          label={t('readings.file')}
          description={t('readings.fileHint')}
          accept=".csv,text/csv"
          clearable
          clearButtonProps={{ 'aria-label': t('file.remove') }}
          onChange={open}
        />
        {checking.isSuccess && sheet && <Text size="sm">{checking.data.message}</Text>}
        {refused && problems.length === 0 && <Refusal error={refused} />}
        {sheet && problems.length > 0 && (
          <FixRows header={sheet.header} rows={sheet.rows} problems={problems} onFix={fix} />
        )}
        {sheet && (
          <Group gap="xs">
            <Button
              variant="default"
              loading={checking.isPending}
              onClick={() => checking.mutate(sheet)}
            >
              {t('file.check')}
            </Button>
            <Button variant="default" onClick={() => offerFile(sheet.name, textOf(sheet))}>
              {t('file.save')}
            </Button>
            <Button
              loading={taking.isPending}
              disabled={!checking.isSuccess}
              onClick={() => taking.mutate(sheet)}
            >
              {t('readings.take')}
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

/** The head is line 1 of the file. */
const firstLine = 2;

function textOf({ header, rows }: Sheet): string {
  return [header, ...rows].map(csvLine).join('');
}

async function readSheet(file: File): Promise<Sheet> {
  const [header = [], ...rows] = cellsOfCsv(await file.text());
  return { name: file.name, header, rows };
}

function send(sheet: Sheet, dryRun: boolean) {
  const file = { content: textOf(sheet), fileName: sheet.name };
  return api.importData({ kind: 'Readings', ...file, dryRun });
}
