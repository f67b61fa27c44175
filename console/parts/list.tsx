// A list of any length: its rows are read page by page as they come into view.
import { Button, Group, ScrollArea, Table, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Pages, pageSize } from '../api/queries/base.ts';
import { csvOf, offerFile } from './download.ts';
import { Loading, Refusal } from './notes.tsx';

export type Column<Row> = {
  key: string;
  label: string;
  isFigure?: boolean;
  show: (row: Row) => ReactNode;
  /** For the file, where `show` is more than words. */
  text?: (row: Row) => string | number | null | undefined;
};

type Props<Row> = {
  pages: Pages<Row>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string | number;
  /** Read aloud for the table, and the name of its file. */
  label: string;
  empty: ReactNode;
  /** Beside the count: what can be done with the list. */
  tools?: ReactNode;
};

export function List<Row>(props: Props<Row>) {
  const { pages, empty } = props;
  const first = useQuery(pages(0));
  if (first.isPending) return <Loading />;
  if (first.isError) return <Refusal error={first.error} onRetry={() => first.refetch()} />;
  const { rows, total } = first.data;
  if (total === 0) return empty;
  return (
    <>
      {total <= pageSize ? (
        <WholeList {...props} rows={rows} />
      ) : (
        <LongList {...props} total={total} />
      )}
      <Foot {...props} total={total} />
    </>
  );
}

function WholeList<Row>({ rows, columns, rowKey, label }: Props<Row> & { rows: Row[] }) {
  return (
    <ScrollArea viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
      <Table aria-label={label}>
        <Head columns={columns} />
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              <Cells columns={columns} row={row} />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

/** Only the rows in view are in the page; the space of the others is kept free. */
function LongList<Row>({ pages, columns, label, total }: Props<Row> & { total: number }) {
  const viewport = useRef<HTMLDivElement>(null);
  const { items, before, after } = useRowsInView(viewport, total);
  const numbers = [...new Set(items.map(({ index }) => Math.floor(index / pageSize)))];
  const read = useQueries({ queries: numbers.map((number) => pages(number)) });
  const rowAt = (index: number) =>
    read[numbers.indexOf(Math.floor(index / pageSize))]?.data?.rows[index % pageSize];
  const refused = read.find((one) => one.isError);
  return (
    <>
      {refused && <Refusal error={refused.error} onRetry={() => refused.refetch()} />}
      <ScrollArea.Autosize
        mah="70vh"
        viewportRef={viewport}
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
      >
        <Table aria-label={label} aria-rowcount={total + 1} stickyHeader>
          <Head columns={columns} />
          <Table.Tbody>
            <Space height={before} columns={columns.length} />
            {items.map(({ index, key, size }) => {
              const row = rowAt(index);
              return (
                <Table.Tr key={key} aria-rowindex={index + 2} h={size}>
                  {row === undefined ? (
                    <Table.Td colSpan={columns.length}>…</Table.Td>
                  ) : (
                    <Cells columns={columns} row={row} />
                  )}
                </Table.Tr>
              );
            })}
            <Space height={after} columns={columns.length} />
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}

function useRowsInView(viewport: RefObject<HTMLDivElement | null>, total: number) {
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => viewport.current,
    estimateSize: () => 36,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  return {
    items,
    before: items[0]?.start ?? 0,
    after: virtual.getTotalSize() - (items.at(-1)?.end ?? 0),
  };
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

function Head<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map((column) => (
          <Table.Th key={column.key} className={column.isFigure ? 'figure' : ''}>
            {column.label}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map((column) => (
    <Table.Td key={column.key} className={column.isFigure ? 'figure' : ''}>
      {column.show(row)}
    </Table.Td>
  ));
}

function Foot<Row>({ pages, columns, label, tools, total }: Props<Row> & { total: number }) {
  const { t } = useTranslation();
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {t('inAll', { count: total })}
      </Text>
      <Group gap="xs" className="no-print">
        {tools}
        <Button
          size="xs"
          variant="default"
          onClick={async () => offerFile(`${label}.csv`, await csvOf(pages, columns))}
        >
          {t('asCsv')}
        </Button>
      </Group>
    </Group>
  );
}
