// Step 7: drafts become numbered bills and are posted to the ledger. A chunk of a term is posted in
// one transaction; a failure leaves whole chunks posted, and posting again continues from there.

import { dateIn, formatDate } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import {
  findRun,
  findWholeRun,
  isLeftToOthers,
  type Reservation,
  type RunRow,
  updateReservation,
} from '../domain/bills/generate/runs-store.ts';
import { countStale } from '../domain/bills/inputs/billed-units-store.ts';
import { accountsOfTerm } from '../domain/bills/posting/bill-journals.ts';
import {
  advanceSubscriptions,
  beginCatchUp,
  type DraftBucket,
  holdStaleBills,
  listDraftBuckets,
  listDrafts,
  type Numbered,
} from '../domain/bills/posting/post-store.ts';
import { listShared } from '../domain/bills/posting/wallets-store.ts';
import { bookOfRun } from '../domain/bills/run-prices.ts';
import { countOpenBills, countPosted, hasReadSince } from '../domain/bills/store.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { findFirstOpenDay, openDay } from '../domain/ledger/months-store.ts';
import { takeIds } from '../domain/tenants/numbers-store.ts';
import { getTerm, hasBills, type Term, updateTermStage } from '../domain/terms/store.ts';
import { auditTerm } from '../jobs/audit-step.ts';
import { bucketIds, chunkSizeFor, cutIntoChunks, rangeOf } from '../jobs/chunks.ts';
import type {
  Chunk,
  ChunkResult,
  Finish,
  Plan,
  Step,
  StepJob,
  StepRequest,
  Worked,
} from '../jobs/step.ts';
import { numberBills, reserveNumbers } from './bill-numbers.ts';
import { assertTimeToPay } from './due-date.ts';
import { assertAllReady, openBillsText } from './open-bills.ts';
import { appliesWallets, type ChunkPosting, postChunk, settleWallets } from './post-chunk.ts';
import { wrongState } from './term-state.ts';

/** Bills of a chunk. With more, what a chunk works on no longer fits into the caches. */
const chunkSize = 1_000;
const justAskedSeconds = 5;

export const postBillsStep: Step = {
  operation: 'post-bills',
  check,
  prepare,
  work,
  finish,
  failed,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  const isBegun = term.stage === 'Posting';
  if (term.status !== 'Open' || (term.stage !== 'Generated' && !isBegun)) {
    throw await wrongState(tx, request, term, {
      operation: 'post-bills',
      done: 'posted',
      next:
        term.status === 'Published'
          ? 'Its bills are published and stay: correct single ones with cancel-bill.'
          : 'To bill it again, unpost its bills with unpost-bills first.',
      allowed: ['Generated'],
    });
  }
  await assertOtherHands(tx, request, term);
  // Once begun, posting continues with its first findings; each chunk still checks its own bills.
  if (isBegun) return;
  await assertFresh(tx, tenantId, term, { isJustSeen: isJustAsked(request) });
  if (request.parameters.skipErrors !== true) await assertAllReady(tx, tenantId, term);
  await assertHasDrafts(tx, tenantId, term);
  await assertTimeToPay(tx, request, term, 'Draft');
}

/**
 * Whether all subscriptions were checked a moment ago, when the step was requested. Each chunk
 * finds what changes after that, as it does while the term is posted.
 */
function isJustAsked({ askedAt, now }: StepRequest): boolean {
  if (!askedAt) return false;
  const { sign, seconds } = now.since(askedAt);
  return sign >= 0 && seconds < justAskedSeconds;
}

/** If the setting `separationOfDuty` is on, another person than the one who generated must post. */
async function assertOtherHands(tx: Tx, request: StepRequest, term: Term): Promise<void> {
  const { tenant, requestedBy } = request;
  if (!(await isLeftToOthers(tx, tenant.tenantId, term.term_id, requestedBy))) return;
  throw new AppError('PERMISSION_DENIED', {
    message:
      `${requestedBy} generated bills of ${term.label}, and may not post them ` +
      '(setting separationOfDuty). Another login has to post them.',
  });
}

async function assertFresh(
  tx: Tx,
  tenantId: number,
  term: Term,
  seen: { isJustSeen: boolean },
): Promise<void> {
  const reason = await staleReason(tx, tenantId, term, seen);
  if (reason === null) return;
  throw new AppError('TERM_STALE_GENERATE_AGAIN', {
    message:
      `${reason} since the bills of ${term.label} were generated. ` +
      'Generate them again with generate-bills (step 6).',
  });
}

/** Since all bills were made: a run of one bill leaves the others as they are. */
async function staleReason(
  tx: Tx,
  tenantId: number,
  term: Term,
  { isJustSeen }: { isJustSeen: boolean },
): Promise<string | null> {
  const run = await findWholeRun(tx, tenantId, term.term_id);
  if (!run) throw new Error(`term ${term.term_id} was never generated as a whole`);
  if (term.is_stale) {
    return 'Dates, readings, values, usage or another term of the batch changed';
  }
  if (run.book_version !== term.book_version) return 'Prices changed';
  if (await hasReadSince(tx, tenantId, term.term_id, run.started_at)) return 'Readings were locked';
  const stale = isJustSeen ? 0 : await countStale(tx, tenantId, term);
  if (stale === 0) return null;
  return `${counted(stale, 'subscription')} changed`;
}

async function assertHasDrafts(tx: Tx, tenantId: number, term: Term): Promise<void> {
  if (await hasBills(tx, tenantId, term.term_id, 'Draft')) return;
  const { errors, holds } = await countOpenBills(tx, tenantId, term.term_id);
  const why =
    errors + holds === 0
      ? `it bills no subscription. Cancel it with cancel-term`
      : `all ${errors + holds} are in error or on hold. Correct them and generate again`;
  throw new AppError('NOTHING_TO_POST', {
    message: `Term ${term.label} has no bill to post: ${why}.`,
    current: { bills: 0, errors, holds },
  });
}

async function lastRun(tx: Tx, tenantId: number, term: Term): Promise<RunRow> {
  const key = { termId: term.term_id, runNumber: term.run_number };
  const run = await findRun(tx, tenantId, key);
  if (!run) throw new Error(`term ${term.term_id} has no run ${term.run_number}`);
  return run;
}

/** What the step set aside before its first chunk. */
function reservationOf({ reserved, run_number: number }: RunRow): Reservation {
  if (!reserved) throw new Error(`nothing was set aside for posting run ${number}`);
  return reserved;
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const run = await lastRun(tx, tenantId, term);
  const reserved = run.reserved ?? (await reserve(tx, job, term));
  const stamp = { at: job.now, by: job.requestedBy };
  const pinned = await bookOfRun(tx, job.tenant, term, run);
  await accountsOfTerm(tx, tenantId, pinned, term);
  await updateTermStage(tx, tenantId, term.term_id, { stage: 'Posting' }, stamp);
  return {
    chunks: reserved.ranges.map(([firstId, lastId]) => ({ firstId, lastId })),
    total: reserved.bills,
  };
}

/** All numbers in one short statement each: no chunk has to wait for another's. */
async function reserve(tx: Tx, job: StepJob, term: Term): Promise<Reservation> {
  const { tenantId, timezone } = job.tenant;
  const buckets = await listDraftBuckets(tx, tenantId, term.term_id, chunkSizeFor(job, bucketIds));
  let bills = 0;
  let subscriptions = 0;
  const ranges: Reservation['ranges'] = [];
  for (const part of cutIntoChunks(buckets, () => chunkSizeFor(job, chunkSize))) {
    const { firstId, lastId } = rangeOf(part);
    const billsOfChunk = sumOf(part, 'count');
    ranges.push([firstId, lastId, billsOfChunk, subscriptions]);
    bills += billsOfChunk;
    subscriptions += sumOf(part, 'subscriptions');
  }
  const { errors, holds } = await countOpenBills(tx, tenantId, term.term_id);
  const take = (series: 'entry' | 'journal', count: number) =>
    count === 0 ? 0 : takeIds(tx, tenantId, series, count);
  const postingDate = dateIn(job.now, timezone).toString();
  const reserved: Reservation = {
    numbers: await reserveNumbers(tx, tenantId, term, { postingDate, count: bills }),
    firstEntry: await take('entry', subscriptions),
    firstJournal: await take('journal', ranges.length),
    bills,
    skipped: errors + holds,
    postingDate,
    ranges,
  };
  const key = { termId: term.term_id, runNumber: term.run_number };
  await updateReservation(tx, tenantId, key, reserved);
  return reserved;
}

function sumOf(buckets: readonly DraftBucket[], what: 'count' | 'subscriptions'): number {
  return buckets.reduce((sum, bucket) => sum + bucket[what], 0);
}

/** The number of bills in the chunks before this one. */
function billsBefore({ ranges }: Reservation, { chunk }: Chunk): number {
  return ranges.slice(0, chunk - 1).reduce((sum, [, , bills]) => sum + bills, 0);
}

async function work(tx: Tx, job: StepJob, chunk: Chunk): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  const run = await lastRun(tx, tenantId, term);
  const reserved = reservationOf(run);
  const [, , expected = 0, before = 0] = reserved.ranges[chunk.chunk - 1] ?? [];
  const { drafts, parts } = await listDrafts(tx, tenantId, term.term_id, chunk);
  const ids = drafts.map((draft) => draft.bill_id);
  const pinned = await bookOfRun(tx, job.tenant, term, run);
  const usesWallets = appliesWallets(term, pinned, reserved.postingDate);
  // All or nothing: an earlier attempt has posted the whole chunk.
  if (ids.length === 0) {
    const posted = await countPosted(tx, tenantId, term.term_id, chunk);
    const part = { ...chunk, termId: term.term_id };
    const shared = usesWallets ? await listShared(tx, tenantId, part) : [];
    return { done: expected, outcome: { posted, shared } };
  }
  if (ids.length !== expected) {
    throw new Error(`chunk ${chunk.chunk} has ${ids.length} drafts, not the ${expected} it had`);
  }
  const numbered = numberBills(reserved.numbers, billsBefore(reserved, chunk), ids);
  const stamp = { at: job.now, by: job.requestedBy };
  const stale = new Set(await advanceSubscriptions(tx, tenantId, parts));
  const isStale = ({ billId }: Numbered) => stale.has(billId);
  if (stale.size > 0) {
    const reason = 'The subscription changed while the term was posted';
    const { seriesId } = reserved.numbers;
    const fallen = { termId: term.term_id, seriesId, bills: numbered.filter(isStale) };
    await holdStaleBills(tx, tenantId, fallen, reason, stamp);
  }
  const posting: ChunkPosting = {
    term,
    chunk,
    pinned,
    usesWallets,
    postingDate: await openPostingDate(tx, tenantId, reserved),
    seriesId: reserved.numbers.seriesId,
    journalId: reserved.firstJournal + (chunk.chunk - 1),
    firstEntry: reserved.firstEntry + before,
    isCombined: parts.length !== ids.length || term.post_type !== 'Post Subscription',
  };
  const posted = numbered.filter((one) => !isStale(one));
  const booked = drafts.filter((draft) => !stale.has(draft.bill_id));
  const shared = posted.length === 0 ? [] : await postChunk(tx, job, posting, posted, booked);
  return { done: expected, outcome: { posted: posted.length, shared } };
}

/** The day of the reservation, unless its month was closed while the term was posted. */
async function openPostingDate(tx: Tx, tenantId: number, reserved: Reservation): Promise<string> {
  const firstOpen = await findFirstOpenDay(tx, tenantId);
  return openDay(Temporal.PlainDate.from(reserved.postingDate), firstOpen).toString();
}

type Outcome = { posted: number; shared: number[] };

async function finish(tx: Tx, job: StepJob, worked: Worked): Promise<Finish> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const outcomes = worked.outcomes as Outcome[];
  const posted = outcomes.reduce((sum, outcome) => sum + outcome.posted, 0);
  if (posted === 0 && worked.total > 0) throw allChanged(term);
  const stamp = { at: job.now, by: job.requestedBy };
  const step = { stage: 'Posted', status: 'Posted' } as const;
  await updateTermStage(tx, tenantId, term.term_id, step, stamp);
  await beginCatchUp(tx, tenantId, { termId: term.term_id, startDate: term.start_date });
  const shared = new Set(outcomes.flatMap((outcome) => outcome.shared));
  if (shared.size > 0) {
    const reserved = reservationOf(await lastRun(tx, tenantId, term));
    const postingDate = await openPostingDate(tx, tenantId, reserved);
    await settleWallets(tx, job, { term, postingDate }, [...shared]);
  }
  const { errors, holds } = await countOpenBills(tx, tenantId, term.term_id);
  const left = errors + holds;
  await auditTerm(tx, job, term, { ...step, bills: posted });
  const events = eventsOf('term.posted', 'termID', [term.term_id]);
  await insertEvents(tx, tenantId, events, job.now);
  const names = await openBillsText(tx, tenantId, term.term_id, left);
  const rest = left === 0 ? '' : `, ${left} left for the next term${names}`;
  const message = `${counted(posted, 'bill')} posted${rest}${earlyText(job, term)}`;
  return { message, posted, skipped: left };
}

/** A warning where days of the term are still to come. Bills in advance are always made before. */
function earlyText(job: StepJob, term: Term): string {
  const today = dateIn(job.now, job.tenant.timezone);
  const endDate = Temporal.PlainDate.from(term.end_date);
  const isOver = Temporal.PlainDate.compare(today, endDate) >= 0;
  if (isOver || !term.bills_after_period) return '';
  return (
    `. Warning: term ${term.label} ends on ${formatDate(endDate)}, after today, ` +
    `${formatDate(today)}. Changes until then are not on its bills.`
  );
}

function allChanged({ label }: Term): AppError {
  return new AppError('TERM_STALE_GENERATE_AGAIN', {
    message:
      `Every subscription changed while ${label} was posted. ` +
      'Generate its bills again with generate-bills (step 6).',
  });
}

/** If every bill was put on hold, nothing is posted: the term goes back to the stage Generated. */
async function failed(tx: Tx, job: StepJob): Promise<void> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  if (term.stage !== 'Posting' || (await countPosted(tx, tenantId, term.term_id)) > 0) return;
  const drafts = await listDraftBuckets(tx, tenantId, term.term_id, chunkSizeFor(job, bucketIds));
  if (drafts.length > 0) return;
  const key = { termId: term.term_id, runNumber: term.run_number };
  await updateReservation(tx, tenantId, key, null);
  const stamp = { at: job.now, by: job.requestedBy };
  const step = { stage: 'Generated', isStale: true } as const;
  await updateTermStage(tx, tenantId, term.term_id, step, stamp);
}
