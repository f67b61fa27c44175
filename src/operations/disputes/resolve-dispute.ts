import * as Type from 'typebox';
import { resolveDispute as resolve } from '../../domain/receivables/disputes.ts';
import { empty, id, maybe, oneOf, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';

export const resolveDispute = operation({
  path: '/billing/disputes/resolve-dispute',
  method: 'Update',
  action: 'Resolve Dispute',
  access: { permission: 'credits:write' },
  summary: 'Upheld: the amount is credited. Rejected: it is owed again, with its old due date.',
  request: Type.Object({
    data: Type.Object({
      disputeID: id,
      outcome: oneOf(['Upheld', 'Rejected']),
      remark: maybe(text({ max: 500 })),
    }),
  }),
  response: empty,
  errors: ['DISPUTE_NOT_FOUND', 'INVALID_STATE'],
  example: { data: { disputeID: 5, outcome: 'Upheld', remark: 'Read again on site' } },
  async handle(call, { data }) {
    const { disputeID: disputeId, outcome } = data;
    const remark = data.remark?.trim() || null;
    const wanted = { disputeId, outcome, remark };
    const { tenantId } = call.tenant;
    const { dispute, creditNoteNumber } = await resolve(call.tx, tenantId, wanted, postingOf(call));
    call.audit({
      subject: 'dispute',
      subjectId: disputeId,
      before: { status: 'Open', remark: null, creditNoteNumber: null },
      after: { status: outcome, remark, creditNoteNumber },
    });
    const by = creditNoteNumber ? `: credit note ${creditNoteNumber}` : '';
    const message = `The dispute of bill ${dispute.bill_number} is ${outcome.toLowerCase()}${by}`;
    return { message, data: {}, ids: { resourceIds: [disputeId] } };
  },
});
