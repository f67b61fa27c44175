// The rejected rows, each with its reasons at its cells, where they can be corrected.
import { Button, Group, ScrollArea, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { offerFile } from '../../parts/download.ts';
import { type CsvFile, rejectedText } from './csv-file.ts';
import type { Problem } from './import-problems.ts';

const shownMax = 100;

type Props = {
  file: CsvFile;
  columns: readonly (string | null)[];
  /** By the index of the row. */
  problems: ReadonlyMap<number, readonly Problem[]>;
  onCell: (row: number, column: number, text: string) => void;
};

export function Rejected({ file, columns, problems, onCell }: Props) {
  const { t } = useTranslation();
  const kept = columns.flatMap((name, at) => (name === null ? [] : [{ name, at }]));
  const save = async () => {
    const text = await rejectedText(file, columns, problems, t('import.reason'));
    offerFile(t('import.rejectedFile', { name: file.name }), text);
  };
  return (
    <Stack gap="xs" component="section" aria-label={t('import.rejected')} role="alert">
      <Group justify="space-between">
        <div>
          <Title order={2} size="h4">
            {t('import.rejectedCount', { count: problems.size })}
          </Title>
          <Text size="sm" c="dimmed">
            {t('import.rejectedHint')}
          </Text>
        </div>
        <Button size="xs" variant="default" onClick={save}>
          {t('import.saveRejected')}
        </Button>
      </Group>
      <ScrollArea
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t('import.rejected') }}
      >
        <Table aria-label={t('import.rejected')} miw={kept.length * 150 + 200}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('import.line')}</Table.Th>
              {kept.map(({ name, at }) => (
                <Table.Th key={at}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...problems].slice(0, shownMax).map(([row, found]) => (
              <RejectedRow
                key={row}
                cells={file.rows[row] ?? []}
                kept={kept}
                problems={found}
                onCell={(column, text) => onCell(row, column, text)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
      {problems.size > shownMax && <Text size="sm">{t('import.more', { count: shownMax })}</Text>}
    </Stack>
  );
}

function RejectedRow({
  cells,
  kept,
  problems,
  onCell,
}: {
  cells: readonly string[];
  kept: readonly { name: string; at: number }[];
  problems: readonly Problem[];
  onCell: (column: number, text: string) => void;
}) {
  const { t } = useTranslation();
  const line = problems[0]?.line ?? 0;
  const isOfCell = ({ column }: Problem) => kept.some(({ name }) => name === column);
  const words = ({ message }: Problem) => message.replace(/^Line \d+: /, '');
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td>
        {line}
        {problems
          .filter((problem) => !isOfCell(problem))
          .map((problem) => (
            <Text key={problem.message} size="xs" c="var(--mantine-color-error)">
              {words(problem)}
            </Text>
          ))}
      </Table.Td>
      {kept.map(({ name, at }) => {
        const wrong = problems.filter(({ column }) => column === name);
        return (
          <Table.Td key={at}>
            <TextInput
              size="xs"
              aria-label={t('import.cell', { column: name, line })}
              value={cells[at] ?? ''}
              error={wrong.length > 0 && wrong.map(words).join(' ')}
              onChange={(event) => onCell(at, event.currentTarget.value)}
            />
          </Table.Td>
        );
      })}
    </Table.Tr>
  );
}
