// What assigning, replacing and removing a meter share.
import * as Type from 'typebox';
import { dateIn, formatDate, parseDate } from '../../base/calendar.ts';
import { formatDay } from '../../base/days.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { Moved } from '../../domain/meters/move.ts';
import type { FinalReading } from '../../domain/meters/release.ts';
import { filledText, maybe, text } from '../fields.ts';
import type { Call } from '../operation.ts';
import { decimal } from '../pricing-fields.ts';
import { type RegisterItem, registerReading } from './installation-fields.ts';

export const reason = maybe(text({ max: 500 }));

/** More registers than any meter has. */
const registersMax = 100;

/** A counter for which none is given is estimated. */
export const finalReadings = maybe(
  Type.Array(Type.Object({ register: maybe(filledText({ max: 64 })), value: decimal }), {
    maxItems: registersMax,
  }),
);

export const moveErrors: readonly ErrorCode[] = [
  'SUBSCRIPTION_NOT_FOUND',
  'INVALID_STATE',
  'DATE_IN_FUTURE',
  'DATE_IN_POSTED_TERM',
  'DATE_OUT_OF_ORDER',
  'REGISTER_REQUIRED',
];

export const installationErrors: readonly ErrorCode[] = [
  'METER_NOT_REGISTERED',
  'METER_ALREADY_ASSIGNED',
  'METER_NOT_ASSIGNABLE',
  'METER_TYPE_NOT_ALLOWED',
  'METER_BINDING_AMBIGUOUS',
];

export const releaseErrors: readonly ErrorCode[] = [
  'METER_NOT_ASSIGNED',
  'DUPLICATE_ROW',
  'READING_LOCKED',
];

export function moveOf(
  call: Call,
  subscriptionNumber: string,
  date: { name: string; value: string },
) {
  const parsed = parseDate(date.value);
  if (!parsed) throw new Error('the schema let an invalid date through');
  return {
    subscriptionNumber: subscriptionNumber.trim(),
    date: parsed,
    dateField: `data.${date.name}`,
    today: dateIn(call.now, call.tenant.timezone),
  };
}

export function finalReadingsOf(
  items: readonly RegisterItem[] | null | undefined,
  meterNumber: number,
): FinalReading[] {
  return (items ?? []).map((item, index) => ({
    field: `data.finalReadings[${index}]`,
    meterNumber,
    ...registerReading(item),
  }));
}

/** One entry for each meter that moved, and its id in the answer. */
export function auditMove(call: Call, moved: Moved): number[] {
  const connection = moved.subscription.subscription_number;
  for (const meter of moved.released) {
    const there = { status: 'Active', connectionNumber: connection };
    const dates = { installDate: formatDay(meter.install_day) };
    call.audit({
      subject: 'meter',
      subjectId: meter.meter_id,
      before: { ...there, ...dates, removeDate: null, reason: null },
      after: {
        status: 'InActive',
        connectionNumber: null,
        ...dates,
        removeDate: formatDate(meter.removeDate),
        reason: meter.reason,
      },
    });
  }
  for (const { meter, installDate, registers } of moved.installed) {
    call.audit({
      subject: 'meter',
      subjectId: meter.meter_id,
      before: { status: 'InActive', connectionNumber: null, installDate: null, meteredInputs: [] },
      after: {
        status: 'Active',
        connectionNumber: connection,
        installDate: formatDate(installDate),
        meteredInputs: registers.flatMap((one) => one.input ?? []),
      },
    });
  }
  return [...moved.released, ...moved.installed.map((one) => one.meter)].map((one) => one.meter_id);
}
