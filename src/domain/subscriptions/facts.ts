// A subscription as rating reads it: dates DD/MM/YYYY, and a `toDate` is the last day.
import { formatDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { FrozenConnection } from '../rating/frozen-inputs.ts';
import type { InputValue, Quantity, Variant } from './subscription.ts';

export function frozenConnectionOf(subscription: {
  connectionDate: Temporal.PlainDate;
  inputs: readonly InputValue[];
  quantities: readonly Quantity[];
  variants: readonly Variant[];
}): FrozenConnection {
  return {
    connectionDate: formatDate(subscription.connectionDate),
    connectionInputs: subscription.inputs,
    unmeteredInputs: subscription.quantities.map((quantity) => ({
      ...quantity,
      fromDate: wireDay(quantity.fromDate),
    })),
    variants: subscription.variants.filter(isOwnValue).map((variant) => ({
      name: variant.name,
      value: variant.value,
      fromDate: variant.fromDate === undefined ? null : wireDay(variant.fromDate),
      toDate: variant.toDate === undefined ? null : lastDayText(variant.toDate),
    })),
  };
}

/** Whether a variant sets a value of the context; others are only kept. */
export function isOwnValue(variant: Variant): variant is Variant & { name: string } {
  return variant.value !== undefined && variant.value !== null && variant.name !== undefined;
}

/** The day before the first on which something no longer holds. */
export function lastDayText(isoDate: string): string {
  return formatDate(Temporal.PlainDate.from(isoDate).subtract({ days: 1 }));
}
