import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { makeDisputes as make } from '../../domain/receivables/disputes.ts';
import { empty, filledText, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { amountMessage, amountOf, postingOf } from '../payments/payment-fields.ts';
import { decimal } from '../pricing-fields.ts';

export const makeDisputes = operation({
  path: '/billing/disputes/make-disputes',
  method: 'Create',
  action: 'Create Disputes',
  access: { permission: 'collections:write' },
  summary: 'Records disputes: amounts of bills that customers do not accept; all or none.',
  takesRows: true,
  request: Type.Object({
    disputes: Type.Array(
      Type.Object({ billID: id, amount: decimal, reason: filledText({ max: 500 }) }),
      { minItems: 1, maxItems: limits.batch },
    ),
  }),
  response: empty,
  errors: ['BILL_NOT_FOUND', 'INVALID_STATE', 'AMOUNT_ABOVE_OPEN', 'ROWS_REJECTED'],
  example: { disputes: [{ billID: 991, amount: 250, reason: 'The meter was read wrongly' }] },
  async handle(call, body) {
    const wrong = body.disputes.flatMap(({ amount: value }, row): RowProblem[] => {
      if (amountOf(value, call) !== undefined) return [];
      const message = amountMessage('amount', call);
      return [{ row, name: 'amount', code: 'INVALID_NUMBER', message, rejectedValue: value }];
    });
    if (wrong.length > 0) throw errorFromRows(detailsOf(wrong, 'disputes'));
    const wanted = body.disputes.map((one) => ({
      billId: one.billID,
      amount: amountOf(one.amount, call) ?? 0,
      reason: one.reason.trim(),
    }));
    const made = await make(call.tx, call.tenant.tenantId, wanted, postingOf(call));
    if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'disputes'));
    wanted.forEach((after, row) => {
      const subjectId = made.disputeIds[row] ?? 0;
      call.audit({ subject: 'dispute', subjectId, before: null, after });
    });
    const message = `${counted(wanted.length, 'dispute')} opened`;
    return { message, data: {}, ids: { resourceIds: made.disputeIds } };
  },
});
