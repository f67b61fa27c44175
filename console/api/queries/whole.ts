// Lists that the server answers whole: they are short, and are cut into pages here.
import { queryOptions } from '@tanstack/react-query';
import { type ListPage, pageSize } from './base.ts';

export function wholePages<Reply, Row>(
  key: readonly unknown[],
  read: () => Promise<{ data: Reply }>,
  rowsIn: (reply: Reply) => Row[],
) {
  return (pageNumber: number, size = pageSize) =>
    queryOptions({
      queryKey: [...key, 'page', pageNumber, size],
      queryFn: async (): Promise<ListPage<Row>> => {
        const rows = rowsIn((await read()).data);
        return { rows: rows.slice(pageNumber * size, (pageNumber + 1) * size), total: rows.length };
      },
    });
}
