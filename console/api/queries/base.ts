// How screens read: what is kept, for how long, and the pages of a list.
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { BillingError } from '../../../sdk/client.ts';
import { totalIn } from '../client.ts';
import { Missing } from '../problem.ts';
import { NoAnswer } from '../reach.ts';

export const pageSize = 100;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < triesAfter(error),
      retryDelay: (count) => Math.min(1_000 * 2 ** count, 5_000),
    },
  },
});

/**
 * How often a page asks again. It waits for a server that is away as long as it takes. What was read
 * before stays on the screen also after an error: screens show a refusal in its place only if there
 * is none (`isLoadingError`).
 */
function triesAfter(error: unknown): number {
  if (error instanceof NoAnswer) return Number.POSITIVE_INFINITY;
  if (error instanceof Missing) return 0;
  if (!(error instanceof BillingError)) return 2;
  // The database is away or busy; anything else would be refused again.
  return error.statusCode >= 500 && error.error.retryable ? 5 : 0;
}

export type PageNumber = { pageNumber: number; size: number };
export type ListPage<Row> = { rows: Row[]; total: number };

export function pageOf(pageNumber: number, size = pageSize): PageNumber {
  return { pageNumber, size };
}

/**
 * The pages of one list, each read when it comes into view and forgotten soon after it left: a
 * person may scroll through 200,000 rows.
 */
export function pagesOf<Reply, Row>(
  key: readonly unknown[],
  read: (page: PageNumber) => Promise<{ data: Reply; headers: Headers }>,
  rowsIn: (reply: Reply) => Row[],
) {
  return (pageNumber: number, size = pageSize) =>
    queryOptions({
      queryKey: [...key, 'page', pageNumber, size],
      queryFn: async (): Promise<ListPage<Row>> => {
        const { data, headers } = await read(pageOf(pageNumber, size));
        return { rows: rowsIn(data), total: totalIn(headers) };
      },
      gcTime: pageNumber === 0 ? 15_000 : 5_000,
    });
}

export type Pages<Row> = ReturnType<typeof pagesOf<unknown, Row>>;
