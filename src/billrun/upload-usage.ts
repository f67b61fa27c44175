// Use that no meter of ours measures: uploaded for the whole term or by the day.
import { formatIsoDay, parseDay } from '../base/days.ts';
import type { Tx } from '../base/db/pool.ts';
import { findRowSubscriptions, type RowSubscription } from '../domain/terms/eligible-store.ts';
import { saveUsage, type UploadedUse } from '../domain/terms/inputs-store.ts';
import { getTerm, noteInputs, type Term } from '../domain/terms/store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import {
  numbersIn,
  type RefusedRow,
  readEach,
  refusedRow,
  subscriptionOf,
  type UploadRow,
} from './upload-rows.ts';
import { rowsOf, uploadResult, uploadStep } from './upload-step.ts';

export const uploadUsageStep = uploadStep({ operation: 'upload-usage', read: readRows, store });

async function store(tx: Tx, job: StepJob, usage: UploadedUse[]): Promise<Finish> {
  const { tenantId } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const termId = job.termId ?? 0;
  const saved = await saveUsage(tx, tenantId, termId, usage, stamp);
  // Usage has no stage of its own: it may come before readings or after values.
  const step = { stage: 'Created' as const, hasChanged: saved.changed + saved.removed > 0 };
  await noteInputs(tx, tenantId, termId, step, stamp);
  const given = usage.filter((one) => one.quantity !== null).length;
  return uploadResult('row', given, saved);
}

/** The checked rows to be stored; throws if any row is rejected. */
async function readRows(tx: Tx, request: StepRequest): Promise<UploadedUse[]> {
  const { tenantId } = request.tenant;
  const rows = rowsOf<UploadRow>(request);
  const term = await getTerm(tx, tenantId, request.termId ?? 0);
  const { pricing } = await termRules(tx, tenantId, term);
  const inputs = [...(pricing.meteredInputs ?? []), ...(pricing.unmeteredInputs ?? [])];
  const known: UsageLookups = {
    term,
    subscriptions: await findRowSubscriptions(tx, tenantId, term, numbersIn(rows)),
    inputs: new Set(inputs.map((input) => input.name)),
  };
  const read = (row: UploadRow) => readRow(row, known);
  return readEach('usage', rows, read, (use) => `${use.input} ${use.date}`);
}

/** What the rows may name. */
type UsageLookups = {
  term: Term;
  subscriptions: ReadonlyMap<string, RowSubscription>;
  inputs: ReadonlySet<string>;
};

const quantity = /^\+?\d{1,15}(\.\d{1,15})?$/;

/** Subscription, input, quantity, and the day where it is of one. */
function readRow(row: UploadRow, known: UsageLookups): UploadedUse | RefusedRow {
  const [number = '', input = '', text = '', day = ''] = row.map((item) => item.trim());
  const subscription = subscriptionOf(number, known);
  if ('code' in subscription) return subscription;
  if (!known.inputs.has(input)) {
    const message = `Service ${known.term.context_code} has no input ${input}`;
    return refusedRow(1, 'UNKNOWN_INPUT', message, input);
  }
  if (text !== '' && !quantity.test(text)) {
    return refusedRow(2, 'INVALID_NUMBER', `'${text}' is not a number`, text);
  }
  const { subscription_id: subscriptionId } = subscription;
  const use = { subscriptionId, input, quantity: text === '' ? null : text };
  if (day === '') return { ...use, date: null };
  const parsed = parseDay(day);
  const date = parsed === undefined ? undefined : formatIsoDay(parsed);
  if (date === undefined || date > known.term.end_date || date < subscription.first_date) {
    const message = `'${day}' is not a day (DD/MM/YYYY) that term ${known.term.label} bills`;
    return refusedRow(3, 'INVALID_DATE', message, day);
  }
  return { ...use, date };
}
