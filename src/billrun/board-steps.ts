// The nine steps of a term as the run board shows them: what is done, what is next, and what is
// left to do. Pure: it is given what was counted.

import { type TermStage, type TermStatus, termStages } from '../domain/terms/term.ts';
import type { JobError } from '../jobs/job.ts';
import type { StepJobsRow } from '../jobs/jobs-store.ts';

export const stepStates = ['Done', 'Running', 'Blocked', 'Next', 'Waiting'] as const;
export type StepState = (typeof stepStates)[number];

/** The operations of each step; the first one names it. */
const boardSteps = [
  { step: 1, name: 'Open the term', operations: ['make-term'] },
  { step: 2, name: 'Check the term', operations: ['get-terms'] },
  { step: 3, name: 'Upload readings', operations: ['upload-meter-readings'] },
  { step: 4, name: 'Post readings', operations: ['post-meter-readings'] },
  {
    step: 5,
    name: 'Manual values and usage',
    operations: ['post-manual-component-values', 'upload-usage'],
  },
  { step: 6, name: 'Generate bills', operations: ['generate-bills'] },
  { step: 7, name: 'Post bills', operations: ['post-bills'] },
  { step: 8, name: 'Publish bills', operations: ['publish-bills'] },
  { step: 9, name: 'Distribute bills', operations: ['distribute-bills'] },
] as const;

export type BoardTerm = {
  status: TermStatus;
  stage: TermStage;
  isStale: boolean;
  createdAt: Temporal.Instant;
  createdBy: string;
  hasPostedReadings: boolean;
  /** False where no subscription of the context has a meter. */
  isMetered: boolean;
  subscriptions: number;
  /** Null where they are too many to be counted at once. */
  readings: { expected: number; read: number } | null;
  toReview: number;
  bills: { ready: number; errors: number; held: number };
  undelivered: number;
  /** The last part of the path of the operation that runs. */
  running: string | null;
  jobs: readonly StepJobsRow[];
};

export type BoardStep = {
  step: number;
  name: string;
  operation: string;
  state: StepState;
  isOptional: boolean;
  count: number;
  left: number;
  at: Temporal.Instant | null;
  by: string | null;
  error: Pick<JobError, 'code' | 'message'> | null;
};

type Kept = Omit<BoardStep, 'state' | 'name' | 'operation' | 'step'> & {
  isDone: boolean;
  isBlocked: boolean;
};

export function stepsOf(term: BoardTerm): BoardStep[] {
  const kept = boardSteps.map(({ step, operations }) => keptOf(term, step, operations));
  const next = kept.findIndex(({ isDone, isOptional }) => !isDone && !isOptional);
  return boardSteps.map(({ step, name, operations }, place) => {
    const { isDone, isBlocked, ...shown } = kept[place] as Kept;
    const isRunning = operations.some((operation) => operation === term.running);
    const state = stateOf({ isRunning, isDone, isNext: place === next, isBlocked, term });
    return { step, name, operation: operations[0], state, ...shown };
  });
}

function stateOf(of: {
  isRunning: boolean;
  isDone: boolean;
  isNext: boolean;
  isBlocked: boolean;
  term: BoardTerm;
}): StepState {
  if (of.isRunning) return 'Running';
  if (of.isDone) return 'Done';
  if (!of.isNext || of.term.running !== null) return 'Waiting';
  return of.isBlocked ? 'Blocked' : 'Next';
}

function keptOf(term: BoardTerm, step: number, operations: readonly string[]): Kept {
  const jobs = term.jobs.filter(({ operation }) => operations.includes(operation));
  const done = jobs.reduce((sum, job) => sum + job.done, 0);
  const last = jobs.reduce<StepJobsRow | undefined>(later, undefined);
  const isDone = isStepDone(term, step, done > 0);
  const failed = isDone ? undefined : jobs.find(({ error }) => error !== null)?.error;
  return {
    isDone,
    isBlocked: failed !== undefined || isHeldUp(term, step),
    isOptional: step === 5 || ((step === 3 || step === 4) && !term.isMetered),
    count: countOf(term, step, done),
    left: leftOf(term, step),
    at: step === 1 ? term.createdAt : (last?.finished_at ?? null),
    by: step === 1 ? term.createdBy : (last?.requested_by ?? null),
    error: failed ? { code: failed.code, message: failed.message } : null,
  };
}

function later(one: StepJobsRow | undefined, other: StepJobsRow): StepJobsRow {
  if (!one?.finished_at) return other;
  if (!other.finished_at) return one;
  return Temporal.Instant.compare(one.finished_at, other.finished_at) < 0 ? other : one;
}

function isStepDone(term: BoardTerm, step: number, hasJob: boolean): boolean {
  const isPast = (stage: TermStage) => termStages.indexOf(term.stage) >= termStages.indexOf(stage);
  switch (step) {
    case 1:
      return true;
    case 2:
      return term.subscriptions > 0 || isPast('Generated');
    case 3:
      return isPast('ReadingsUploaded') || (term.readings?.read ?? 0) > 0;
    case 4:
      return term.hasPostedReadings || isPast('Generated');
    case 5:
      return hasJob || isPast('Generated');
    case 6:
      return isPast('Generated') && !(term.status === 'Open' && term.isStale);
    case 7:
      return term.status === 'Posted' || term.status === 'Published';
    case 8:
      return term.status === 'Published';
    default:
      return term.stage === 'Distributed';
  }
}

/** True if the step would be refused as the term is now. */
function isHeldUp(term: BoardTerm, step: number): boolean {
  if (step === 2) return term.subscriptions === 0;
  const { ready, errors, held } = term.bills;
  return step === 7 && (errors + held > 0 || ready === 0);
}

function countOf(term: BoardTerm, step: number, done: number): number {
  const { ready, errors, held } = term.bills;
  if (step <= 2) return term.subscriptions;
  if (step === 6) return ready + errors + held;
  if (step === 7) return term.status === 'Open' ? 0 : ready;
  if (step === 8) return term.status === 'Published' ? ready : 0;
  return done;
}

/** The work that is left before the step is done, or before the next one can be done well. */
function leftOf(term: BoardTerm, step: number): number {
  const { ready, errors, held } = term.bills;
  const isOpen = term.status === 'Open';
  const unread = term.readings ? term.readings.expected - term.readings.read : 0;
  switch (step) {
    case 3:
      return isOpen && !term.hasPostedReadings ? Math.max(0, unread) : 0;
    case 4:
      if (!isOpen) return 0;
      return term.hasPostedReadings ? Math.max(term.toReview, unread) : term.toReview;
    case 6:
      return isOpen ? errors + held : 0;
    case 7:
      return isOpen ? ready : errors + held;
    case 8:
      return term.status === 'Posted' ? ready : 0;
    case 9:
      return term.undelivered;
    default:
      return 0;
  }
}
