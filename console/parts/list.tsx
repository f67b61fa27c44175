// A list that the server pages: columns, rows, how many there are in all, and the pages.
import { Group, Pagination, ScrollArea, Table, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { pageSize } from '../api/queries.ts';
import { Loading, Refusal } from './notes.tsx';

export type Column<Row> = {
  key: string;
  label: string;
  isFigure?: boolean;
  show: (row: Row) => ReactNode;
};

export function List<Row>({
  query,
  columns,
  rowKey,
  label,
  empty,
  page,
  onPage,
}: {
  query: UseQueryResult<{ rows: Row[]; total: number }>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string | number;
  /** Read aloud for the table. */
  label: string;
  empty: ReactNode;
  page: number;
  onPage: (page: number) => void;
}) {
  const { t } = useTranslation();
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { rows, total } = query.data;
  if (total === 0) return empty;
  const pages = Math.ceil(total / pageSize);
  return (
    <>
      <ScrollArea viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.key} className={column.isFigure ? 'figure' : ''}>
                  {column.label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={rowKey(row)}>
                {columns.map((column) => (
                  <Table.Td key={column.key} className={column.isFigure ? 'figure' : ''}>
                    {column.show(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
      <Group justify="space-between" className="no-print">
        <Text size="sm" c="dimmed">
          {t('inAll', { count: total })}
        </Text>
        {pages > 1 && (
          <Pagination
            total={pages}
            value={page + 1}
            onChange={(value) => onPage(value - 1)}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
            getItemProps={(item) => ({ 'aria-label': t('pages.number', { item }) })}
          />
        )}
      </Group>
    </>
  );
}
