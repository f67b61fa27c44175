import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { findTaken } from '../../domain/receivables/payments-store.ts';
import { reversePayment as reverse } from '../../domain/receivables/reverse.ts';
import { empty, filledText, id, maybe, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { amountSent, postingOf, requireAmount } from './payment-fields.ts';

export const reversePayment = operation({
  path: '/billing/payments/reverse-payment',
  method: 'Update',
  action: 'Reverse Payment',
  access: { permission: 'payments:write' },
  summary: 'Takes a payment back; what it settled is open again. It may add a fee.',
  request: Type.Object({
    data: Type.Object({
      paymentID: id,
      reason: filledText({ max: 500 }),
      chargeComponent: maybe(text({ max: 120 })),
      chargeAmount: maybe(amountSent),
    }),
  }),
  response: empty,
  errors: ['PAYMENT_NOT_FOUND', 'ALREADY_REVERSED', 'INVALID_STATE'],
  example: { data: { paymentID: 1, reason: 'The cheque bounced' } },
  async handle(call, { data }) {
    const { tenantId } = call.tenant;
    await assertOwnOfToday(call, data.paymentID);
    const wanted = {
      paymentId: data.paymentID,
      reason: data.reason.trim(),
      fee: feeOf(call, data),
    };
    const payment = await reverse(call.tx, tenantId, wanted, postingOf(call));
    call.audit({
      subject: 'payment',
      subjectId: data.paymentID,
      before: { status: 'Posted', reason: null, fee: null },
      after: { status: 'Reversed', reason: wanted.reason, fee: wanted.fee },
    });
    return { message: `Payment ${payment.reference} is reversed`, data: {} };
  },
});

/** Without the right to manage payments a cashier reverses what that cashier took today. */
async function assertOwnOfToday(call: Call, paymentId: number): Promise<void> {
  if (call.principal.permissions.has('payments:manage')) return;
  const taken = await findTaken(call.tx, call.tenant.tenantId, paymentId);
  if (!taken) return;
  const { timezone } = call.tenant;
  const isToday = dateIn(taken.created_at, timezone).equals(dateIn(call.now, timezone));
  if (taken.created_by === call.principal.name && isToday) return;
  const message = 'A cashier reverses own payments of the same day; ask a manager for others';
  throw new AppError('PERMISSION_DENIED', { message, field: 'data.paymentID' });
}

function feeOf(
  call: Call,
  sent: { chargeComponent?: string | null; chargeAmount?: number | string | null },
): { component: string; amount: number } | null {
  const component = sent.chargeComponent?.trim() || null;
  const { chargeAmount = null } = sent;
  if (component === null && chargeAmount === null) return null;
  if (component === null || chargeAmount === null) {
    const field = component === null ? 'data.chargeComponent' : 'data.chargeAmount';
    const message = 'A fee needs both chargeComponent and chargeAmount';
    throw new AppError('REQUIRED_FIELD', { message, field });
  }
  return { component, amount: requireAmount(call, 'data.chargeAmount', chargeAmount) };
}
