import * as Type from 'typebox';
import { formatDate, parseDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import { gapsBeside } from '../../domain/terms/create.ts';
import {
  getTerm,
  hasBills,
  moveDueDateOfBills,
  type TermRow,
  updateTerm,
} from '../../domain/terms/store.ts';
import { hasEstimates } from '../../domain/terms/substitute-readings-store.ts';
import { findLastLocked } from '../../domain/terms/taken-readings-store.ts';
import { assertTermDates, invalidState } from '../../domain/terms/term.ts';
import { termRules } from '../../domain/terms/term-rules.ts';
import { alreadyRunning, hasRunningJob } from '../../jobs/jobs-store.ts';
import { date, empty, filledText, id, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { scheduleOperation } from '../scheduling.ts';
import { withGaps } from './term-fields.ts';

export const updateTermOperation = operation({
  path: '/billing/terms/update-term',
  method: 'Update',
  action: 'Update Bill Term',
  access: { permission: 'terms:write' },
  summary: 'Changes label, end and due date of an Open term, or the due date of a Posted one.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({
      termID: id,
      label: Type.Optional(filledText({ max: 120 })),
      endDate: Type.Optional(date),
      dueDate: Type.Optional(date),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    'INVALID_OPERATION',
    'TERM_NOT_FOUND',
    'STALE_OBJECT',
    'INVALID_STATE',
    'JOB_ALREADY_RUNNING',
    'TERM_DATES_INVALID',
    'TERM_OVERLAP',
    'READING_LOCKED',
    'DUPLICATE',
  ],
  example: { data: { termID: 1, dueDate: '20/08/2025' } },
  async handle(call, { data }) {
    const { tx, tenant, now, principal } = call;
    const { tenantId } = tenant;
    const term = await getTerm(tx, tenantId, data.termID, { lock: 'update' });
    assertNotStale(data.ts, term, { what: `Term ${term.label}`, field: 'data.ts' });
    const after = {
      label: data.label?.trim() ?? term.label,
      endDate: dateOf(data.endDate, term.end_date),
      dueDate: dateOf(data.dueDate, term.due_date),
    };
    const changed = changesOf(term, after);
    if (changed.length === 0) return { message: 'Nothing to change', data: {} };
    assertMayChange(term, changed);
    if (await hasRunningJob(tx, tenantId, term.term_id)) throw alreadyRunning(term.term_id);
    assertTermDates({ ...after, startDate: Temporal.PlainDate.from(term.start_date) });
    if (changed.includes('endDate')) await assertReadingsFit(tx, tenantId, term, after.endDate);
    // Drafts carry the dates of their term.
    const isOutdated = term.run_number > 0 && term.status === 'Open';
    const isStale = term.is_stale || (isOutdated && changed.some((name) => name !== 'label'));
    const stamp = { at: now, by: principal.name };
    await updateTerm(tx, tenantId, { ...term, ...after, isStale }, stamp);
    if (term.status === 'Posted') {
      // A term whose publication was begun and not ended has bills that customers have seen.
      if (await hasBills(tx, tenantId, term.term_id, 'Published')) {
        throw invalidState(term, ['Open', 'Posted']);
      }
      await moveDueDateOfBills(tx, tenantId, term.term_id, after.dueDate, stamp);
    }
    call.audit({
      subject: 'term',
      subjectId: term.term_id,
      before: shown(beforeOf(term)),
      after: shown(after),
    });
    const gaps = changed.includes('endDate') ? await gapsAfter(tx, tenantId, term, after) : [];
    const again = isStale ? '. Generate its bills again with generate-bills (step 6)' : '';
    return { message: withGaps(`Term ${after.label} changed${again}`, gaps), data: {} };
  },
});

type Changeable = { label: string; endDate: Temporal.PlainDate; dueDate: Temporal.PlainDate };

function beforeOf(term: TermRow): Changeable {
  return {
    label: term.label,
    endDate: Temporal.PlainDate.from(term.end_date),
    dueDate: Temporal.PlainDate.from(term.due_date),
  };
}

function shown({ label, endDate, dueDate }: Changeable) {
  return { label, endDate: formatDate(endDate), dueDate: formatDate(dueDate) };
}

function dateOf(sent: string | undefined, stored: string): Temporal.PlainDate {
  return (sent && parseDate(sent)) || Temporal.PlainDate.from(stored);
}

function changesOf(term: TermRow, after: Changeable): (keyof Changeable)[] {
  const before = beforeOf(term);
  return (['label', 'endDate', 'dueDate'] as const).filter(
    (name) => String(before[name]) !== String(after[name]),
  );
}

function gapsAfter(
  tx: Tx,
  tenantId: number,
  term: TermRow,
  { endDate }: Changeable,
): Promise<string[]> {
  return gapsBeside(tx, tenantId, {
    contextId: term.context_id,
    batchId: term.batch_id,
    billingPeriodId: term.billing_period_id,
    type: term.term_type,
    startDate: Temporal.PlainDate.from(term.start_date),
    endDate,
  });
}

/**
 * Readings of later days would be billed on the fewer days that are left, and what was estimated up
 * to the old end on other days than it was estimated for.
 */
async function assertReadingsFit(
  tx: Tx,
  tenantId: number,
  term: TermRow,
  endDate: Temporal.PlainDate,
): Promise<void> {
  const last = await findLastLocked(tx, tenantId, term.term_id);
  if (last === null) return;
  if (await hasEstimates(tx, tenantId, term.term_id)) {
    const day = formatDate(Temporal.PlainDate.from(term.end_date));
    throw new AppError('READING_LOCKED', {
      message: `Readings are estimated for the term up to ${day}: unpost them first`,
      field: 'data.endDate',
    });
  }
  const { lastReadingDate } = await termRules(tx, tenantId, { ...term, end_date: `${endDate}` });
  const date = Temporal.PlainDate.from(last);
  if (Temporal.PlainDate.compare(date, lastReadingDate) <= 0) return;
  throw new AppError('READING_LOCKED', {
    message: `Readings of up to ${formatDate(date)} are posted for the term: unpost them first`,
    field: 'data.endDate',
  });
}

function assertMayChange(term: TermRow, changed: readonly (keyof Changeable)[]): void {
  const isDueDateAlone = changed.every((name) => name === 'dueDate');
  if (term.status === 'Open' && term.stage !== 'Posting') return;
  if (term.status === 'Posted' && isDueDateAlone) return;
  throw invalidState(term, isDueDateAlone ? ['Open', 'Posted'] : ['Open']);
}
