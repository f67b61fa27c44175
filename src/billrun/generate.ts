// Step 6: drafts of all bills of a term, or of one. Every generation is a numbered run; a bill
// whose result is unchanged is not written again.

import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { type BillRows, openRows, reuseRows } from '../domain/bills/generate/copy-store.ts';
import {
  insertBills,
  type KnownBill,
  listKnownBills,
  type NewPart,
  refreshBills,
  supersedeBills,
  type TouchedBill,
} from '../domain/bills/generate/drafts-store.ts';
import type { MadeBill } from '../domain/bills/generate/made-bill.ts';
import { makeBill } from '../domain/bills/generate/make-bill.ts';
import {
  addBill,
  addTotals,
  emptySums,
  type Sums,
  totalsText,
} from '../domain/bills/generate/run-totals.ts';
import {
  findRun,
  findTotalsBefore,
  findWholeRun,
  finishRun,
  insertRun,
  type RunRow,
  type RunTotals,
} from '../domain/bills/generate/runs-store.ts';
import {
  hasMetered,
  listUnitBuckets,
  type UnitRange,
} from '../domain/bills/inputs/billed-units-store.ts';
import { unlockUnbilled } from '../domain/bills/inputs/catch-up-store.ts';
import { type Collected, collect } from '../domain/bills/inputs/collect.ts';
import { sumOfTerm } from '../domain/bills/review/summary-store.ts';
import { bookOfRun } from '../domain/bills/run-prices.ts';
import { findBillKey, getBillOfTerm } from '../domain/bills/store.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { newestVersions } from '../domain/pricing/price-books.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { getTerm, type Term, updateTermStage } from '../domain/terms/store.ts';
import { rejectEstimates } from '../domain/terms/substitute-readings-store.ts';
import { closedText } from '../domain/terms/term.ts';
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
import { idsOf, type NewIds } from './bill-ids.ts';
import { generateFailed } from './generate-failed.ts';
import { openBillsText } from './open-bills.ts';

/**
 * Billed units of a chunk: many, as a chunk has costs of its own, and towards the end of the term
 * fewer, so that all workers have something to do until then.
 */
const chunkSizes = { most: 4_000, least: 1_000, shareOfRest: 1 / 16 };
/** Billed units in memory at once: few, so that they are freed before the collector copies them. */
const sliceSize = 500;
/**
 * If ids are sparse, a chunk has up to this many times the slices that its billed units would fill.
 */
const sparseSlices = 2;

type Outcome = { totals: RunTotals; made: number; changed: number; dropped: number };

export const generateBillsStep: Step = {
  operation: 'generate-bills',
  check,
  prepare,
  work,
  finish,
  failed: generateFailed,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  // Once the first bill of a term has its number, none is made anew.
  if (term.status !== 'Open' || term.stage === 'Posting') throw notOpen(term);
  if (request.billId !== null) await getBillOfTerm(tx, tenantId, term, request.billId);
  if (term.readings_posted_at === null && (await hasMetered(tx, tenantId, term))) {
    throw new AppError('READINGS_NOT_POSTED', {
      message:
        `Term ${term.label} bills by meter, and its readings are not posted. ` +
        'Post them with post-meter-readings (step 4).',
    });
  }
}

function notOpen(term: Term): AppError {
  return new AppError('INVALID_STATE', {
    message: closedText(term),
    current: { status: term.status, stage: term.stage },
    allowed: ['Open'],
  });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenant, billId, jobId, now } = job;
  const { tenantId } = tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const bill = billId === null ? null : await getBillOfTerm(tx, tenantId, term, billId);
  const unitId = bill?.unit_id ?? null;
  const ids = chunkSizeFor(job, bucketIds);
  const buckets = await listUnitBuckets(tx, tenantId, term, { ids, unitId });
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const isNew = buckets.some(({ billed, count }) => billed < count);
  const sizeOf = (left: number) => chunkSizeFor(job, chunkSizeOf(left));
  const ranges = cutIntoChunks(buckets, sizeOf).map(rangeOf);
  const runNumber = term.run_number + 1;
  const stamp = { at: now, by: job.requestedBy };
  // Reserved here and not in each chunk: taking a number blocks other calls that need one.
  const chunkSize = sizeOf(total);
  const billIds = ranges.length * chunkSize;
  const firstBillId = isNew ? await takeNumbers(tx, tenantId, 'bill', billIds) : null;
  const run = {
    run_number: runNumber,
    job_id: jobId,
    bill_id: billId,
    book_version: term.book_version,
    versions: await newestVersions(tx, tenantId, term.context_id),
    first_bill_id: firstBillId,
    part_size: chunkSize,
  };
  await insertRun(tx, tenantId, term.term_id, run, stamp);
  // What is uploaded from here on makes it stale again.
  const isStale = billId === null ? { isStale: false } : {};
  await updateTermStage(
    tx,
    tenantId,
    term.term_id,
    { stage: 'Generating', runNumber, ...isStale },
    stamp,
  );
  return { chunks: ranges, total };
}

/** The size of the next chunk, from the number of billed units that are left. */
export function chunkSizeOf(left: number): number {
  const { most, least, shareOfRest } = chunkSizes;
  return Math.min(most, Math.max(least, Math.ceil(left * shareOfRest)));
}

async function work(tx: Tx, job: StepJob, chunk: Chunk): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  const run = await currentRun(tx, tenantId, term, job.jobId);
  const pinned = await bookOfRun(tx, job.tenant, term, run);
  const work: ChunkWork = {
    tx,
    tenantId,
    run: { term, number: run.run_number },
    stamp: { at: job.now, by: job.requestedBy },
    ids: idsOf(tx, tenantId, run, chunk),
    sums: emptySums(),
    rows: openRows(),
    parts: [],
    touched: [],
    changed: [],
    dropped: [],
    units: 0,
    made: 0,
  };
  const isFirst = run.run_number === 1 && !(await wasWorked(tx, tenantId, run, chunk));
  const read = async (slice: UnitRange): Promise<Read> => {
    const [collected, known] = await Promise.all([
      collect(tx, job.tenant, term, pinned, slice),
      // Before the first run of a term was through there is nothing to find.
      isFirst ? [] : listKnownBills(tx, tenantId, term.term_id, slice),
    ]);
    return { ...collected, known };
  };
  await inTurn(slicesOf(chunk, run), read, (found) => makeSlice(work, found));
  await supersedeBills(tx, tenantId, run.run_number, [...work.changed, ...work.dropped]);
  await refreshBills(tx, tenantId, work.touched);
  await insertBills(tx, tenantId, work.rows, work.parts);
  reuseRows(work.rows);
  const outcome: Outcome = {
    totals: totalsText(work.sums),
    made: work.made,
    changed: work.changed.length,
    dropped: work.dropped.length,
  };
  return { done: work.units + work.dropped.length, outcome };
}

/** The result of a chunk, added up from its slices. */
type ChunkWork = {
  tx: Tx;
  tenantId: number;
  run: { term: Term; number: number };
  stamp: { at: Temporal.Instant; by: string };
  ids: NewIds;
  sums: Sums;
  rows: BillRows;
  parts: NewPart[];
  touched: TouchedBill[];
  changed: number[];
  dropped: number[];
  units: number;
  made: number;
};

type Read = Collected & { known: KnownBill[] };

/** Rates a slice. Each bill is written as soon as it is made, and nothing else of it is kept. */
async function makeSlice(work: ChunkWork, { scope, units, known }: Read): Promise<void> {
  const knownOf = new Map(known.map((bill) => [bill.unit_id, bill]));
  await work.ids.reserve(newIn(units, knownOf));
  for (const [unitId, inputs] of units) {
    const made = makeBill(scope, inputs);
    if (made === undefined) continue;
    const before = knownOf.get(unitId);
    knownOf.delete(unitId);
    addBill(work.sums, made, isOnHold(made, before));
    if (before?.hash === made.hash) keepBill(work, made, before);
    else writeBill(work, made, before);
  }
  work.units += units.size;
  // Bills of units that are not billed any more.
  for (const bill of knownOf.values()) work.dropped.push(bill.bill_id);
}

/** Billed units without a bill so far. */
function newIn(units: Collected['units'], knownOf: ReadonlyMap<number, KnownBill>): number {
  let count = 0;
  for (const id of units.keys()) if (!knownOf.has(id)) count += 1;
  return count;
}

function keepBill(work: ChunkWork, made: MadeBill, before: KnownBill): void {
  const { unitTs, parts } = made;
  const isFreed = isHeldByNobody(made, before);
  const isTouched = isFreed || before.unit_ts !== String(unitTs);
  if (isTouched) work.touched.push({ billId: before.bill_id, unitTs, parts, isFreed });
}

function writeBill(work: ChunkWork, made: MadeBill, before: KnownBill | undefined): void {
  if (before === undefined) work.made += 1;
  else work.changed.push(before.bill_id);
  const billId = before?.bill_id ?? work.ids.next();
  const isHeld = before?.is_held ?? false;
  const byRule = made.holds.map((hold) => hold.reason).join('; ') || null;
  const bill = {
    billId,
    made,
    isHeld,
    posting: before?.posting ?? 0,
    holdReason: isHeld ? (before?.hold_reason ?? null) : byRule,
    created: before ? { at: before.created_at, by: before.created_by } : null,
  };
  work.rows.add(work.run, bill, work.stamp);
  for (const one of made.parts) work.parts.push({ billId, part: one });
}

/** An unchanged bill keeps its hold: it stays released if an operator released it. */
function isOnHold(made: MadeBill, before: KnownBill | undefined): boolean {
  if (before?.hash === made.hash) return before.status === 'Hold' && !isHeldByNobody(made, before);
  return made.status === 'Hold' || (before?.is_held ?? false);
}

/** Posting held the bill because its subscription had changed: now it can be posted. */
function isHeldByNobody(made: MadeBill, before: KnownBill): boolean {
  return before.status === 'Hold' && !before.is_held && made.holds.length === 0;
}

/** Ids of about as many billed units each; where ids were left out a slice has fewer. */
function slicesOf({ firstId, lastId }: Chunk, { part_size: size }: RunRow): UnitRange[] {
  const slices: UnitRange[] = [];
  const most = Math.ceil(size / sliceSize) * sparseSlices;
  const width = Math.max(sliceSize, Math.ceil((lastId - firstId + 1) / most));
  for (let first = firstId; first <= lastId; first += width) {
    slices.push({ firstId: first, lastId: Math.min(lastId, first + width - 1) });
  }
  return slices;
}

/** The next one is read while the one before it is worked on. */
async function inTurn<Item, Found>(
  items: readonly Item[],
  read: (item: Item) => Promise<Found>,
  use: (found: Found) => Promise<void>,
): Promise<void> {
  let next: Promise<Found> | undefined;
  try {
    for (const [index, item] of items.entries()) {
      const found = await (next ?? read(item));
      const following = items[index + 1];
      next = following === undefined ? undefined : read(following);
      // If the caller fails first, no code awaits this promise any more.
      next?.catch(() => {});
      await use(found);
    }
  } finally {
    await next?.catch(() => {});
  }
}

async function currentRun(tx: Tx, tenantId: number, term: Term, jobId: number): Promise<RunRow> {
  const key = { termId: term.term_id, runNumber: term.run_number };
  const run = await findRun(tx, tenantId, key);
  if (run?.job_id !== jobId) throw new Error(`job ${jobId} is not the one that makes the bills`);
  return run;
}

/** Whether a chunk of a first run is done for the second time: its first id is taken. */
async function wasWorked(
  tx: Tx,
  tenantId: number,
  { first_bill_id: first, part_size: size }: RunRow,
  chunk: Chunk,
): Promise<boolean> {
  if (first === null) return true;
  return (await findBillKey(tx, tenantId, first + (chunk.chunk - 1) * size)) !== undefined;
}

async function finish(tx: Tx, job: StepJob, worked: Worked): Promise<Finish> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const run = await currentRun(tx, tenantId, term, job.jobId);
  const outcomes = worked.outcomes as Outcome[];
  const sums = emptySums();
  for (const { totals } of outcomes) addTotals(sums, totals);
  const isWhole = run.bill_id === null;
  const key = { termId: term.term_id, runNumber: run.run_number };
  const totals = isWhole ? totalsText(sums) : await totalsWithOne(tx, tenantId, key, sums);
  await finishRun(tx, tenantId, key, { at: job.now, totals });
  const stamp = { at: job.now, by: job.requestedBy };
  if (isWhole) {
    const estimates = await unlockUnbilled(tx, tenantId, term);
    await rejectEstimates(tx, tenantId, term.term_id, estimates, stamp);
  }
  // A run of one bill does not complete a failed run of the whole term: others are still missing.
  const isMade = isWhole || (await findWholeRun(tx, tenantId, term.term_id))?.finished_at;
  const stage = isMade ? 'Generated' : 'Generating';
  await updateTermStage(tx, tenantId, term.term_id, { stage }, stamp);
  const events = isMade ? eventsOf('term.generated', 'termID', [term.term_id]) : [];
  await insertEvents(tx, tenantId, events, job.now);
  const count = (pick: 'made' | 'changed' | 'dropped') =>
    outcomes.reduce((sum, outcome) => sum + outcome[pick], 0);
  const drafts = { made: count('made'), changed: count('changed'), dropped: count('dropped') };
  const { bills, errors, holds } = totals;
  const names = await openBillsText(tx, tenantId, term.term_id, errors + holds);
  return {
    message: `${counted(bills, 'bill')} generated, ${errors} in error, ${holds} on hold${names}`,
    run: run.run_number,
    bills,
    errors,
    holds,
    ...drafts,
  };
}

/** The totals of all bills of the term, after one of them was generated again. */
async function totalsWithOne(
  tx: Tx,
  tenantId: number,
  key: { termId: number; runNumber: number },
  one: Sums,
): Promise<RunTotals> {
  const before = await findTotalsBefore(tx, tenantId, key);
  // Only the labels of components and inputs are used: bills may have been deleted since then.
  if (before) addTotals(one, before);
  return sumOfTerm(tx, tenantId, key.termId, one);
}
