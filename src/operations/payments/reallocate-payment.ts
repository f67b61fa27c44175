import * as Type from 'typebox';
import { reallocatePayment as reallocate } from '../../domain/receivables/move-payment.ts';
import { empty, filledText, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { amountSent, postingOf, requireAmount } from './payment-fields.ts';

export const reallocatePayment = operation({
  path: '/billing/payments/reallocate-payment',
  method: 'Update',
  action: 'Reallocate Payment',
  access: { permission: 'payments:manage' },
  summary: 'Settles other bills with a payment; the rest of it goes into the wallet.',
  request: Type.Object({
    data: Type.Object({
      paymentID: id,
      allocations: Type.Array(Type.Object({ billID: id, amount: amountSent }), {
        maxItems: limits.batch,
      }),
      reason: filledText({ max: limits.text }),
    }),
  }),
  response: empty,
  errors: [
    'PAYMENT_NOT_FOUND',
    'BILL_NOT_FOUND',
    'ALREADY_REVERSED',
    'INVALID_STATE',
    'OVER_ALLOCATED',
    'BILL_OF_OTHER_PARTY',
    'WALLET_TOO_LOW',
  ],
  example: {
    data: { paymentID: 1, allocations: [{ billID: 2, amount: 100 }], reason: 'For August' },
  },
  async handle(call, { data }) {
    const allocations = data.allocations.map(({ billID: billId, amount }, index) => {
      return { billId, amount: requireAmount(call, `data.allocations[${index}].amount`, amount) };
    });
    const wanted = { paymentId: data.paymentID, allocations, reason: data.reason.trim() };
    const payment = await reallocate(call.tx, call.tenant.tenantId, wanted, postingOf(call));
    call.audit({
      subject: 'payment',
      subjectId: data.paymentID,
      before: { allocations: null, reason: null },
      after: { allocations, reason: wanted.reason },
    });
    return { message: `Payment ${payment.reference} is reallocated`, data: {} };
  },
});
