// Use that no meter of ours measures: uploaded for the whole term or by the day.
import { formatIsoDay, parseDay } from '../base/days.ts';
import type { Tx } from '../base/db/pool.ts';
import { type ErrorCode, type ErrorDetail, errorFromUpload } from '../base/errors.ts';
import { findRowSubscriptions, type RowSubscription } from '../domain/terms/eligible-store.ts';
import { saveUsage, type UploadedUse } from '../domain/terms/inputs-store.ts';
import { getTerm, noteInputs, type TermRow } from '../domain/terms/store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import type { Finish, StepJob, StepRequest } from './step.ts';
import { rowsOf, storedOf, uploadStep } from './upload-step.ts';

/** Subscription, input, quantity, and the day where it is of one. */
export type UsageRow = readonly string[];

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
  return storedOf('row', given, saved);
}

/** What is to be stored of the rows, if nothing stands against any of them. */
async function readRows(tx: Tx, request: StepRequest): Promise<UploadedUse[]> {
  const { tenantId } = request.tenant;
  const rows = rowsOf<UsageRow>(request);
  const term = await getTerm(tx, tenantId, request.termId ?? 0);
  const { pricing } = await termRules(tx, tenantId, term);
  const numbers = [...new Set(rows.map(([number = '']) => number.trim()))];
  const inputs = [...(pricing.meteredInputs ?? []), ...(pricing.unmeteredInputs ?? [])];
  const known = {
    term,
    subscriptions: await findRowSubscriptions(tx, tenantId, term, numbers),
    inputs: new Set(inputs.map((input) => input.name)),
  };
  const problems: ErrorDetail[] = [];
  const usage: UploadedUse[] = [];
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    const read = readRow(row, known);
    const key = 'input' in read ? `${read.subscriptionId} ${read.input} ${read.date}` : '';
    if (!('input' in read)) problems.push(detail(index, read));
    else if (seen.has(key)) problems.push(detail(index, repeated(row)));
    else {
      seen.add(key);
      usage.push(read);
    }
  });
  if (problems.length > 0) throw errorFromUpload(problems);
  return usage;
}

type Refused = { column: number; code: ErrorCode; message: string; rejectedValue: string };

type Known = {
  term: TermRow;
  subscriptions: ReadonlyMap<string, RowSubscription>;
  inputs: ReadonlySet<string>;
};

function detail(index: number, { column, code, message, rejectedValue }: Refused): ErrorDetail {
  return { field: `usage[${index}][${column}]`, code, message, rejectedValue };
}

function repeated([number = '', input = '']: UsageRow): Refused {
  const message = `${input} of ${number} stands twice in this upload`;
  return { column: 1, code: 'DUPLICATE_ROW', message, rejectedValue: input };
}

const quantity = /^\+?\d{1,15}(\.\d{1,15})?$/;

function readRow(row: UsageRow, known: Known): UploadedUse | Refused {
  const [number = '', input = '', text = '', day = ''] = row.map((item) => item.trim());
  const refuse = (
    column: number,
    code: ErrorCode,
    message: string,
    rejectedValue: string,
  ): Refused => ({ column, code, message, rejectedValue });
  const subscription = known.subscriptions.get(number);
  if (!subscription) {
    return refuse(0, 'SUBSCRIPTION_NOT_FOUND', `No subscription has the number ${number}`, number);
  }
  if (!subscription.is_in_term) {
    const message = `Term ${known.term.label} does not bill ${number}`;
    return refuse(0, 'SUBSCRIPTION_NOT_IN_TERM', message, number);
  }
  if (!known.inputs.has(input)) {
    const message = `${known.term.context_code} has no input ${input}`;
    return refuse(1, 'UNKNOWN_INPUT', message, input);
  }
  if (text !== '' && !quantity.test(text)) {
    return refuse(2, 'INVALID_NUMBER', `'${text}' is no quantity`, text);
  }
  const { subscription_id: subscriptionId } = subscription;
  const use = { subscriptionId, input, quantity: text === '' ? null : text };
  if (day === '') return { ...use, date: null };
  const parsed = parseDay(day);
  const date = parsed === undefined ? undefined : formatIsoDay(parsed);
  if (date === undefined || date > known.term.end_date || date < subscription.first_date) {
    const message = `'${day}' is no day, DD/MM/YYYY, that term ${known.term.label} bills`;
    return refuse(3, 'INVALID_DATE', message, day);
  }
  return { ...use, date };
}
