// Lists in the order of a column: read to their end once, and served in pages as before.
import { queryOptions } from '@tanstack/react-query';
import { type ListPage, type Pages, pageSize, queries } from '../api/queries/base.ts';
import type { Column, Order } from './columns.ts';
import { everyRow } from './totals.ts';

/** Longer lists are narrowed by their filters first. */
export const sortedMax = 5_000;

/** Up, down, and then the order of the server again. */
export function nextOrder(order: Order | null, key: string): Order | null {
  if (order?.key !== key) return { key, isDown: false };
  return order.isDown ? null : { key, isDown: true };
}

export function sortedPages<Row>(
  pages: Pages<Row>,
  column: Column<Row>,
  { isDown }: Order,
): Pages<Row> {
  const whole = {
    queryKey: [...pages(0).queryKey, 'sorted', column.key, isDown],
    queryFn: async () => {
      const rows: Row[] = [];
      for await (const some of everyRow(pages)) rows.push(...some);
      const values = new Map(rows.map((row) => [row, sortValueOf(column, row)]));
      const sorted = rows.toSorted((a, b) => compare(values.get(a) ?? '', values.get(b) ?? ''));
      return isDown ? sorted.toReversed() : sorted;
    },
    staleTime: 5_000,
    gcTime: 15_000,
  };
  return (pageNumber: number, size = pageSize) =>
    queryOptions({
      queryKey: [...whole.queryKey, 'page', pageNumber, size],
      queryFn: async (): Promise<ListPage<Row>> => {
        const rows = await queries.fetchQuery(whole);
        const first = pageNumber * size;
        return { rows: rows.slice(first, first + size), total: rows.length };
      },
      gcTime: 15_000,
    });
}

/** What a column can be sorted by; a column of buttons has nothing. */
export function isSortable<Row>(column: Column<Row>, row: Row | undefined): boolean {
  if (row === undefined) return false;
  const value = sortValueOf(column, row);
  const hasParts = typeof column.show(row) === 'object' && column.show(row) !== null;
  return value !== null && !(value === '' && hasParts);
}

function sortValueOf<Row>(column: Column<Row>, row: Row): number | string | null {
  if (column.sum) return column.sum(row);
  const shown = column.text ? (column.text(row) ?? '') : column.show(row);
  if (typeof shown === 'number') return shown;
  if (typeof shown !== 'string') return shown === null || shown === undefined ? '' : null;
  // Days are written with the year last, and sorted with it first.
  return shown.replace(/^(\d\d)\/(\d\d)\/(\d{4})/, '$3-$2-$1');
}

const words = new Intl.Collator(undefined, { numeric: true });

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return words.compare(String(a), String(b));
}
