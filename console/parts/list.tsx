// A list of any length: its rows are read page by page as they come into view.
import { ScrollArea, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Pages, pageSize } from '../api/queries/base.ts';
import { inOrder } from '../language/isolated.ts';
import type { Column, ListProps, Order, Ordering } from './columns.ts';
import { textOf } from './download.ts';
import { ListFoot, LongSums, WholeSums } from './list-foot.tsx';
import { Head } from './list-head.tsx';
import { Loading, Refusal } from './notes.tsx';
import { nextOrder, sortedMax, sortedPages } from './sorting.ts';
import { Steady } from './steady.tsx';
import { everyRow } from './totals.ts';

export function List<Row>(props: ListProps<Row>) {
  const { empty, columns } = props;
  const [hidden, hide] = useHidden(columns);
  const { pages, orderBy } = useOrder(props);
  // The old order stays in view until the new one is there.
  const first = useQuery({
    ...pages(0),
    ...(orderBy.order ? { placeholderData: keepPreviousData } : {}),
  });
  if (first.isPending) return <Loading />;
  if (first.isLoadingError) return <Refusal error={first.error} onRetry={() => first.refetch()} />;
  const { rows, total } = first.data;
  if (total === 0) return empty;
  const visible = columns.filter(({ key }) => !hidden.has(key));
  const ordering = total <= sortedMax ? { ...orderBy, sample: rows[0] } : undefined;
  const shown = { ...props, pages, columns: visible, ordering };
  return (
    <Stack gap="sm">
      {total <= pageSize ? (
        <WholeList {...shown} rows={rows} />
      ) : (
        <LongList {...shown} total={total} />
      )}
      <ListFoot
        {...props}
        pages={pages}
        total={total}
        visible={visible}
        hidden={hidden}
        onHide={hide}
      />
      {total <= pageSize ? (
        <WholeSums rows={rows} columns={visible} />
      ) : (
        <LongSums key={`${pages(0).queryKey}`} pages={pages} columns={visible} total={total} />
      )}
    </Stack>
  );
}

type Ordered<Row> = ListProps<Row> & { ordering: Ordering<Row> | undefined };

function useOrder<Row>({ pages, columns }: ListProps<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const column = columns.find(({ key }) => key === order?.key);
  return {
    pages: order && column ? sortedPages(pages, column, order) : pages,
    orderBy: { order, choose: (key: string) => setOrder(nextOrder(order, key)) },
  };
}

const hiddenKey = 'billwright-columns';
type Hidden = Record<string, string[]>;

/** Which columns the person hid, of each list on this machine. */
function useHidden<Row>(columns: readonly Column<Row>[]) {
  const list = columns.map(({ key }) => key).join(' ');
  const [all, setAll] = useState<Hidden>(() =>
    JSON.parse(window.localStorage.getItem(hiddenKey) ?? '{}'),
  );
  const hide = (hidden: ReadonlySet<string>) => {
    const next = { ...all, [list]: [...hidden] };
    window.localStorage.setItem(hiddenKey, JSON.stringify(next));
    setAll(next);
  };
  return [new Set(all[list]), hide] as const;
}

function WholeList<Row>({
  rows,
  columns,
  rowKey,
  label,
  ordering,
}: Ordered<Row> & { rows: Row[] }) {
  return (
    <ScrollArea viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
      <Table aria-label={label}>
        <Head columns={columns} ordering={ordering} />
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

/** A person who drags the bar passes hundreds of pages: read are those that stay for a moment. */
const stillMs = 80;

function useIsStill(numbers: readonly number[]): boolean {
  const inView = numbers.join(' ');
  const [still] = useDebouncedValue(inView, stillMs);
  return still === inView;
}

/** Only the rows in view are in the page; the space of the others is kept free. */
function LongList<Row>({
  pages,
  columns,
  label,
  total,
  ordering,
}: Ordered<Row> & { total: number }) {
  const viewport = useRef<HTMLDivElement>(null);
  const { items, before, after } = useRowsInView(viewport, total);
  const numbers = [...new Set(items.map(({ index }) => Math.floor(index / pageSize)))];
  const enabled = useIsStill(numbers);
  const read = useQueries({ queries: numbers.map((number) => ({ ...pages(number), enabled })) });
  const rowAt = (index: number) =>
    read[numbers.indexOf(Math.floor(index / pageSize))]?.data?.rows[index % pageSize];
  const refused = read.find((one) => one.isLoadingError);
  const { printed, notRead } = usePrinted(pages);
  if (printed) return <Printed rows={printed} columns={columns} label={label} total={total} />;
  return (
    <>
      {refused && <Refusal error={refused.error} onRetry={() => refused.refetch()} />}
      {notRead && <Refusal error={notRead} />}
      <ScrollArea.Autosize
        mah="70vh"
        viewportRef={viewport}
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
      >
        <Table aria-label={label} aria-rowcount={total + 1} stickyHeader>
          <Head columns={columns} ordering={ordering} />
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

/** The most rows that are printed. */
const printedMax = 5_000;

/** Ctrl+P reads the rows that are not in view, and then prints. */
function usePrinted<Row>(pages: Pages<Row>) {
  const [rows, setRows] = useState<Row[] | null>(null);
  const reading = useMutation({ mutationFn: () => firstRows(pages), onSuccess: setRows });
  useHotkeys([['mod+P', () => reading.mutate()]]);
  useEffect(() => {
    if (rows === null) return;
    window.print();
    setRows(null);
  }, [rows]);
  return { printed: rows, notRead: reading.error };
}

async function firstRows<Row>(pages: Pages<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const some of everyRow(pages)) {
    all.push(...some);
    if (all.length >= printedMax) break;
  }
  return all.slice(0, printedMax);
}

function Printed<Row>({
  rows,
  columns,
  label,
  total,
}: {
  rows: Row[];
  columns: readonly Column<Row>[];
  label: string;
  total: number;
}) {
  const { t } = useTranslation();
  return (
    <>
      {rows.length < total && (
        <Text size="sm">{t('table.printFirst', { shown: rows.length, total })}</Text>
      )}
      <Table aria-label={label}>
        <Head columns={columns} ordering={undefined} />
        <Table.Tbody>
          {rows.map((row, index) => (
            // The rows are printed once, in this order.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <Table.Tr key={index}>
              <Cells columns={columns} row={row} />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
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

/** Names, numbers and days stay on one line; sentences have room for some words in each line. */
const shortMax = 26;

function kindOf<Row>(column: Column<Row>, row: Row): string {
  if (column.isFigure) return 'figure';
  const { length } = textOf(column, row);
  if (length === 0 || column.isNarrow) return '';
  return length <= shortMax ? 'short' : 'long';
}

function wordsOf(shown: ReactNode): ReactNode {
  return typeof shown === 'string' ? inOrder(shown) : shown;
}

/** A dialog that a cell has opened stays about what it showed, also when the list is read again. */
function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return (
    <Steady subject={row} versionOf={(shown) => JSON.stringify(shown)}>
      {(shown) =>
        columns.map((column) => (
          <Table.Td key={column.key} className={kindOf(column, shown)}>
            {wordsOf(column.show(shown))}
          </Table.Td>
        ))
      }
    </Steady>
  );
}
