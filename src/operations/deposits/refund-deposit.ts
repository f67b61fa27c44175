import * as Type from 'typebox';
import { refundDeposit as refund } from '../../domain/receivables/deposits.ts';
import { requireSecondPerson } from '../approving.ts';
import { empty, filledText, maybe } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { amountSent, paymentMethod, postingOf, requireAmount } from '../payments/payment-fields.ts';

const refundSent = Type.Object({
  connectionNumber: filledText({ max: 120 }),
  amount: amountSent,
  reference: filledText({ max: 120, description: 'unique for ever, with those of payments' }),
  reason: filledText({ max: 500 }),
  paymentMethod: maybe(paymentMethod),
});
export type DepositRefundSent = Type.Static<typeof refundSent>;

export const refundDeposit = operation({
  path: '/billing/deposits/refund-deposit',
  method: 'Update',
  action: 'Refund Deposit',
  access: { permission: 'credits:write' },
  summary: 'Pays a deposit that is held back to the owner of the subscription.',
  request: Type.Object({ data: refundSent }),
  response: empty,
  errors: [
    'SUBSCRIPTION_NOT_FOUND',
    'DUPLICATE',
    'INVALID_STATE',
    'AMOUNT_ABOVE_OPEN',
    'NOT_CLEARED',
    'APPROVAL_REQUIRED',
  ],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      amount: 1500,
      reference: 'DEP-2026-000009',
      reason: 'Paid in time for a year',
      paymentMethod: 'Bank',
    },
  },
  async handle(call, { data }) {
    const { message, paymentId, isRepeated, amount } = await makeDepositRefund(call, data);
    if (!isRepeated) {
      const { reference } = data;
      await requireSecondPerson(call, { kind: 'DepositRefund', reference, amount, request: data });
    }
    return { message, data: {}, ids: { resourceIds: [paymentId] } };
  },
});

export async function makeDepositRefund(call: Call, data: DepositRefundSent) {
  const wanted = {
    connectionNumber: data.connectionNumber.trim(),
    amount: requireAmount(call, 'data.amount', data.amount),
    reference: data.reference.trim(),
    reason: data.reason.trim(),
    paymentMethod: data.paymentMethod ?? 'Bank',
  };
  const { tenantId } = call.tenant;
  const { paymentId, isRepeated } = await refund(call.tx, tenantId, wanted, postingOf(call));
  if (!isRepeated) {
    call.audit({ subject: 'payment', subjectId: paymentId, before: null, after: wanted });
  }
  const message = `Refund ${wanted.reference} ${isRepeated ? 'was already' : 'is'} made`;
  return { message, paymentId, isRepeated, amount: wanted.amount };
}
