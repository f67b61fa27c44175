// Posting, one chunk of a term: its bills, their ledger entries, and the wallet payments and
// credits that come with some of them.

import { storedDay } from '../base/days.ts';
import type { Tx } from '../base/db/pool.ts';
import {
  accountsOfTerm,
  asksDeposits,
  billLines,
  depositBooking,
  type JournalHead,
  walletBooking,
} from '../domain/bills/posting/bill-journals.ts';
import { postDrafts } from '../domain/bills/posting/post-drafts-store.ts';
import {
  type DraftCharges,
  endOneTimeSubscriptions,
  listFirstBills,
  listShares,
  type Numbered,
} from '../domain/bills/posting/post-store.ts';
import {
  settleShared,
  takeFromWallets,
  type WalletUse,
} from '../domain/bills/posting/wallets-store.ts';
import { chunkEvents, insertEvents } from '../domain/events/events-store.ts';
import { isOwedByWorkspace, openItemsAccount } from '../domain/ledger/accounts.ts';
import { book } from '../domain/ledger/book.ts';
import { insertHead, insertLines } from '../domain/ledger/store.ts';
import type { PinnedBook } from '../domain/pricing/price-books.ts';
import { contextOn } from '../domain/rating/compile/price-book.ts';
import type { Term } from '../domain/terms/store.ts';
import type { Chunk, StepJob } from '../jobs/step.ts';

/** How a chunk is posted: by which prices, on which date, under which numbers. */
export type ChunkPosting = {
  term: Term;
  chunk: Chunk;
  pinned: PinnedBook;
  usesWallets: boolean;
  postingDate: string;
  seriesId: number;
  journalId: number;
  firstEntry: number;
  /** Whether some of its bills may have several subscriptions. */
  isCombined: boolean;
};

/** Returns the parties whose wallets are left for the end of the step. */
export async function postChunk(
  tx: Tx,
  job: StepJob,
  posting: ChunkPosting,
  posted: readonly Numbered[],
  drafts: readonly DraftCharges[],
): Promise<number[]> {
  const { tenantId } = job.tenant;
  const { term, chunk, pinned, postingDate, journalId, firstEntry } = posting;
  const stamp = { at: job.now, by: job.requestedBy };
  const ids = posted.map((one) => one.billId);
  const part = { ...chunk, termId: term.term_id };
  const { uses: wallets, shared } = posting.usesWallets
    ? await takeFromWallets(tx, tenantId, part, drafts)
    : { uses: [], shared: [] };
  const dueDate = term.charging_type === 'Prepaid' ? postingDate : null;
  const head = journalHead(job, term, postingDate);
  await insertHead(tx, tenantId, journalId, { ...head, source: 'Bills' }, stamp);
  await postDrafts(tx, tenantId, {
    bills: posted,
    seriesId: posting.seriesId,
    wallets,
    dueDate,
    openItems: {
      accountId: openItemsAccount(term.context_type),
      side: isOwedByWorkspace(term.context_type) ? -1 : 1,
    },
    journalId,
    firstEntry,
    postingDate,
    term: {
      termId: term.term_id,
      label: term.label,
      startDate: term.start_date,
      endDate: term.end_date,
    },
    keepsCharges: !term.bills_after_period,
    isCombined: posting.isCombined,
    stamp,
  });
  const accountOf = await accountsOfTerm(tx, tenantId, pinned, term);
  await insertLines(tx, tenantId, journalId, billLines(drafts, accountOf, term.context_type));
  await bookBeside(tx, job, posting, { ids, wallets, head });
  const events = chunkEvents('bill.posted', 'billID', ids, { termID: term.term_id });
  await insertEvents(tx, tenantId, events, stamp.at);
  return shared;
}

function journalHead(job: StepJob, term: Term, postingDate: string): JournalHead {
  return {
    sourceId: job.jobId,
    termId: term.term_id,
    businessUnitId: term.business_unit_id,
    postingDate: Temporal.PlainDate.from(postingDate),
    description: `Bills of ${term.label}`,
  };
}

export function appliesWallets(term: Term, pinned: PinnedBook, postingDate: string): boolean {
  // What a party has paid ahead is not taken for what the party is owed.
  if (isOwedByWorkspace(term.context_type)) return false;
  if (term.charging_type === 'Prepaid') return true;
  const { definition } = contextOn(pinned.book, storedDay(postingDate));
  return (definition as { autoApplyWallet?: number }).autoApplyWallet !== 0;
}

type Beside = {
  ids: readonly number[];
  wallets: readonly WalletUse[];
  head: JournalHead;
};

/** What only some bills bring: wallets, deposits, plans that are billed once. */
async function bookBeside(
  tx: Tx,
  job: StepJob,
  posting: ChunkPosting,
  beside: Beside,
): Promise<void> {
  const { tenantId } = job.tenant;
  const { term, pinned, postingDate: today } = posting;
  const { ids, wallets, head } = beside;
  const stamp = { at: job.now, by: job.requestedBy };
  if (wallets.length > 0) {
    const shares = await listShares(tx, tenantId, ids);
    await book(tx, tenantId, [walletBooking(head, wallets, shares)], stamp);
  }
  if (asksDeposits(pinned)) {
    const firsts = await listFirstBills(tx, tenantId, ids);
    const booking = depositBooking(head, pinned, firsts, term.context_type);
    if (booking.entries.length > 0) await book(tx, tenantId, [booking], stamp);
  }
  const once = oneTimePlans(pinned);
  if (once.length > 0) await endOneTimeSubscriptions(tx, tenantId, ids, once, { today, stamp });
}

function oneTimePlans({ book, planIds }: PinnedBook): number[] {
  return book.definitions.plans.flatMap(({ definition }) =>
    definition.planType === 'ONE_TIME_PLAN' ? (planIds.get(definition.code) ?? []) : [],
  );
}

/** Wallets of parties with bills in several chunks, now that all of them are posted. */
export async function settleWallets(
  tx: Tx,
  job: StepJob,
  { term, postingDate }: Pick<ChunkPosting, 'term' | 'postingDate'>,
  partyIds: readonly number[],
): Promise<void> {
  const { tenantId } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const uses = await settleShared(tx, tenantId, term.term_id, partyIds, stamp);
  if (uses.length === 0) return;
  const shares = await listShares(
    tx,
    tenantId,
    uses.map((use) => use.bill_id),
  );
  const head = journalHead(job, term, postingDate);
  await book(tx, tenantId, [walletBooking(head, uses, shares)], stamp);
}
