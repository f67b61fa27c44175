// The one way to book: every business event becomes a booking, and this writes it. Posting a term
// has its own path, because it writes thousands of bills by one statement.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents, type NewEvent } from '../events/events-store.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { ledgerAccounts } from './accounts.ts';
import type { Effect, EntryKind, Journal, JournalLine, SubledgerEntry } from './journal.ts';
import { summed } from './journal.ts';
import { findFirstOpenDay, openDay } from './months-store.ts';
import { listPaid } from './paid-bills-store.ts';
import { insertBookings, type NumberedBooking } from './store.ts';

export type ItemKind =
  | 'Opening'
  | 'Deposit'
  | 'Surcharge'
  | 'Adjustment'
  | 'Fee'
  | 'Reversal'
  | 'Transfer';

/** An open item that an entry begins. The entry says who owes how much, on which account. */
export type NewItem = {
  kind: ItemKind;
  dueDate: string;
  component?: string | null;
};

export type BookedEntry = SubledgerEntry & { opens?: NewItem };

/**
 * A business event: what it changes for customers, and the general accounts against that. In a
 * closed month it is posted on the first open day instead, and its date is kept as value date.
 */
export type Booking = Omit<Journal, 'lines' | 'entries'> & {
  entries: readonly BookedEntry[];
  against?: readonly JournalLine[];
};

export type BookOptions = {
  /** The first open day, if the caller has asked for it and so locked the months. */
  firstOpen?: Temporal.PlainDate | null;
  /** Writes what names the journals, in the same message to the database. */
  beside?(journalIds: readonly number[]): Promise<void>;
  /** Events of the bookings, written with those of the bills that they pay. */
  events?: readonly NewEvent[];
};

/**
 * Writes bookings, each as a journal, and returns the ids of the journals. The database holds that
 * each balances, that nothing is settled twice, and that balances, wallets and open items follow.
 * The wallets of the parties must be locked before their open items are read.
 */
export async function book(
  tx: Tx,
  tenantId: number,
  bookings: readonly Booking[],
  stamp: Stamp,
  { firstOpen: known, beside, events = [] }: BookOptions = {},
): Promise<number[]> {
  if (bookings.length === 0) return [];
  const entries = bookings.reduce((sum, booking) => sum + booking.entries.length, 0);
  const items = bookings.reduce((sum, booking) => sum + countOpened(booking), 0);
  const [firstOpen, firstJournal, firstEntry, firstItem] = await Promise.all([
    known === undefined ? findFirstOpenDay(tx, tenantId) : known,
    takeIds(tx, tenantId, 'journal', bookings.length),
    entries === 0 ? 0 : takeIds(tx, tenantId, 'entry', entries),
    items === 0 ? 0 : takeIds(tx, tenantId, 'open-item', items),
  ]);
  const ids = { journal: firstJournal, entry: firstEntry, item: firstItem };
  const numbered = bookings.map((booking) => numberedOf(inOpenMonth(booking, firstOpen), ids));
  const journalIds = numbered.map((booking) => booking.journalId);
  // In this order: what is paid is asked after the entries are written.
  const [, , paid] = await Promise.all([
    insertBookings(tx, tenantId, numbered, stamp),
    beside?.(journalIds),
    listPaid(tx, tenantId, settledBills(bookings)),
  ]);
  const all = [...events, ...eventsOf('bill.paid', 'billID', paid)];
  if (all.length > 0) await insertEvents(tx, tenantId, all, stamp.at);
  return journalIds;
}

/** Bills of which the bookings settle something. A settled bill cannot be settled further. */
function settledBills(bookings: readonly Booking[]): number[] {
  const sums = new Map<number, number>();
  for (const { accountId, billId, itemId, effect, amount } of bookings.flatMap(
    ({ entries }) => entries,
  )) {
    if (billId == null || itemId != null || !effect || effect === 'disputed') continue;
    sums.set(billId, (sums.get(billId) ?? 0) - signedOn(accountId, amount));
  }
  return [...sums].flatMap(([billId, settled]) => (settled > 0 ? [billId] : []));
}

function inOpenMonth(booking: Booking, firstOpen: Temporal.PlainDate | null): Booking {
  const postingDate = openDay(booking.postingDate, firstOpen);
  if (postingDate === booking.postingDate) return booking;
  const date = booking.postingDate.toString();
  const entries = booking.entries.map((entry) => ({
    ...entry,
    valueDate: entry.valueDate ?? date,
  }));
  return { ...booking, postingDate, entries };
}

function countOpened({ entries }: Booking): number {
  return entries.filter((entry) => entry.opens).length;
}

function numberedOf(
  booking: Booking,
  ids: { journal: number; entry: number; item: number },
): NumberedBooking {
  const { entries, against = [], ...head } = booking;
  const lines = summed([...entries, ...against]);
  const difference = lines.reduce((sum, line) => sum + line.amount, 0n);
  if (difference !== 0n) {
    throw new Error(`${head.source} ${head.sourceId} is out of balance by ${difference}`);
  }
  const numbered = entries.map((entry) => {
    const itemId = entry.opens ? ids.item++ : (entry.itemId ?? null);
    return { ...entry, itemId, entryId: ids.entry++ };
  });
  return { head, journalId: ids.journal++, lines, entries: numbered };
}

/** What is open, and on which side of the ledger. */
export type ItemKey = {
  /** The bill, if the item is one or belongs to one. */
  billId: number | null;
  /** Null if the bill itself is the item. */
  itemId: number | null;
  accountId: number;
  partyId: number;
  subscriptionId: number | null;
};

type Details = Pick<
  SubledgerEntry,
  'paymentId' | 'valueDate' | 'reference' | 'description' | 'isPayment'
>;

/** Above zero on a bill is a debit of what is receivable and a credit of what is payable. */
function signedOn(accountId: number, amount: number): number {
  return accountId === ledgerAccounts.payable ? -amount : amount;
}

/** An entry that settles an amount of an open item; below zero it opens it again. */
export function settling(
  item: ItemKey,
  { kind, effect, amount }: { kind: EntryKind; effect: Effect; amount: number },
  details: Details = {},
): BookedEntry {
  const { billId, itemId, accountId, partyId, subscriptionId } = item;
  return {
    ...details,
    ...{ accountId, partyId, subscriptionId, billId, itemId, kind, effect },
    amount: signedOn(accountId, -amount),
  };
}

/** An entry that creates an open item of an amount; below zero it is a credit of the customer. */
export function opening(
  owner: Omit<ItemKey, 'itemId'>,
  { kind, amount }: { kind: EntryKind; amount: number },
  opens: NewItem,
  details: Details = {},
): BookedEntry {
  const { billId, accountId, partyId, subscriptionId } = owner;
  return {
    ...details,
    ...{ accountId, partyId, subscriptionId, billId, kind, opens },
    amount: signedOn(accountId, amount),
    dueDate: opens.dueDate,
  };
}

/** An entry that adds an amount to a wallet; below zero it takes from it. */
export function intoWallet(
  partyId: number,
  { kind, amount }: { kind: EntryKind; amount: number },
  details: Details & { billId?: number | null } = {},
): BookedEntry {
  const { advance: accountId } = ledgerAccounts;
  return { ...details, accountId, partyId, subscriptionId: null, kind, amount: -amount };
}

/** An entry that adds an amount to the deposit that is held; below zero it takes from it. */
export function intoDeposit(
  owner: { partyId: number; subscriptionId: number; billId?: number | null },
  { kind, amount }: { kind: EntryKind; amount: number },
  details: Details = {},
): BookedEntry {
  return { ...details, ...owner, accountId: ledgerAccounts.deposit, kind, amount: -amount };
}
