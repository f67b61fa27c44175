// Fields that operations of payments share.
import { dateIn, parseDate } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import { paymentMethods } from '../../domain/receivables/payment.ts';
import { oneOf } from '../fields.ts';
import type { Call } from '../operation.ts';
import { decimal } from '../pricing-fields.ts';

/** Above zero; the number of decimals is that of the currency. */
export const amountSent = decimal;

export const paymentMethod = oneOf(paymentMethods);

/** Minor units; undefined if it is no amount above zero. */
export function amountOf(value: number | string, { tenant }: Call): number | undefined {
  const minor = minorUnitsFrom(String(value), tenant.currencyDecimals);
  return minor !== undefined && minor > 0 ? minor : undefined;
}

export function amountMessage(field: string, { tenant }: Call): string {
  return `${field} is ${amountWords(tenant.currencyDecimals)}, above zero`;
}

/** Minor units of a field of its own. */
export function requireAmount(call: Call, field: string, value: number | string): number {
  const minor = amountOf(value, call);
  if (minor !== undefined) return minor;
  throw new AppError('INVALID_NUMBER', { message: amountMessage(field, call), field });
}

export function postingOf(call: Call) {
  const today = dateIn(call.now, call.tenant.timezone);
  return { today, stamp: { at: call.now, by: call.principal.name } };
}

export function dayOf(value: string | null | undefined): Temporal.PlainDate | undefined {
  return value ? parseDate(value) : undefined;
}
