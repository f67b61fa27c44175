// Step 4: the readings with which a term is billed are locked.

import { counted } from '../base/counted.ts';
import { dayOf } from '../base/days.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { bookOfRun } from '../domain/bills/run-prices.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { newestVersions } from '../domain/pricing/price-books.ts';
import { chainOn } from '../domain/rating/compile/price-book.ts';
import { usageItemsOf } from '../domain/rating/definitions/inheritance.ts';
import { insertReadings } from '../domain/readings/store.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { cutMetered } from '../domain/terms/eligible-store.ts';
import { estimateUnread } from '../domain/terms/estimate-unread.ts';
import { isLockedAsRead, lockReadings } from '../domain/terms/readings-store.ts';
import { getTerm, noteInputs, type Term } from '../domain/terms/store.ts';
import {
  insertEstimates,
  listUnread,
  lockPrevious,
  rejectEstimates,
  type UnreadRegister,
} from '../domain/terms/substitute-readings-store.ts';
import { assertTakesInputs } from '../domain/terms/term.ts';
import { type TermRules, termRules } from '../domain/terms/term-rules.ts';
import { chunkSizeFor } from '../jobs/chunks.ts';
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

const readingModes = ['current', 'estimated', 'previous'] as const;
export type ReadingMode = (typeof readingModes)[number];

/** Subscriptions in one chunk: its statements take some tenths of a second. */
const chunkSize = 2_000;

export const postMeterReadingsStep: Step = {
  operation: 'post-meter-readings',
  check,
  prepare,
  work,
  finish,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const term = await getTerm(tx, request.tenant.tenantId, request.termId ?? 0, { lock: 'update' });
  assertTakesInputs(term);
  modeOf(request);
}

function modeOf({ parameters }: StepRequest): ReadingMode {
  const mode = readingModes.find((one) => one === parameters.reading);
  if (mode) return mode;
  throw new AppError('INVALID_READING_MODE', {
    field: 'data.reading',
    allowed: readingModes,
    message: `reading must be one of ${readingModes.join(', ')}`,
  });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  return cutMetered(tx, tenantId, term, chunkSizeFor(job, chunkSize));
}

/** Locks the present readings of a term of few subscriptions in the caller's transaction. */
export async function lockAllReadings(tx: Tx, caller: StepJob): Promise<void> {
  const job = { ...caller, parameters: { reading: 'current' satisfies ReadingMode } };
  const { chunks, total } = await prepare(tx, job);
  const outcomes: object[] = [];
  for (const [chunk, range] of chunks.entries()) {
    const { outcome } = await work(tx, job, { ...range, chunk });
    outcomes.push(outcome);
  }
  await finish(tx, job, { done: total, total, outcomes, setAside: [] });
}

type Outcome = {
  locked: number;
  estimated: number;
  repeated: number;
  missing: number;
  underReview: number;
};

async function work(tx: Tx, job: StepJob, chunk: Chunk): Promise<Required<ChunkResult>> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  const rules = await termRules(tx, tenantId, term);
  const stamp = { at: job.now, by: job.requestedBy };
  const mode = modeOf(job);
  const { lastReadingDate } = rules;
  const options = { range: chunk, lastReadingDate, isEstimated: mode === 'estimated' };
  const { replaced, subscriptions, ...counts } = await lockReadings(
    tx,
    tenantId,
    term,
    options,
    stamp,
  );
  await rejectEstimates(tx, tenantId, term.term_id, replaced ?? [], stamp);
  const estimated =
    mode === 'estimated' && counts.missing > 0 ? await estimate(tx, job, term, rules, chunk) : 0;
  const unread =
    mode === 'previous' && counts.missing > 0
      ? await lockPrevious(tx, tenantId, term, options, stamp)
      : 0;
  const isAsRead = await isLockedAsRead(tx, tenantId, term.term_id, chunk);
  if (!isAsRead) throw new Error('a reading was corrected while it was locked');
  const missing = counts.missing - estimated - unread;
  const repeated = counts.repeated + unread;
  const outcome: Outcome = { ...counts, estimated, repeated, missing };
  return { done: subscriptions, outcome };
}

async function estimate(
  tx: Tx,
  job: StepJob,
  term: Term,
  rules: TermRules,
  chunk: Chunk,
): Promise<number> {
  const { tenantId } = job.tenant;
  const { lastReadingDate } = rules;
  const options = { range: chunk, lastReadingDate, isEstimated: true };
  const unread = await listUnread(tx, tenantId, term, options);
  const mayEstimate = await estimable(tx, job, term);
  const made = unread.flatMap((register) => {
    if (!mayEstimate(register)) return [];
    return estimateUnread(register, term, rules.estimations.get(register.input)) ?? [];
  });
  if (made.length === 0) return 0;
  const stamp = { at: job.now, by: job.requestedBy };
  const firstId = await takeNumbers(tx, tenantId, 'reading', made.length);
  const readings = made.map(({ reading }) => reading);
  const standIns = made.map(({ standIn }, index) => ({ ...standIn, readingId: firstId + index }));
  await insertReadings(tx, tenantId, readings, firstId, stamp);
  await insertEstimates(tx, tenantId, term.term_id, standIns, stamp);
  return made.length;
}

/** Whether the plan in force on the last day of the term allows estimates of an input. */
async function estimable(
  tx: Tx,
  { tenant }: StepJob,
  term: Term,
): Promise<(register: UnreadRegister) => boolean> {
  const versions = await newestVersions(tx, tenant.tenantId, term.context_id);
  const prices = { book_version: term.book_version, versions };
  const { book, planCodes } = await bookOfRun(tx, tenant, term, prices);
  const day = dayOf(Temporal.PlainDate.from(term.end_date));
  return ({ plan_id, input }) => {
    const { chain } = chainOn(book, planCodes.get(plan_id) ?? '', day);
    const item = usageItemsOf(chain).find((one) => one.input === input);
    return item?.estimate !== 'NotAllowed';
  };
}

async function finish(tx: Tx, job: StepJob, worked: Worked): Promise<Finish> {
  const { tenantId } = job.tenant;
  const sum = (pick: keyof Outcome) =>
    (worked.outcomes as Outcome[]).reduce((total, outcome) => total + outcome[pick], 0);
  const [locked, estimated, repeated] = [sum('locked'), sum('estimated'), sum('repeated')];
  const [missing, underReview] = [sum('missing'), sum('underReview')];
  if (worked.total === 0) {
    return { message: 'No subscription of the term is metered' };
  }
  const stamp = { at: job.now, by: job.requestedBy };
  const hasChanged = locked + estimated + repeated > 0;
  const readings = { postedAt: job.now, isEstimated: modeOf(job) === 'estimated' };
  await noteInputs(
    tx,
    tenantId,
    job.termId ?? 0,
    { stage: 'ReadingsPosted', readings, hasChanged },
    stamp,
  );
  const events = eventsOf('term.readings_posted', 'termID', [job.termId ?? 0]);
  await insertEvents(tx, tenantId, events, job.now);
  const parts = [
    `${counted(locked, 'reading')} locked`,
    ...(estimated > 0 ? [`${estimated} estimated`] : []),
    ...(repeated > 0 ? [`${repeated} taken again`] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
    ...(underReview > 0 ? [`${underReview} under review`] : []),
  ];
  const advice =
    missing + underReview === 0
      ? ''
      : '. Bills that need these readings will be in Error: enter or review them, and post again';
  return {
    message: `${parts.join(', ')}${advice}`,
    locked,
    estimated,
    repeated,
    missing,
    underReview,
  };
}
