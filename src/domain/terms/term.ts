// A term: the days for which a batch is billed, and how far its bill run has come.
import { formatDate } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';

export const termTypes = ['Regular', 'OffCycle', 'Final'] as const;
export type TermType = (typeof termTypes)[number];

export const termStatuses = ['Open', 'Posted', 'Published', 'Cancelled'] as const;
export type TermStatus = (typeof termStatuses)[number];

/** In the order in which a bill run goes through them. */
export const termStages = [
  'Created',
  'ReadingsUploaded',
  'ReadingsPosted',
  'ComponentsPosted',
  'Generating',
  'Generated',
  'Posting',
  'Posted',
  'Publishing',
  'Published',
  'Distributing',
  'Distributed',
  'Cancelled',
] as const;
export type TermStage = (typeof termStages)[number];

export type PostType = 'Post Subscription' | 'Post Account' | 'Post Party';

/** Days of a term at most. */
export const termDaysMax = 366;
/** Readings and payments come after a term, and no date is later than 9999. */
const termYearMax = 9998;

export type TermDates = {
  startDate: Temporal.PlainDate;
  endDate: Temporal.PlainDate;
  dueDate: Temporal.PlainDate;
};

export function assertTermDates({ startDate, endDate, dueDate }: TermDates): void {
  const refuse = (field: string, message: string) =>
    new AppError('TERM_DATES_INVALID', { message, field: `data.${field}` });
  if (Temporal.PlainDate.compare(startDate, endDate) > 0) {
    throw refuse('endDate', `A term that begins on ${formatDate(startDate)} cannot end before it`);
  }
  if (startDate.until(endDate).days + 1 > termDaysMax) {
    throw refuse('endDate', `A term has at most ${termDaysMax} days`);
  }
  if (endDate.year > termYearMax) {
    throw refuse('endDate', `A term ends in the year ${termYearMax} at the latest`);
  }
  if (Temporal.PlainDate.compare(dueDate, startDate) < 0) {
    throw refuse('dueDate', 'Bills of a term are not due before it begins');
  }
}

/** The due date of a term that the server makes for single customers. */
export function dueDateFrom(
  today: Temporal.PlainDate,
  context: { due_date_offset: number; minimum_days_to_pay: number },
): Temporal.PlainDate {
  return today.add({ days: Math.max(context.due_date_offset, context.minimum_days_to_pay) });
}

/** The state of a term. */
export type TermState = { label: string; status: TermStatus; stage: TermStage };

/**
 * Readings, manual values and usage are taken while a term is Open. Once the first bill of it has
 * its number, nothing of it changes any more, even where posting was interrupted.
 */
export function assertTakesInputs(term: TermState): void {
  if (term.status === 'Open' && term.stage !== 'Posting') return;
  throw invalidState(term, ['Open']);
}

export function invalidState(term: TermState, allowed: readonly TermStatus[]): AppError {
  const current = term.status === 'Open' ? term.stage : term.status;
  return new AppError('INVALID_STATE', { message: closedText(term), current, allowed });
}

/** Why a term no longer takes changes, and what can be done instead. */
export function closedText(term: TermState): string {
  const { label } = term;
  switch (term.status) {
    case 'Cancelled':
      return cancelledText(term);
    case 'Published':
      return `Term ${label} is published and takes no changes. Correct bills with cancel-bill.`;
    case 'Posted':
      return `Term ${label} is posted and takes no changes. Take it back with unpost-bills first.`;
    case 'Open':
      return `The posting of term ${label} has begun. Finish it with post-bills (step 7).`;
  }
}

export function cancelledText({ label }: TermState): string {
  return `Term ${label} is cancelled. Open a new one with make-term (step 1).`;
}

/** The step that a term waits for, with its operation. */
export function nextStep({ stage }: Pick<TermState, 'stage'>): string {
  switch (stage) {
    case 'Generating':
      return 'Its bills are not all generated. Generate them again with generate-bills (step 6).';
    case 'Generated':
      return 'Its bills are not posted. Post them with post-bills (step 7).';
    case 'Posting':
      return 'Its posting is not finished. Go on with post-bills (step 7).';
    case 'Posted':
      return 'Its bills are not published. Publish them with publish-bills (step 8).';
    case 'Publishing':
      return 'Its publication is not finished. Go on with publish-bills (step 8).';
    default:
      return 'Its bills are not generated. Generate them with generate-bills (step 6).';
  }
}
