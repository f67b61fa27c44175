// Step 1 of the bill run: opens a term.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { findBatchId } from '../pricing/batches-store.ts';
import { builtInBatch } from '../pricing/context.ts';
import { type ContextRow, shareContext } from '../pricing/contexts-store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { findChosen, insertChosen } from './chosen-store.ts';
import {
  findNeighbours,
  insertTerm,
  type NewTerm,
  type TermEdge,
  type TermPlace,
} from './store.ts';
import { assertTermDates, type PostType, type TermType } from './term.ts';

export type TermRequest = {
  contextCode: string;
  /** Null: the batch `DEFAULT`. */
  batchCode: string | null;
  /** Null: that of the context. */
  billingPeriodId: number | null;
  /** Null: that of the context. */
  postType: string | null;
  type: TermType;
  label: string;
  startDate: Temporal.PlainDate;
  endDate: Temporal.PlainDate;
  /** Null: the end of the term plus `dueDateOffset` of the context. */
  dueDate: Temporal.PlainDate | null;
  /** The subscriptions that a term bills, unless it is Regular. */
  subscriptionNumbers: readonly string[];
  /** The cancelled bill that the term bills again. */
  replacesBillId?: number;
};

export type CreatedTerm = NewTerm & {
  batchCode: string;
  /** Days next to it that no term of the batch bills. */
  gaps: string[];
  /** The billing period of subscriptions whose group and plan name none. */
  contextPeriodId: number;
};

export async function createTerm(
  tx: Tx,
  tenantId: number,
  request: TermRequest,
  stamp: Stamp,
): Promise<CreatedTerm> {
  const context = await contextOf(tx, tenantId, request);
  const batchCode = request.batchCode || builtInBatch;
  const batchId = await findBatchId(tx, tenantId, {
    contextId: context.context_id,
    code: batchCode,
  });
  if (batchId === undefined) {
    const message = `Service ${context.code} has no batch ${batchCode}. get-batches lists them.`;
    throw new AppError('BATCH_NOT_FOUND', { message, field: 'data.batchCode' });
  }
  const { startDate, endDate, label, type } = request;
  const dueDate = request.dueDate ?? endDate.add({ days: context.due_date_offset });
  assertTermDates({ startDate, endDate, dueDate });
  const chosen = await chosenOf(tx, tenantId, context, { ...request, batchCode });
  const term: NewTerm = {
    termId: await takeNumbers(tx, tenantId, 'term', 1),
    contextId: context.context_id,
    batchId,
    billingPeriodId: request.billingPeriodId ?? context.billing_period_id,
    type,
    label,
    startDate,
    endDate,
    dueDate,
    postType: context.post_type as PostType,
    replacesBillId: request.replacesBillId ?? null,
  };
  await insertTerm(tx, tenantId, term, stamp);
  await insertChosen(tx, tenantId, term.termId, chosen);
  const events = eventsOf('term.created', 'termID', [term.termId]);
  await insertEvents(tx, tenantId, events, stamp.at);
  const gaps = await gapsBeside(tx, tenantId, term);
  return { ...term, batchCode, gaps, contextPeriodId: context.billing_period_id };
}

async function contextOf(tx: Tx, tenantId: number, request: TermRequest): Promise<ContextRow> {
  const { contextCode: code, postType } = request;
  const context = await shareContext(tx, tenantId, code);
  if (!context) {
    const message = `No service has the code ${code}`;
    throw new AppError('SERVICE_NOT_FOUND', { message, field: 'data.serviceCode' });
  }
  if (context.archived) {
    const message = `Service ${code} is archived. Restore it with update-service first.`;
    throw new AppError('SERVICE_ARCHIVED', { message, field: 'data.serviceCode' });
  }
  if (postType !== null && postType !== context.post_type) {
    throw new AppError('POST_TYPE_MISMATCH', {
      message: `postType must be '${context.post_type}' for service ${code}`,
      field: 'data.postType',
      allowed: [context.post_type],
    });
  }
  return context;
}

/** Ids of the subscriptions chosen for a term; a regular one bills all of its batch. */
async function chosenOf(
  tx: Tx,
  tenantId: number,
  context: ContextRow,
  { type, subscriptionNumbers: numbers, batchCode }: TermRequest & { batchCode: string },
): Promise<number[]> {
  if (type === 'Regular') {
    if (numbers.length === 0) return [];
    throw new AppError('UNKNOWN_FIELD', {
      message:
        'connectionNumbers is for OffCycle and Final terms. A Regular term bills its whole batch.',
      field: 'data.connectionNumbers',
    });
  }
  if (numbers.length === 0) {
    throw new AppError('REQUIRED_FIELD', {
      message: `connectionNumbers is required: a term of type ${type} bills single subscriptions.`,
      field: 'data.connectionNumbers',
    });
  }
  const found = await findChosen(tx, tenantId, { contextId: context.context_id, numbers });
  const details = numbers.flatMap((number, index): ErrorDetail[] => {
    const one = found.get(number);
    if (one?.batch_code === batchCode) return [];
    const field = `data.connectionNumbers[${index}]`;
    const [code, message] = one
      ? (['SUBSCRIPTION_NOT_IN_TERM', `${number} is of the batch ${one.batch_code}`] as const)
      : (['SUBSCRIPTION_NOT_FOUND', `${context.code} has no subscription ${number}`] as const);
    return [{ field, code, message, rejectedValue: number }];
  });
  if (details.length > 0) throw errorFromDetails(details);
  return [...new Set([...found.values()].map((one) => one.subscription_id))];
}

/**
 * Days next to a term that no term of the batch bills. Only Regular terms are expected to follow
 * each other without a gap.
 */
export async function gapsBeside(
  tx: Tx,
  tenantId: number,
  term: TermPlace & Pick<NewTerm, 'type'>,
): Promise<string[]> {
  if (term.type !== 'Regular') return [];
  const { previous, next } = await findNeighbours(tx, tenantId, term);
  return [
    ...gap(previous, (end) => [end.add({ days: 1 }), term.startDate.subtract({ days: 1 })]),
    ...gap(next, (start) => [term.endDate.add({ days: 1 }), start.subtract({ days: 1 })]),
  ];
}

function gap(
  neighbour: TermEdge | null,
  daysBetween: (edge: Temporal.PlainDate) => [Temporal.PlainDate, Temporal.PlainDate],
): string[] {
  if (!neighbour) return [];
  const [first, last] = daysBetween(Temporal.PlainDate.from(neighbour.date));
  if (Temporal.PlainDate.compare(first, last) > 0) return [];
  const days = first.equals(last)
    ? formatDate(first)
    : `${formatDate(first)} to ${formatDate(last)}`;
  return [`no term of the batch bills ${days}, next to ${neighbour.label}`];
}
