// A subscription as it is sent: the fields that create and change share.
import * as Type from 'typebox';
import { namesNoTime, parseCompactDate, parseDate } from '../../base/calendar.ts';
import { type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import type { GivenInput, GivenQuantity } from '../../domain/subscriptions/check-inputs.ts';
import type { GivenAddOn, GivenUser } from '../../domain/subscriptions/new-subscription.ts';
import { problem, userRoles, type Variant } from '../../domain/subscriptions/subscription.ts';
import { date, filledText, id, limits, maybe, oneOf, text } from '../fields.ts';
import { assertSmall, decimal, freeForm } from '../pricing-fields.ts';

/** Items of one array of a subscription. */
const itemsMax = 200;

/** An agreed quantity or a number of add-ons. */
const quantityMax = 64;

function many<T extends Type.TSchema>(item: T) {
  return maybe(Type.Array(item, { maxItems: itemsMax }));
}

export const compactDate = Type.String({
  format: 'date-compact',
  maxLength: 10,
  'x-code': 'INVALID_DATE',
  description: 'DDMMYYYY or DD/MM/YYYY',
});

export const connectionNumber = filledText({ max: 120 });

type AddOnSent =
  | string
  | { label: string; quantity?: string | number | null; fromDate?: string | null };

/** The label of an add-on, alone or with a quantity and a first day. */
const addOn = Type.Unsafe<AddOnSent>({
  type: ['string', 'object'],
  maxLength: 200,
  properties: {
    label: filledText({ max: 200 }),
    quantity: maybe(decimal),
    fromDate: maybe(date),
  },
  required: ['label'],
});

const input = Type.Object({ name: filledText({ max: 64 }), value: maybe(text()) });

const quantity = Type.Object({
  name: filledText({ max: 64 }),
  value: decimal,
  fromDate: maybe(date),
});

const user = Type.Object({
  partyID: maybe(id),
  partyNumber: maybe(id),
  role: maybe(oneOf(userRoles)),
  connectionGroupLabel: maybe(text({ max: limits.accountLabel })),
  fromDate: maybe(date),
});

/** What make-connections and update-connection both take. */
export const sharedFields = {
  addonTariffLabels: many(addOn),
  connectionInputs: maybe(Type.Array(input, { maxItems: 500 })),
  unmeteredInputs: many(quantity),
  users: many(user),
  variants: many(freeForm),
  documents: many(filledText({ max: 200 })),
};

export function addOnsSent(sent: readonly AddOnSent[] | null | undefined): GivenAddOn[] {
  return (sent ?? []).map((one) => {
    const { label, quantity: count, fromDate } = typeof one === 'string' ? { label: one } : one;
    return {
      label: label.trim(),
      quantity: String(count ?? 1).slice(0, quantityMax),
      fromDate: dateOf(fromDate),
    };
  });
}

export function inputsSent(
  sent: readonly Type.Static<typeof input>[] | null | undefined,
): GivenInput[] {
  return (sent ?? []).map(({ name, value }) => ({ name, value: value ?? null }));
}

export function quantitiesSent(
  sent: readonly Type.Static<typeof quantity>[] | null | undefined,
): GivenQuantity[] {
  return (sent ?? []).map(({ name, value, fromDate }) => ({
    name,
    value: String(value),
    fromDate: dateOf(fromDate),
  }));
}

export function usersSent(
  sent: readonly Type.Static<typeof user>[] | null | undefined,
): GivenUser[] {
  return (sent ?? []).map((one) => ({
    partyId: one.partyID ?? null,
    partyNumber: one.partyNumber ?? null,
    role: one.role ?? null,
    accountLabel: trimmed(one.connectionGroupLabel),
    fromDate: dateOf(one.fromDate),
  }));
}

/** Items that set a value are read; those of another shape are kept as they came. */
export function variantsSent(
  field: string,
  sent: readonly Record<string, unknown>[] | null | undefined,
): Variant[] {
  assertSmall(field, sent);
  const problems: ErrorDetail[] = [];
  const variants = (sent ?? []).map((one, index): Variant => {
    if (one.value === undefined || one.value === null) return one;
    const place = `${field}[${index}]`;
    const { fromDate, toDate, createdAt: _at, createdBy: _by, ...facts } = one;
    const from = variantDate(`${place}.fromDate`, fromDate, problems);
    const to = variantDate(`${place}.toDate`, toDate, problems);
    if (from && to && Temporal.PlainDate.compare(from, to) > 0) {
      problems.push(problem(`${place}.toDate`, 'INVALID_DATE', 'toDate is before fromDate'));
    }
    return {
      ...facts,
      ...(typeof one.name === 'string' ? { name: one.name } : { name: String(one.name) }),
      ...(from ? { fromDate: from.toString() } : {}),
      ...(to ? { toDate: to.add({ days: 1 }).toString() } : {}),
    };
  });
  if (problems.length > 0) throw errorFromDetails(problems);
  return variants;
}

function variantDate(
  field: string,
  sent: unknown,
  problems: ErrorDetail[],
): Temporal.PlainDate | undefined {
  if (sent === undefined || sent === null) return undefined;
  const parsed = typeof sent === 'string' ? parseDate(sent) : undefined;
  if (!parsed) {
    const isThere = typeof sent !== 'string' || !namesNoTime(sent);
    const message = isThere ? 'is not a date DD/MM/YYYY' : `is ${sent}, a day that does not exist`;
    problems.push(problem(field, 'INVALID_DATE', `${field} ${message}`));
  }
  return parsed;
}

export function dateOf(sent: string | null | undefined): Temporal.PlainDate | null {
  return sent ? (parseDate(sent) ?? null) : null;
}

export function compactDateOf(sent: string | null | undefined): Temporal.PlainDate | null {
  return sent ? (parseCompactDate(sent) ?? null) : null;
}

/** Text without white space around it; nothing is left of an empty one. */
export function trimmed(sent: string | null | undefined): string | null {
  return sent?.trim() || null;
}

export const descriptionText = maybe(text({ max: limits.description }));
