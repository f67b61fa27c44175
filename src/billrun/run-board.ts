// The run board: every open term, how far it is, and what is left to do.

import type { Tx } from '../base/db/pool.ts';
import { type BoardBillsRow, findBoardBills } from '../domain/bills/review/board-store.ts';
import { countUndelivered } from '../domain/delivery/list-store.ts';
import {
  type BoardTermRow,
  countLocked,
  countReadings,
  countReviews,
  findMeteredContexts,
  findMeteredRange,
  lookedUpMax,
  type ReadingProgress,
} from '../domain/terms/board-store.ts';
import { countEligible } from '../domain/terms/population-store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import {
  type JobRow,
  listRunningJobs,
  listStepJobs,
  type StepJobsRow,
} from '../jobs/jobs-store.ts';
import { type BoardStep, stepsOf } from './board-steps.ts';

export type BoardEntry = {
  term: BoardTermRow;
  steps: BoardStep[];
  subscriptions: { count: number; isExact: boolean };
  readings: ReadingProgress | null;
  toReview: number;
  bills: BoardBillsRow | undefined;
  undelivered: number;
  job: JobRow | undefined;
};

export async function boardOf(
  tx: Tx,
  tenantId: number,
  terms: readonly BoardTermRow[],
): Promise<BoardEntry[]> {
  const ids = terms.map((term) => term.term_id);
  const [bills, undelivered, stepJobs, running, metered, reviews, locked] = await Promise.all([
    findBoardBills(tx, tenantId, ids),
    countUndelivered(tx, tenantId, ids),
    listStepJobs(tx, tenantId, ids),
    listRunningJobs(tx, tenantId, ids),
    findMeteredContexts(tx, tenantId, [...new Set(terms.map((term) => term.context_id))]),
    countReviews(tx, tenantId),
    countLocked(
      tx,
      tenantId,
      terms.filter(isReading).map((term) => term.term_id),
    ),
  ]);
  const jobsOf = Map.groupBy(stepJobs, (row) => row.term_id);
  const lookUp = readingCounter(tx, tenantId);
  const entries: BoardEntry[] = [];
  for (const term of terms) {
    const jobs = jobsOf.get(term.term_id) ?? [];
    const isMetered = metered.has(term.context_id);
    const kept = bills.get(term.term_id);
    const isOpen = term.status === 'Open';
    const subscriptions = await subscriptionsOf(tx, tenantId, term, kept);
    const readings = isReading(term)
      ? readingsPosted(jobs, locked.get(term.term_id) ?? 0)
      : isMetered && isOpen
        ? await lookUp(term)
        : null;
    const counted = {
      subscriptions,
      readings,
      toReview: isOpen ? (reviews.get(term.batch_id) ?? 0) : 0,
      bills: kept,
      undelivered: undelivered.get(term.term_id) ?? 0,
      job: running.find((row) => row.term_id === term.term_id),
    };
    entries.push({ term, steps: boardStepsOf(term, counted, { isMetered, jobs }), ...counted });
  }
  return entries;
}

function boardStepsOf(
  term: BoardTermRow,
  counted: Omit<BoardEntry, 'term' | 'steps'>,
  { isMetered, jobs }: { isMetered: boolean; jobs: readonly StepJobsRow[] },
): BoardStep[] {
  return stepsOf({
    status: term.status,
    stage: term.stage,
    isStale: term.is_stale,
    createdAt: term.created_at,
    createdBy: term.created_by,
    hasPostedReadings: term.readings_posted_at !== null,
    isMetered,
    subscriptions: counted.subscriptions.count,
    readings: counted.readings,
    toReview: counted.toReview,
    bills: counted.bills ?? { ready: 0, errors: 0, held: 0 },
    undelivered: counted.undelivered,
    running: counted.job?.operation ?? null,
    jobs,
  });
}

/** Readings of an Open term were posted, so that what it locked is counted. */
function isReading(term: BoardTermRow): boolean {
  return term.status === 'Open' && term.readings_posted_at !== null;
}

/** Generating keeps the number of subscriptions; before that they are counted up to a limit. */
async function subscriptionsOf(
  tx: Tx,
  tenantId: number,
  term: BoardTermRow,
  kept: BoardBillsRow | undefined,
): Promise<{ count: number; isExact: boolean }> {
  if (kept?.run_at) return { count: kept.subscriptions, isExact: true };
  return countEligible(tx, tenantId, term);
}

function readingsPosted(jobs: readonly StepJobsRow[], locked: number): ReadingProgress {
  const outcome = jobs.find(({ operation }) => operation === 'post-meter-readings')?.outcome;
  const left = Number(outcome?.missing ?? 0) + Number(outcome?.underReview ?? 0);
  return { expected: locked + left, read: locked };
}

/** Looks up the readings of small terms, until their subscriptions are too many in all. */
function readingCounter(tx: Tx, tenantId: number) {
  let left = lookedUpMax;
  return async (term: BoardTermRow): Promise<ReadingProgress | null> => {
    const range = await findMeteredRange(tx, tenantId, term, left);
    if (!range) return null;
    left -= range.count;
    const { lastReadingDate } = await termRules(tx, tenantId, term);
    return countReadings(tx, tenantId, term, { range, lastReadingDate });
  };
}
