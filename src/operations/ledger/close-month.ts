import * as Type from 'typebox';
import { closeMonth as close, formatMonth } from '../../domain/ledger/months.ts';
import { empty, filledText, limits, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';
import { monthSent, requireMonth } from './ledger-fields.ts';

export const closeMonth = operation({
  path: '/billing/ledger/close-month',
  method: 'Update',
  action: 'Close Month',
  access: { permission: 'ledger:close' },
  summary: 'Closes a month of the ledger, and all earlier ones with it.',
  request: Type.Object({
    data: Type.Object({
      month: monthSent,
      reason: filledText({ max: limits.text }),
      carryResult: maybe(Type.Boolean()),
    }),
  }),
  response: empty,
  errors: ['INVALID_STATE', 'MONTH_CLOSED'],
  example: { data: { month: '07/2025', reason: 'July is reconciled with the bank' } },
  async handle(call, { data }) {
    const month = requireMonth(data.month, 'data.month');
    const wanted = { month, reason: data.reason, carriesResult: data.carryResult === true };
    const { tenantId } = call.tenant;
    const { closed, yearEnd } = await close(call.tx, tenantId, wanted, postingOf(call));
    for (const one of closed) {
      call.audit({
        subject: 'ledger-month',
        subjectId: formatMonth(one),
        before: { isClosed: false, reason: null, yearEndJournalID: null },
        after: { isClosed: true, reason: data.reason, yearEndJournalID: yearEnd },
      });
    }
    const earlier =
      closed.length > 1 ? `, with all months since ${formatMonth(closed[0] ?? month)}` : '';
    const carried = yearEnd === null ? '' : `; journal ${yearEnd} carries the result forward`;
    return { message: `${formatMonth(month)} is closed${earlier}${carried}`, data: {} };
  },
});
