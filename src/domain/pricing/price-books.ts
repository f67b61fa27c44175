// Contexts with their plans as rating reads them, and the compiled books kept between calls.
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { checkContext } from '../rating/check/check-context.ts';
import {
  compilePriceBook,
  type Definitions,
  type PriceBook,
} from '../rating/compile/price-book.ts';
import type { Version } from '../rating/definitions/definitions.ts';
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
    contexts: contexts.map((row) =>
      versionOf(row, contextDefinition(context.code, row.definition, currency)),
    ),
    plans: plans.map((row) => versionOf(row, row.definition)),
  };
}

function versionOf<Definition>(
  row: { version: number; effective_date: string | null },
  definition: Definition,
): Version<Definition> {
  return { version: row.version, effectiveDate: wireDate(row.effective_date), definition };
}

export function wireDate(isoDate: string | null): string | null {
  return isoDate === null ? null : wireDay(isoDate);
}

type Kept = { stamp: string; book: PriceBook };

/** A book takes some hundred kilobytes. The least recently used one is dropped first. */
const booksMax = 200;
const books = new Map<string, Kept>();

/**
 * The compiled book of a context as it is stored. Only for transactions that do not change the
 * context or its plans: such a transaction sees committed data, so one book version always names
 * the same prices.
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

/** The newest versions at some time, from which the prices of that time can be loaded again. */
export type PinnedVersions = { context: number; plans: Record<string, number> };

export async function newestVersions(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<PinnedVersions> {
  const contexts = await listContextVersions(tx, tenantId, contextId);
  const plans = await listPlanVersions(tx, tenantId, contextId);
  return {
    context: contexts.at(-1)?.version ?? 0,
    plans: Object.fromEntries(plans.map(({ plan_id, version }) => [plan_id, version])),
  };
}

/** A book with the plans it was made of, by their ids. */
export type PinnedBook = {
  book: PriceBook;
  planCodes: ReadonlyMap<number, string>;
  planIds: ReadonlyMap<string, number>;
};

const pinnedBooks = new Map<string, PinnedBook>();

/**
 * The compiled book of a context as it was with these versions. A version never changes, so the
 * same ones always give the same book.
 */
export async function pinnedPriceBook(
  tx: Tx,
  tenantId: number,
  context: Pick<ContextRow, 'context_id' | 'code' | 'created_at'>,
  currency: Currency,
  pinned: { bookVersion: number; versions: PinnedVersions },
): Promise<PinnedBook> {
  const place = [tenantId, context.context_id, context.created_at, pinned.bookVersion];
  const key = [...place, ...Object.values(currency)].join('/');
  const kept = pinnedBooks.get(key);
  if (kept) return kept;
  const { definitions, planIds } = await loadPinned(
    tx,
    tenantId,
    context,
    currency,
    pinned.versions,
  );
  const made = {
    book: compilePriceBook(definitions),
    planCodes: new Map([...planIds].map(([code, planId]) => [planId, code])),
    planIds,
  };
  const [oldest] = pinnedBooks.keys();
  if (pinnedBooks.size >= booksMax && oldest !== undefined) pinnedBooks.delete(oldest);
  pinnedBooks.set(key, made);
  return made;
}

/** The definitions behind such a book, for a simulation that changes some of them. */
export async function loadPinned(
  tx: Tx,
  tenantId: number,
  context: Pick<ContextRow, 'context_id' | 'code'>,
  currency: Currency,
  { context: newest, plans: newestPlans }: PinnedVersions,
): Promise<{ definitions: Definitions; planIds: Map<string, number> }> {
  const contexts = await listContextVersions(tx, tenantId, context.context_id);
  const plans = await listPlanVersions(tx, tenantId, context.context_id);
  const known = plans.filter((row) => row.version <= (newestPlans[row.plan_id] ?? 0));
  return {
    definitions: {
      contexts: contexts
        .filter((row) => row.version <= newest)
        .map((row) => versionOf(row, contextDefinition(context.code, row.definition, currency))),
      plans: known.map((row) => versionOf(row, row.definition)),
    },
    planIds: new Map(known.map((row) => [row.definition.code, row.plan_id])),
  };
}

/** Saving checked this too, but by the currency of then. */
function assertFitsCurrency({ contexts }: Definitions): void {
  const problem = contexts.flatMap((version) => checkContext(version.definition))[0];
  if (problem === undefined) return;
  throw new AppError('DEFINITION_INVALID', { message: problem.message });
}
