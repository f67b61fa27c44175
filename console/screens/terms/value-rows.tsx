// Rows that are typed or come from a file: a subscription, what is given for it, and how much.
import {
  Button,
  Card,
  FileInput,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingError } from '../../../sdk/client.ts';
import { cellsOfCsv } from '../../parts/csv.ts';
import { rowProblems } from '../../parts/fix-rows.tsx';
import { Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { useSend } from '../../parts/send-form.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';

/** The first cell names a subscription, the second one is of the choices, the third a number. */
export type Row = { id: number; cells: string[] };
type Choice = { value: string; label: string };
type Grid = { title: string; names: readonly string[]; choices: readonly Choice[] };

type Props = Grid & {
  fileHint: string;
  action: (count: number) => string;
  send: (rows: string[][]) => Promise<{ message: string }>;
  /** Above the rows. */
  children?: (rows: readonly Row[]) => ReactNode;
};

let made = 0;

function rowOf(cells: readonly string[]): Row {
  made += 1;
  return { id: made, cells: [...cells] };
}

export function ValueRows({ fileHint, action, send, children, ...grid }: Props) {
  const { t } = useTranslation();
  const { names, choices } = grid;
  const blank = () =>
    rowOf(names.map((_, place) => (place === 1 ? (choices[0]?.value ?? '') : '')));
  const [rows, setRows] = useState<Row[]>(() => [blank()]);
  const filled = rows.filter(({ cells: [connection = ''] }) => connection.trim() !== '');
  const sending = useSend(() => send(filled.map(({ cells }) => cells.map((cell) => cell.trim()))), {
    onDone: () => setRows([blank()]),
  });
  useUnsaved(filled.length > 0);
  const change = (row: Row, place: number, value: string) => {
    const next = rows.map((one) =>
      one === row ? { ...row, cells: row.cells.with(place, value) } : one,
    );
    setRows(row === rows.at(-1) && value !== '' ? [...next, blank()] : next);
  };
  const opening = useMutation({
    mutationFn: (file: File) => rowsIn(file, grid),
    onSuccess: (read) => setRows([...filled, ...read, blank()]),
  });
  const open = (file: File | null) => {
    opening.reset();
    if (file) opening.mutate(file);
  };
  const details = sending.error instanceof BillingError ? sending.error.error.details : [];
  const problems = rowProblems(details, 0);
  const messageOf = (row: Row) =>
    problems
      .filter((one) => one.row === filled.indexOf(row))
      .map(({ message }) => message)
      .join(' ');
  return (
    <Stack gap="md">
      {children?.(filled)}
      <Card withBorder>
        <Stack gap="sm">
          <FileInput
            label={t('readings.file')}
            description={fileHint}
            accept=".csv,text/csv"
            clearable
            clearButtonProps={{ 'aria-label': t('file.remove') }}
            onChange={open}
          />
          {opening.isError && <Refusal error={opening.error} />}
          <RowGrid {...grid} rows={rows} messageOf={messageOf} onChange={change} />
          {sending.isError && problems.length === 0 && <Refusal error={sending.error} />}
          {sending.isSuccess && filled.length === 0 && (
            <Text size="sm" role="status">
              {sending.data.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button
              disabled={filled.length === 0}
              loading={sending.isPending}
              onClick={() => sending.mutate(undefined)}
            >
              {action(filled.length)}
            </Button>
          </Group>
        </Stack>
      </Card>
    </Stack>
  );
}

/** A first line that names the columns is left out. */
async function rowsIn(file: File, { names, choices }: Grid): Promise<Row[]> {
  const [first = [], ...rest] = cellsOfCsv(await file.text());
  const isHead = !choices.some(({ value }) => value === first[1]) && Number.isNaN(Number(first[2]));
  const lines = isHead ? rest : [first, ...rest];
  return lines.map((cells) => rowOf(names.map((_, place) => cells[place] ?? '')));
}

function RowGrid({
  title,
  names,
  choices,
  rows,
  messageOf,
  onChange,
}: Grid & {
  rows: readonly Row[];
  messageOf: (row: Row) => string;
  onChange: (row: Row, place: number, value: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={300} type="native" mah={480} {...scrolls(title)}>
      <Table aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            {names.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, at) => {
            const field = (place: number) => ({
              'aria-label': t('manualValues.cell', { name: names[place], row: at + 1 }),
              value: row.cells[place] ?? '',
              onChange: (event: { currentTarget: { value: string } }) =>
                onChange(row, place, event.currentTarget.value),
            });
            return (
              <Table.Tr key={row.id}>
                {names.map((name, place) => (
                  <Table.Td key={name}>
                    {place === 1 ? (
                      <NativeSelect {...field(1)} data={optionsOf(choices, row.cells[1] ?? '')} />
                    ) : (
                      <TextInput
                        {...field(place)}
                        {...(place === 0 ? { error: messageOf(row) } : {})}
                        {...(place === 2 ? { inputMode: 'decimal' as const } : {})}
                      />
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** What a file names and the service does not have stays to be seen. */
function optionsOf(choices: readonly Choice[], chosen: string): Choice[] {
  if (choices.some(({ value }) => value === chosen)) return [...choices];
  return [...choices, { value: chosen, label: chosen }];
}
