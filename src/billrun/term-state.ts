// Why a term is not at the stage that a step needs: the step was done before, or another one is
// missing, which is named with its operation.

import { formatTimestamp } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { Term } from '../domain/terms/store.ts';
import { cancelledText, nextStep, type TermState } from '../domain/terms/term.ts';
import { findLastDone } from '../jobs/jobs-store.ts';
import type { StepRequest } from '../jobs/step.ts';

export type Refused = {
  operation: string;
  /** Such as `posted`. */
  done: string;
  /** What can be done once it is. */
  next: string;
  allowed: readonly string[];
};

export async function wrongState(
  tx: Tx,
  request: StepRequest,
  term: Term,
  refused: Refused,
): Promise<AppError> {
  return new AppError('INVALID_STATE', {
    message:
      term.status === 'Open' ? missingText(term) : await doneText(tx, request, term, refused),
    current: { status: term.status, stage: term.stage },
    allowed: refused.allowed,
  });
}

async function doneText(
  tx: Tx,
  { tenant }: StepRequest,
  term: Term,
  { operation, done, next }: Refused,
): Promise<string> {
  if (term.status === 'Cancelled') return cancelledText(term);
  const last = await findLastDone(tx, tenant.tenantId, { termId: term.term_id, operation });
  const when = last
    ? `on ${formatTimestamp(last.finished_at, tenant.timezone)} by ${last.requested_by}`
    : 'before';
  return `Term ${term.label} was ${done} ${when}. ${next}`;
}

/** Names the step that a term waits for. */
export function missingText(term: TermState): string {
  if (term.status === 'Cancelled') return cancelledText(term);
  return `Term ${term.label} is ${term.stage}. ${nextStep(term)}`;
}
