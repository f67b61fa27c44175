import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import { clearPayment as clear } from '../../domain/receivables/clear-payment.ts';
import { date, empty, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { dayOf, postingOf } from './payment-fields.ts';

export const clearPayment = operation({
  path: '/billing/payments/clear-payment',
  method: 'Update',
  action: 'Clear Payment',
  access: { permission: 'payments:write' },
  summary: 'Records that the bank has paid a cheque.',
  request: Type.Object({ data: Type.Object({ paymentID: id, clearedDate: maybe(date) }) }),
  response: empty,
  errors: ['PAYMENT_NOT_FOUND', 'INVALID_STATE', 'DATE_IN_FUTURE'],
  example: { data: { paymentID: 1, clearedDate: '21/08/2026' } },
  async handle(call, { data }) {
    const posting = postingOf(call);
    const clearedDate = dayOf(data.clearedDate) ?? posting.today;
    const wanted = { paymentId: data.paymentID, clearedDate };
    const { reference } = await clear(call.tx, call.tenant.tenantId, wanted, posting);
    call.audit({
      subject: 'payment',
      subjectId: data.paymentID,
      before: { clearedDate: null },
      after: { clearedDate: formatDate(clearedDate) },
    });
    return { message: `The cheque of payment ${reference} is cleared`, data: {} };
  },
});
