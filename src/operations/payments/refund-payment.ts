import * as Type from 'typebox';
import { refundPayment as refund } from '../../domain/receivables/wallet.ts';
import { requireSecondPerson } from '../approving.ts';
import { empty, filledText, id, limits, maybe, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { amountSent, paymentMethod, postingOf, requireAmount } from './payment-fields.ts';

const refundSent = Type.Object({
  partyID: id,
  amount: amountSent,
  reference: filledText({ max: 120 }),
  paymentMethod,
  remark: maybe(text({ max: limits.text })),
});
export type RefundSent = Type.Static<typeof refundSent>;

export const refundPayment = operation({
  path: '/billing/payments/refund-payment',
  method: 'Update',
  action: 'Refund Payment',
  access: { permission: 'payments:manage' },
  summary: 'Pays money of a wallet back to its party.',
  request: Type.Object({
    data: refundSent,
  }),
  response: empty,
  errors: ['PARTY_NOT_FOUND', 'DUPLICATE', 'WALLET_TOO_LOW', 'NOT_CLEARED', 'APPROVAL_REQUIRED'],
  example: {
    data: { partyID: 1, amount: 250, reference: 'RF-2026-000012', paymentMethod: 'Bank' },
  },
  async handle(call, { data }) {
    const { message, paymentId, isRepeated, amount } = await makeRefund(call, data);
    if (!isRepeated) {
      const { reference } = data;
      await requireSecondPerson(call, { kind: 'Refund', reference, amount, request: data });
    }
    return { message, data: {}, ids: { resourceIds: [paymentId] } };
  },
});

export async function makeRefund(call: Call, data: RefundSent) {
  const wanted = {
    partyId: data.partyID,
    amount: requireAmount(call, 'data.amount', data.amount),
    reference: data.reference.trim(),
    paymentMethod: data.paymentMethod,
    remark: data.remark || null,
  };
  const { tenantId } = call.tenant;
  const { paymentId, isRepeated } = await refund(call.tx, tenantId, wanted, postingOf(call));
  if (!isRepeated) {
    call.audit({ subject: 'payment', subjectId: paymentId, before: null, after: wanted });
  }
  const done = isRepeated ? 'was already made' : 'is made';
  const message = `Refund ${wanted.reference} ${done}`;
  return { message, paymentId, isRepeated, amount: wanted.amount };
}
