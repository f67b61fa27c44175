// Finds all that the rows of a call refer to, in a number of statements that does not grow with the
// rows.
import { formatDate } from '../../base/calendar.ts';
import { firstDay, parseDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { builtInBatch, type Currency } from '../pricing/context.ts';
import { storedPriceBook } from '../pricing/price-books.ts';
import { contextOn, type PriceBook } from '../rating/compile/price-book.ts';
import {
  type ContextInUse,
  listBatchChoices,
  listPlanChoices,
  lockPartiesInUse,
  shareContexts,
} from './lookups-store.ts';
import type { KnownContext, RowReferences, WantedSubscription } from './new-subscription.ts';

export type Workspace = Currency & { tenantId: number };

export async function resolve(
  tx: Tx,
  workspace: Workspace,
  wanted: readonly WantedSubscription[],
): Promise<RowReferences> {
  const { tenantId } = workspace;
  const codes = distinct(wanted.map((one) => one.contextCode));
  const rows = await shareContexts(tx, tenantId, { codes });
  const contextIds = rows.map((row) => row.context_id);
  const users = wanted.flatMap((one) => one.users);
  const [plans, batches, parties, contexts] = await Promise.all([
    listPlanChoices(tx, tenantId, {
      contextIds,
      codes: distinct(wanted.map((one) => one.planCode)),
      labels: distinct(wanted.flatMap((one) => one.addOns.map((addOn) => addOn.label))),
    }),
    listBatchChoices(tx, tenantId, {
      contextIds,
      codes: distinct(wanted.map((one) => one.batchCode ?? builtInBatch)),
    }),
    lockPartiesInUse(tx, tenantId, {
      ids: distinct([...wanted, ...users].flatMap((one) => one.partyId ?? [])),
      numbers: distinct(users.flatMap((user) => user.partyNumber ?? [])),
    }),
    knownContexts(tx, workspace, rows),
  ]);
  return { contexts, plans, batches, parties };
}

async function knownContexts(
  tx: Tx,
  workspace: Workspace,
  rows: readonly ContextInUse[],
): Promise<Map<string, KnownContext>> {
  const contexts = new Map<string, KnownContext>();
  for (const row of rows) contexts.set(row.code, await knownContext(tx, workspace, row));
  return contexts;
}

/** The context of a subscription that exists. */
export async function contextOf(
  tx: Tx,
  workspace: Workspace,
  contextId: number,
): Promise<KnownContext> {
  const [row] = await shareContexts(tx, workspace.tenantId, { ids: [contextId] });
  if (!row) throw new Error(`no context ${contextId}`);
  return knownContext(tx, workspace, row);
}

async function knownContext(
  tx: Tx,
  workspace: Workspace,
  row: ContextInUse,
): Promise<KnownContext> {
  const book = await storedPriceBook(tx, workspace.tenantId, row, workspace);
  return { row, book, definitionOn: (day) => definitionOn(book, day) };
}

function definitionOn(book: PriceBook, day: Temporal.PlainDate) {
  return contextOn(book, parseDay(formatDate(day)) ?? firstDay).definition;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
