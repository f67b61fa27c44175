import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { transferPayment as transfer } from '../../domain/receivables/move-payment.ts';
import { empty, filledText, id, limits, maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from './payment-fields.ts';

export const transferPayment = operation({
  path: '/billing/payments/transfer-payment',
  method: 'Update',
  action: 'Transfer Payment',
  access: { permission: 'payments:manage' },
  summary: 'Moves a payment to the customer that it belongs to.',
  request: Type.Object({
    data: Type.Object({
      paymentID: id,
      toPartyNumber: maybe(id),
      toConnectionNumber: maybe(text({ max: 120 })),
      reason: filledText({ max: limits.text }),
    }),
  }),
  response: empty,
  errors: [
    'PAYMENT_NOT_FOUND',
    'PARTY_NOT_FOUND',
    'SUBSCRIPTION_NOT_FOUND',
    'PARTY_ARCHIVED',
    'ALREADY_REVERSED',
    'INVALID_STATE',
    'DUPLICATE',
  ],
  example: {
    data: { paymentID: 1, toConnectionNumber: 'ELEC-00000002', reason: 'Wrong house number' },
  },
  async handle(call, { data }) {
    const to = {
      partyNumber: data.toPartyNumber ?? null,
      connectionNumber: data.toConnectionNumber || null,
    };
    if ((to.partyNumber === null) === (to.connectionNumber === null)) {
      const message = 'Name the customer by exactly one of toPartyNumber, toConnectionNumber';
      throw new AppError('REQUIRED_FIELD', { message, field: 'data.toPartyNumber' });
    }
    const wanted = { paymentId: data.paymentID, to, reason: data.reason.trim() };
    const { tenantId } = call.tenant;
    const { payment, newId } = await transfer(call.tx, tenantId, wanted, postingOf(call));
    call.audit({
      subject: 'payment',
      subjectId: data.paymentID,
      before: { status: 'Posted', movedTo: null, reason: null },
      after: { status: 'Reversed', movedTo: newId, reason: wanted.reason },
    });
    const message = `Payment ${payment.reference} is now payment ${newId} of the other customer`;
    return { message, data: {}, ids: { resourceIds: [newId] } };
  },
});
