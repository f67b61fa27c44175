// Open items of an old system: a file brings them, and each is booked against the opening balances.
// Rows are stored first and booked afterwards in the order of parties, so that a file of any size
// locks wallets in one order.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts, openItemsAccount } from '../ledger/accounts.ts';
import { type BookedEntry, book, intoDeposit, intoWallet, opening } from '../ledger/book.ts';
import { lockWallets } from '../ledger/items-store.ts';
import type { WantedOpening } from './opening-item.ts';
import {
  type Holder,
  insertOpeningItems,
  type KnownOpening,
  listHolders,
  listOpeningItems,
  listOpeningReferences,
  type OpeningRow,
} from './opening-items-store.ts';
import { problemsOfRace, takeNew } from './references.ts';

type Stored = { today: Temporal.PlainDate; batchId: number; stamp: Stamp };

/**
 * Stores rows of a file. A reference that brought the same before is a repetition and changes
 * nothing. Where a row is refused, none is stored.
 */
export async function storeOpeningItems(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedOpening[],
  { today, batchId, stamp }: Stored,
): Promise<RowProblem[]> {
  const holders = await listHolders(tx, tenantId, wanted);
  const early = wanted.flatMap((one, row) => problemsOf(one, holders[row], row, today));
  if (early.length > 0) return early;
  const references = wanted.map((one) => one.reference);
  const known = await listOpeningReferences(tx, tenantId, references);
  const held = wanted.map((one, row) => ({ ...one, on: holders[row] as Holder }));
  const taken = takeNew(held, known, {
    firstId: 0,
    keep: (one, id, reference) => ({ id, reference, ...keyOf(one) }),
    isSame: (one, before) => isSame(keyOf(one), before),
    name: () => 'another open item',
  });
  if (taken.problems.length > 0) return taken.problems;
  const rows = taken.rows.map(({ wanted: one }) => ({
    ...keyOf(one),
    reference: one.reference,
    component: one.component,
    issue_date: one.issueDate.toString(),
    description: one.description,
  }));
  return problemsOfRace(rows, await insertOpeningItems(tx, tenantId, batchId, rows, stamp));
}

type Key = Omit<KnownOpening, 'id' | 'reference'>;

function keyOf({ on, kind, amount, dueDate }: WantedOpening & { on: Holder }): Key {
  return {
    kind,
    party_id: on.party_id,
    subscription_id: on.subscription_id,
    due_date: dueDate.toString(),
    amount,
  };
}

/** An advance and a deposit are never due: without a date they are of the day of the import. */
function isSame(key: Key, before: KnownOpening): boolean {
  const compared = (Object.keys(key) as (keyof Key)[]).filter(
    (name) => key.kind === 'OpenItem' || name !== 'due_date',
  );
  return compared.every((name) => key[name] === before[name]);
}

function problemsOf(
  wanted: WantedOpening,
  holder: Holder | undefined,
  row: number,
  today: Temporal.PlainDate,
): RowProblem[] {
  const { partyNumber, connectionNumber, component, kind, amount, issueDate } = wanted;
  const refuse = (
    name: string,
    code: RowProblem['code'],
    message: string,
    rejectedValue: unknown,
  ): RowProblem[] => [{ row, name, code, message, rejectedValue }];
  if (!holder && connectionNumber !== null) {
    const owner = partyNumber === null ? '' : ` of party ${partyNumber}`;
    const message = `No subscription${owner} has the number ${connectionNumber}`;
    return refuse('connectionNumber', 'SUBSCRIPTION_NOT_FOUND', message, connectionNumber);
  }
  if (!holder) {
    const message = `No party has the number ${partyNumber}`;
    return refuse('partyNumber', 'PARTY_NOT_FOUND', message, partyNumber);
  }
  if (holder.is_archived) {
    const message = 'The party is archived: restore it first, or leave the row out';
    return refuse('partyNumber', 'PARTY_ARCHIVED', message, partyNumber);
  }
  if (component !== null && !holder.components.includes(component)) {
    const message = `The pricing context of the subscription has no component ${component}`;
    return refuse('component', 'COMPONENT_NOT_FOUND', message, component);
  }
  if (Temporal.PlainDate.compare(issueDate, today) > 0) {
    const message = `The issue date ${formatDate(issueDate)} is after today`;
    return refuse('issueDate', 'DATE_IN_FUTURE', message, formatDate(issueDate));
  }
  if (amount === 0 || (kind !== 'OpenItem' && amount < 0)) {
    const allowed = kind === 'OpenItem' ? 'above or below zero' : 'above zero';
    return refuse('amount', 'INVALID_NUMBER', `The amount of ${kind} must be ${allowed}`, amount);
  }
  if (kind === 'SecurityDeposit' && holder.subscription_id === null) {
    const message = 'A deposit is held for a subscription: name it by connectionNumber';
    return refuse('connectionNumber', 'REQUIRED_FIELD', message, null);
  }
  return [];
}

const itemsAtOnce = 2_000;

/** Books all that a file brought, in the order of parties; returns how many items. */
export async function bookOpeningItems(
  tx: Tx,
  tenantId: number,
  { today, batchId, stamp }: Stored,
): Promise<number> {
  let after: OpeningRow | undefined;
  let booked = 0;
  for (;;) {
    const window = { batchId, after, limit: itemsAtOnce };
    const rows = await listOpeningItems(tx, tenantId, window);
    if (rows.length > 0) await bookRows(tx, tenantId, rows, { today, batchId, stamp });
    booked += rows.length;
    if (rows.length < itemsAtOnce) return booked;
    after = rows.at(-1);
  }
}

/** One journal for each business unit. */
async function bookRows(
  tx: Tx,
  tenantId: number,
  rows: readonly OpeningRow[],
  { today, batchId, stamp }: Stored,
): Promise<void> {
  await lockWallets(
    tx,
    tenantId,
    rows.map((row) => row.party_id),
  );
  const byUnit = Map.groupBy(rows, (row) => row.business_unit_id);
  const bookings = [...byUnit].map(([businessUnitId, group]) => {
    const entries = group.map(entryOf);
    return {
      source: 'Opening' as const,
      sourceId: batchId,
      businessUnitId,
      postingDate: today,
      description: 'Open items of the old system',
      entries,
      against: entries.map(({ amount }) => ({
        accountId: ledgerAccounts.opening,
        amount: -amount,
      })),
    };
  });
  await book(tx, tenantId, bookings, stamp);
}

function entryOf(row: OpeningRow): BookedEntry {
  const { party_id: partyId, subscription_id: subscriptionId, amount } = row;
  const { reference, description, issue_date: valueDate } = row;
  const moved = { kind: 'Opening', amount } as const;
  const details = { reference, description, valueDate };
  if (row.kind === 'Advance') return intoWallet(partyId, moved, details);
  if (row.kind === 'SecurityDeposit' && subscriptionId !== null) {
    return intoDeposit({ partyId, subscriptionId }, moved, details);
  }
  const accountId = openItemsAccount(row.context_type ?? 'Sale');
  const owner = { partyId, subscriptionId, billId: null, accountId };
  const { due_date: dueDate, component } = row;
  return opening(owner, moved, { kind: 'Opening', dueDate, component }, details);
}
