import * as Type from 'typebox';
import { formatMonth, reopenMonth as reopen } from '../../domain/ledger/months.ts';
import { empty, filledText, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';
import { monthSent, requireMonth } from './ledger-fields.ts';

export const reopenMonth = operation({
  path: '/billing/ledger/reopen-month',
  method: 'Update',
  action: 'Reopen Month',
  access: { permission: 'ledger:close' },
  summary: 'Opens the last closed month of the ledger again.',
  request: Type.Object({
    data: Type.Object({ month: monthSent, reason: filledText({ max: limits.text }) }),
  }),
  response: empty,
  errors: ['INVALID_STATE'],
  example: { data: { month: '07/2025', reason: 'A payment of 31 July was forgotten' } },
  async handle(call, { data }) {
    const month = requireMonth(data.month, 'data.month');
    const { reason } = data;
    await reopen(call.tx, call.tenant.tenantId, { month, reason }, postingOf(call).stamp);
    const subjectId = formatMonth(month);
    const states = { before: { isClosed: true, reason: null }, after: { isClosed: false, reason } };
    call.audit({ subject: 'ledger-month', subjectId, ...states });
    return { message: `${subjectId} is open again`, data: {} };
  },
});
