// Contexts with their plans as rating reads them, and the compiled books kept between calls.
import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { checkContext } from '../rating/check-context.ts';
import { compilePriceBook, type Definitions, type PriceBook } from '../rating/price-book.ts';
import { type Currency, contextDefinition } from './context.ts';
import { type ContextRow, listContextVersions } from './contexts-store.ts';
import { listPlanVersions } from './plans-store.ts';

/** Every version of a context and of its plans. */
export async function loadDefinitions(
  tx: Tx,
  tenantId: number,
  context: Pick<ContextRow, 'context_id' | 'code'>,
  currency: Currency,
): Promise<Definitions> {
  const contexts = await listContextVersions(tx, tenantId, context.context_id);
  const plans = await listPlanVersions(tx, tenantId, context.context_id);
  return {
    contexts: contexts.map((row) => ({
      version: row.version,
      effectiveDate: wireDate(row.effective_date),
      definition: contextDefinition(context.code, row.definition, currency),
    })),
    plans: plans.map((row) => ({
      version: row.version,
      effectiveDate: wireDate(row.effective_date),
      definition: row.definition,
    })),
  };
}

export function wireDate(isoDate: string | null): string | null {
  return isoDate === null ? null : formatDate(Temporal.PlainDate.from(isoDate));
}

type Kept = { stamp: string; book: PriceBook };

/** A book takes some hundred kilobytes. The one not asked for longest makes room. */
const booksMax = 200;
const books = new Map<string, Kept>();

/**
 * The compiled book of a context as it is stored. Only for transactions that do not change the
 * context or its plans: what one of those sees is committed, so its book version never stands for
 * anything else.
 */
export async function storedPriceBook(
  tx: Tx,
  tenantId: number,
  context: Pick<ContextRow, 'context_id' | 'code' | 'created_at' | 'book_version'>,
  currency: Currency,
): Promise<PriceBook> {
  const key = `${tenantId}/${context.context_id}`;
  const stamp = [context.created_at, context.book_version, Object.values(currency)].join('/');
  const kept = books.get(key);
  books.delete(key);
  if (kept?.stamp === stamp) {
    books.set(key, kept);
    return kept.book;
  }
  const definitions = await loadDefinitions(tx, tenantId, context, currency);
  assertFitsCurrency(definitions);
  const book = compilePriceBook(definitions);
  if (books.size >= booksMax) {
    const [oldest] = books.keys();
    if (oldest !== undefined) books.delete(oldest);
  }
  books.set(key, { stamp, book });
  return book;
}

/** Saving checked this too, but by the currency of then. */
function assertFitsCurrency({ contexts }: Definitions): void {
  const problem = contexts.flatMap((version) => checkContext(version.definition))[0];
  if (problem === undefined) return;
  throw new AppError('DEFINITION_INVALID', { message: problem.message });
}
