import * as Type from 'typebox';
import { refundPayment as refund } from '../../domain/receivables/wallet.ts';
import { empty, filledText, id, limits, maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { amountSent, paymentMethod, postingOf, requireAmount } from './payment-fields.ts';

export const refundPayment = operation({
  path: '/billing/payments/refund-payment',
  method: 'Update',
  action: 'Refund Payment',
  access: { permission: 'payments:manage' },
  summary: 'Pays money of a wallet back to its party.',
  request: Type.Object({
    data: Type.Object({
      partyID: id,
      amount: amountSent,
      reference: filledText({ max: 120 }),
      paymentMethod,
      remark: maybe(text({ max: limits.text })),
    }),
  }),
  response: empty,
  errors: ['PARTY_NOT_FOUND', 'DUPLICATE', 'WALLET_TOO_LOW', 'NOT_CLEARED'],
  example: {
    data: { partyID: 1, amount: 250, reference: 'RF-2026-000012', paymentMethod: 'Bank' },
  },
  async handle(call, { data }) {
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
    const message = isRepeated
      ? `Refund ${wanted.reference} was already made`
      : `Refund ${wanted.reference} is made`;
    return { message, data: {}, ids: { resourceIds: [paymentId] } };
  },
});
