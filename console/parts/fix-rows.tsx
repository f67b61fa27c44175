// Rows of a file that the server refused, each with its message, to be corrected in place.
import { Stack, Table, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { scrolls } from './scrolls.ts';

export type Row = string[];
export type RowProblem = { row: number; column: string | null; message: string };

/** Rows shown at once. When they are corrected, the next ones appear. */
const shownMax = 50;

export function FixRows({
  header,
  rows,
  problems,
  onFix,
}: {
  header: readonly string[];
  rows: readonly Row[];
  problems: readonly RowProblem[];
  onFix: (row: number, column: number, value: string) => void;
}) {
  const { t } = useTranslation();
  const byRow = Map.groupBy(problems, ({ row }) => row);
  return (
    <Stack gap="xs">
      <Text size="sm" role="alert">
        {t('file.rejected', { count: byRow.size })}
      </Text>
      <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('file.rejectedRows'))}>
        <Table aria-label={t('file.rejectedRows')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="figure">{t('file.line')}</Table.Th>
              {header.map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
              <Table.Th>{t('file.problem')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...byRow].slice(0, shownMax).map(([row, found]) => (
              <Table.Tr key={row}>
                <Table.Td className="figure">{row + 2}</Table.Td>
                {header.map((name, column) => (
                  <Table.Td key={name}>
                    <TextInput
                      size="xs"
                      miw={90}
                      aria-label={t('file.cell', { name, line: row + 2 })}
                      value={rows[row]?.[column] ?? ''}
                      error={found.some((one) => one.column === name)}
                      onChange={(event) => onFix(row, column, event.currentTarget.value)}
                    />
                  </Table.Td>
                ))}
                <Table.Td miw={220}>
                  {found.map(({ message }) => (
                    <Text key={message} size="sm" c="var(--mantine-color-error)">
                      {message}
                    </Text>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

/** `lines[3].value` or `data.data.compsData[1][2]` of a refusal as the row of the file. */
export function rowProblems(
  details: readonly { field: string | null; message: string }[],
  firstRow: number,
): RowProblem[] {
  return details.flatMap(({ field, message }) => {
    const match = /\[(\d+)\](?:\.?(\w+))?/.exec(field ?? '');
    if (!match) return [];
    return { row: Number(match[1]) - firstRow, column: match[2] ?? null, message };
  });
}
