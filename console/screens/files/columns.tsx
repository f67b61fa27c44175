// Which column of the file is which column of the import.
import { Card, NativeSelect, SimpleGrid, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CsvFile } from './csv-file.ts';
import { type ImportKind, importKinds } from './import-columns.ts';

export function Columns({
  kind,
  file,
  columns,
  onChange,
}: {
  kind: ImportKind;
  file: CsvFile;
  columns: readonly (string | null)[];
  onChange: (columns: (string | null)[]) => void;
}) {
  const { t } = useTranslation();
  const known: readonly string[] = importKinds[kind].columns;
  const required: readonly string[] = importKinds[kind].required;
  return (
    <Card withBorder component="section" aria-label={t('import.columns')}>
      <Title order={2} size="h4">
        {t('import.columns')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t('import.columnsHint', { count: file.rows.length })}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="xs">
        {file.header.map((name, index) => (
          <NativeSelect
            // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name.
            key={`${name} ${index}`}
            size="xs"
            label={name}
            description={file.rows[0]?.[index] ?? ''}
            value={columns[index] ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onChange(columns.with(index, value === '' ? null : value))
            }
            data={[
              { value: '', label: t('import.leaveOut') },
              ...[...new Set([...known, columns[index] ?? ''])]
                .filter((column) => column !== '')
                .map((column) => ({
                  value: column,
                  label: required.includes(column) ? `${column} *` : column,
                  disabled: column !== columns[index] && columns.includes(column),
                })),
            ]}
          />
        ))}
      </SimpleGrid>
    </Card>
  );
}
