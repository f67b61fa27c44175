// What the operations that change a subscription share.

import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { type EventType, eventsOf, insertEvents } from '../../domain/events/events-store.ts';
import { readingTypes } from '../../domain/readings/reading.ts';
import type { Changed, DatedChange, GivenReading } from '../../domain/subscriptions/changes.ts';
import { statusEvent } from '../../domain/subscriptions/status-events.ts';
import type { SubscriptionRow } from '../../domain/subscriptions/store.ts';
import { date, filledText, maybe, oneOf, text } from '../fields.ts';
import { meterNumber } from '../meters/meter-fields.ts';
import type { Answer, Call } from '../operation.ts';
import { decimal } from '../pricing-fields.ts';
import { dateOf } from './connection-fields.ts';

const readingsMax = 1_000;

export const effectiveDate = maybe(
  Type.String({
    ...date,
    description: 'DD/MM/YYYY, the first day on which it is effective; default today',
  }),
);
export const reason = maybe(text({ max: 500 }));
export const force = maybe(Type.Boolean({ description: 'overrides a rule; for managers only' }));

export const readings = maybe(
  Type.Array(
    Type.Object({
      number: meterNumber,
      register: maybe(filledText({ max: 64 })),
      value: decimal,
      readingType: maybe(oneOf(readingTypes)),
    }),
    { maxItems: readingsMax },
  ),
);

/** Of any change: it is there, as it was seen, and in a state that allows it. */
export const changeErrors: readonly ErrorCode[] = [
  'SUBSCRIPTION_NOT_FOUND',
  'STALE_OBJECT',
  'INVALID_STATE',
];

export const dateErrors: readonly ErrorCode[] = [
  'DATE_IN_POSTED_TERM',
  'DATE_OUT_OF_ORDER',
  'DATE_IN_FUTURE',
];

export const readingErrors: readonly ErrorCode[] = [
  'METER_NOT_FOUND',
  'METER_NOT_ASSIGNED',
  'REGISTER_REQUIRED',
  'DUPLICATE_ROW',
  'READING_LOCKED',
];

export function readingsSent(sent: Type.Static<typeof readings> | undefined): GivenReading[] {
  return (sent ?? []).map((one, index) => ({
    field: `data.readings[${index}]`,
    meterNumber: one.number,
    register: one.register?.trim() ?? null,
    value: String(one.value),
    type: one.readingType ?? null,
  }));
}

export function datedChange(
  call: Call,
  data: { connectionNumber: string; ts?: number },
  given: { name: string; value: string | null | undefined },
): DatedChange {
  const today = dateIn(call.now, call.tenant.timezone);
  return {
    number: data.connectionNumber.trim(),
    seenTs: data.ts,
    date: dateOf(given.value) ?? today,
    dateField: `data.${given.name}`,
    today,
  };
}

/** Only who manages subscriptions goes past a rule. */
export function assertMayForce(call: Call, sent: boolean | null | undefined): boolean {
  if (!sent) return false;
  if (call.principal.permissions.has('subscriptions:manage')) return true;
  throw new AppError('PERMISSION_DENIED', {
    message: 'force needs the permission subscriptions:manage',
    field: 'data.force',
  });
}

export function stampOf(call: Call) {
  return { at: call.now, by: call.principal.name };
}

/** Records the change and answers it. A change of the state has an event of its own. */
export async function changeDone(
  call: Call,
  changed: Changed,
  verb: string,
  usualEvent: EventType = 'subscription.updated',
): Promise<Answer<object>> {
  const { before, after } = changed;
  const subjectId = after.subscription_number;
  const type = statusEvent({ before: before.status, after: after.status }) ?? usualEvent;
  const events = eventsOf(type, 'connectionNumber', [subjectId]);
  await insertEvents(call.tx, call.tenant.tenantId, events, call.now);
  const subject = 'subscription';
  call.audit({ subject, subjectId, before: snapshot(before), after: snapshot(after) });
  return {
    message: `Subscription ${subjectId} ${verb}`,
    data: {},
    ids: { resourceIds: [after.subscription_id], connectionNumbers: [subjectId] },
  };
}

function snapshot(row: SubscriptionRow) {
  return {
    status: row.status,
    statusHistory: row.status_history,
    connectionRefNo: row.reference_number,
    planID: row.plan_id,
    planHistory: row.plan_history,
    batchID: row.batch_id,
    connectionGroupID: row.account_id,
    partyID: row.party_id,
    connectionDate: row.connection_date,
    billedThrough: row.billed_through,
    description: row.description,
    paymentMethod: row.payment_method,
    projectName: row.project_name,
    address: row.address,
    connectionInputs: row.connection_inputs,
    unmeteredInputs: row.quantities,
    users: row.users,
    addOns: row.add_ons,
    variants: row.variants,
    transfers: row.transfers,
    documents: row.documents,
  };
}
