import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { amountText, amountWords, minorUnitsFrom } from '../../base/money.ts';
import { closeDay as close } from '../../domain/receivables/cash-desks.ts';
import { paymentMethods } from '../../domain/receivables/payment.ts';
import { date, empty, filledText, limits, maybe, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { amountSent, dayOf, paymentMethod, postingOf } from '../payments/payment-fields.ts';

export const closeDay = operation({
  path: '/billing/cash-desks/close-day',
  method: 'Update',
  action: 'Close Cash Desk',
  access: { permission: 'payments:write' },
  summary: 'Closes the day of a cash desk with what was counted; a difference is booked.',
  request: Type.Object({
    data: Type.Object({
      cashDesk: filledText({ max: 16 }),
      date: maybe(date),
      counted: Type.Array(Type.Object({ paymentMethod, amount: amountSent }), {
        maxItems: paymentMethods.length,
      }),
      reason: maybe(text({ max: limits.text })),
    }),
  }),
  response: empty,
  errors: ['CASH_DESK_NOT_FOUND', 'DATE_IN_FUTURE', 'INVALID_STATE', 'DUPLICATE_ROW'],
  example: {
    data: {
      cashDesk: 'MAIN',
      date: '18/08/2026',
      counted: [{ paymentMethod: 'Cash', amount: 12450 }],
      reason: 'A note of 50 was missing',
    },
  },
  async handle(call, { data }) {
    const { currency, currencyDecimals, tenantId } = call.tenant;
    const posting = postingOf(call);
    const day = dayOf(data.date) ?? posting.today;
    const counted = countedOf(call, data.counted);
    const { cashDesk } = data;
    const reason = data.reason?.trim() || null;
    const closed = await close(call.tx, tenantId, { cashDesk, day, counted, reason }, posting);
    call.audit({
      subject: 'cash-desk',
      subjectId: closed.desk.cash_desk_id,
      before: { date: formatDate(day), isClosed: false, counted: null, reason: null },
      after: { date: formatDate(day), isClosed: true, counted: closed.counted, reason },
    });
    const { difference } = closed;
    const amount = amountText(BigInt(Math.abs(difference)), currencyDecimals);
    const what = difference > 0 ? 'too much' : 'too little';
    const rest = difference === 0 ? '' : `, with ${currency} ${amount} ${what}`;
    return { message: `Cash desk ${cashDesk} is closed for ${formatDate(day)}${rest}`, data: {} };
  },
});

/** Minor units by method; zero is an amount here. */
function countedOf(
  call: Call,
  sent: readonly { paymentMethod: string; amount: number | string }[],
): Map<string, number> {
  const counted = new Map<string, number>();
  sent.forEach((one, index) => {
    const { currencyDecimals } = call.tenant;
    const minor = minorUnitsFrom(String(one.amount), currencyDecimals);
    const field = `data.counted[${index}].amount`;
    if (minor === undefined || minor < 0) {
      const message = `${field} is ${amountWords(currencyDecimals)}, zero or above`;
      throw new AppError('INVALID_NUMBER', { message, field });
    }
    if (counted.has(one.paymentMethod)) {
      const message = `${one.paymentMethod} is counted twice`;
      throw new AppError('DUPLICATE_ROW', { message, field: `data.counted[${index}]` });
    }
    counted.set(one.paymentMethod, minor);
  });
  return counted;
}
