import type { Tx } from '../../base/db/pool.ts';
import { type PinnedBook, pinnedPriceBook } from '../pricing/price-books.ts';
import type { Term } from '../terms/store.ts';
import type { RunRow } from './generate/runs-store.ts';

/** The prices that a run was rated with, whatever was saved since. */
export function bookOfRun(
  tx: Tx,
  tenant: { tenantId: number; currency: string; currencyDecimals: number },
  term: Term,
  run: Pick<RunRow, 'book_version' | 'versions'>,
): Promise<PinnedBook> {
  const context = {
    context_id: term.context_id,
    code: term.context_code,
    created_at: term.context_created_at,
  };
  const currency = { currency: tenant.currency, currencyDecimals: tenant.currencyDecimals };
  const pinned = { bookVersion: run.book_version, versions: run.versions };
  return pinnedPriceBook(tx, tenant.tenantId, context, currency, pinned);
}
