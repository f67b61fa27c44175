// Step 6: drafts of all bills of a term, or of one. Every generation is a run of its own with a
// number; a bill that comes out as it was stays as it is.
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import {
  type BilledTerm,
  getBilledTerm,
  updateTermStage,
} from '../domain/bills/billed-terms-store.ts';
import { bookOfRun } from '../domain/bills/book-of-run.ts';
import { collect } from '../domain/bills/collect.ts';
import {
  insertBills,
  type KnownBill,
  listKnownBills,
  type NewBill,
  refreshBills,
  supersedeBills,
} from '../domain/bills/drafts-store.ts';
import type { MadeBill } from '../domain/bills/made-bill.ts';
import { makeBill } from '../domain/bills/make-bill.ts';
import { addBill, addTotals, emptySums, totalsText } from '../domain/bills/run-totals.ts';
import {
  findRun,
  finishRun,
  insertRun,
  type RunRow,
  type RunTotals,
} from '../domain/bills/runs-store.ts';
import { findBillKey } from '../domain/bills/store.ts';
import { hasMetered, listSubjectRanges } from '../domain/bills/subjects-store.ts';
import { sumOfTerm } from '../domain/bills/summary-store.ts';
import { newestVersions } from '../domain/pricing/price-books.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import type {
  Chunk,
  ChunkResult,
  Finish,
  Plan,
  Step,
  StepJob,
  StepRequest,
  Worked,
} from './step.ts';

/** Large enough that a statement's own cost does not count, small enough to be done in a moment. */
const partSize = 1_000;

type Outcome = { totals: RunTotals; made: number; changed: number; dropped: number };

export const generateBillsStep: Step = {
  operation: 'generate-bills',
  check,
  prepare,
  work,
  finish,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getBilledTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  // Once the first bill of a term has its number, none is made anew.
  if (term.status !== 'Open' || term.stage === 'Posting') throw notOpen(term);
  if (request.billId !== null) await subjectOf(tx, tenantId, term, request.billId);
  if (!term.is_read && (await hasMetered(tx, tenantId, term))) {
    throw new AppError('READINGS_NOT_POSTED', {
      message: `Term ${term.label} bills by meter: post its meter readings first`,
    });
  }
}

function notOpen(term: BilledTerm): AppError {
  return new AppError('INVALID_STATE', {
    message: `Term ${term.label} is ${term.status} and ${term.stage}`,
    current: { status: term.status, stage: term.stage },
    allowed: ['Open'],
  });
}

async function subjectOf(
  tx: Tx,
  tenantId: number,
  term: BilledTerm,
  billId: number,
): Promise<number> {
  const bill = await findBillKey(tx, tenantId, billId);
  if (!bill) throw new AppError('BILL_NOT_FOUND', { message: `No bill has the id ${billId}` });
  if (bill.term_id === term.term_id) return bill.subject_id;
  throw new AppError('BILL_NOT_IN_TERM', {
    message: `Bill ${billId} is not of term ${term.label}`,
    field: 'billId',
  });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenant, billId, jobId, now } = job;
  const { tenantId } = tenant;
  const term = await getBilledTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const subjectId = billId === null ? null : await subjectOf(tx, tenantId, term, billId);
  const { ranges, total, isNew } = await listSubjectRanges(tx, tenantId, term, {
    size: partSize,
    subjectId,
  });
  const runNumber = term.run_number + 1;
  const stamp = { at: now, by: job.requestedBy };
  // Set aside here and not taken by each part: whoever takes a number holds up all who want one.
  const ids = ranges.length * partSize;
  const firstBillId = isNew ? await takeNumbers(tx, tenantId, 'bill', ids) : null;
  const run = {
    run_number: runNumber,
    job_id: jobId,
    bill_id: billId,
    book_version: term.book_version,
    versions: await newestVersions(tx, tenantId, term.context_id),
    first_bill_id: firstBillId,
    part_size: partSize,
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

async function work(tx: Tx, job: StepJob, chunk: Chunk): Promise<ChunkResult> {
  const { tenant } = job;
  const { tenantId } = tenant;
  const term = await getBilledTerm(tx, tenantId, job.termId ?? 0);
  const run = await currentRun(tx, tenantId, term, job.jobId);
  const pinned = await bookOfRun(tx, tenant, term, run);
  const { scope, subjects, entryId } = await collect(tx, tenant, term, pinned, chunk);
  const known = await listKnownBills(tx, tenantId, term.term_id, chunk);
  const knownOf = new Map(known.map((bill) => [bill.subject_id, bill]));
  const sums = emptySums();
  const fresh: Fresh[] = [];
  const touched: { billId: number; subjectTs: bigint }[] = [];
  for (const [subjectId, inputs] of subjects) {
    const made = makeBill(scope, inputs);
    if (made === undefined) continue;
    const before = knownOf.get(subjectId);
    knownOf.delete(subjectId);
    addBill(sums, made, before?.is_held ?? false);
    if (before?.hash === made.hash) {
      const isTouched = before.subject_ts !== String(made.subjectTs);
      if (isTouched) touched.push({ billId: before.bill_id, subjectTs: made.subjectTs });
    } else fresh.push({ made, before });
  }
  // Whoever had a bill and is not billed any more.
  const dropped = [...knownOf.values()].map((bill) => bill.bill_id);
  const changed = fresh.flatMap(({ before }) => before?.bill_id ?? []);
  await supersedeBills(tx, tenantId, run.run_number, [...changed, ...dropped]);
  await refreshBills(tx, tenantId, touched);
  const stamp = { at: job.now, by: job.requestedBy };
  const bills = withIds(fresh, await newIds(tx, tenantId, run, chunk, fresh), entryId);
  await insertBills(tx, tenantId, { term, number: run.run_number }, bills, stamp);
  const outcome: Outcome = {
    totals: totalsText(sums),
    made: fresh.length - changed.length,
    changed: changed.length,
    dropped: dropped.length,
  };
  return { done: subjects.size + dropped.length, outcome };
}

/** A bill to be written, and the one in its place. */
type Fresh = { made: MadeBill; before: KnownBill | undefined };

async function currentRun(
  tx: Tx,
  tenantId: number,
  term: BilledTerm,
  jobId: number,
): Promise<RunRow> {
  const key = { termId: term.term_id, runNumber: term.run_number };
  const run = await findRun(tx, tenantId, key);
  if (run?.job_id !== jobId) throw new Error(`job ${jobId} is not the one that makes the bills`);
  return run;
}

/** From the piece set aside for the part; subjects that came since take theirs one by one. */
async function newIds(
  tx: Tx,
  tenantId: number,
  run: RunRow,
  chunk: Chunk,
  fresh: readonly Fresh[],
): Promise<number[]> {
  const wanted = fresh.filter(({ before }) => before === undefined).length;
  const { first_bill_id: first, part_size: size } = run;
  const isWithin = first !== null && wanted <= size;
  if (wanted === 0) return [];
  const start = isWithin
    ? first + (chunk.chunk - 1) * size
    : await takeNumbers(tx, tenantId, 'bill', wanted);
  return Array.from({ length: wanted }, (_, index) => start + index);
}

function withIds(fresh: readonly Fresh[], ids: readonly number[], entryId: number): NewBill[] {
  let next = 0;
  return fresh.map(({ made, before }) => {
    const isHeld = before?.is_held ?? false;
    const byRule = made.holds.map((hold) => hold.reason).join('; ') || null;
    return {
      billId: before?.bill_id ?? (ids[next++] as number),
      made,
      entryId,
      isHeld,
      posting: before?.posting ?? 0,
      holdReason: isHeld ? (before?.hold_reason ?? null) : byRule,
      created: before ? { at: before.created_at, by: before.created_by } : null,
    };
  });
}

async function finish(tx: Tx, job: StepJob, worked: Worked): Promise<Finish> {
  const { tenant, now } = job;
  const { tenantId } = tenant;
  const term = await getBilledTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const run = await currentRun(tx, tenantId, term, job.jobId);
  const outcomes = worked.outcomes as Outcome[];
  const sums = emptySums();
  for (const { totals } of outcomes) addTotals(sums, totals);
  const isWhole = run.bill_id === null;
  const totals = isWhole ? totalsText(sums) : await sumOfTerm(tx, tenantId, term.term_id);
  const key = { termId: term.term_id, runNumber: run.run_number };
  await finishRun(tx, tenantId, key, { at: now, totals });
  const stamp = { at: now, by: job.requestedBy };
  await updateTermStage(tx, tenantId, term.term_id, { stage: 'Generated' }, stamp);
  const count = (pick: 'made' | 'changed' | 'dropped') =>
    outcomes.reduce((sum, outcome) => sum + outcome[pick], 0);
  const { bills, errors, holds } = totals;
  return {
    message: `${bills} bills generated, ${errors} in error, ${holds} on hold`,
    run: run.run_number,
    bills,
    errors,
    holds,
    made: count('made'),
    changed: count('changed'),
    dropped: count('dropped'),
  };
}
