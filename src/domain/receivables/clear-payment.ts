// The bank has paid a cheque.
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { findCheque, updateCleared } from './cheques-store.ts';
import { findPayment, type PaymentRow } from './payments-store.ts';

export async function clearPayment(
  tx: Tx,
  tenantId: number,
  { paymentId, clearedDate }: { paymentId: number; clearedDate: Temporal.PlainDate },
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<PaymentRow> {
  const field = 'data.paymentID';
  if (Temporal.PlainDate.compare(clearedDate, today) > 0) {
    const message = 'The date of clearing is not after today';
    throw new AppError('DATE_IN_FUTURE', { message, field: 'data.clearedDate' });
  }
  const payment = await findPayment(tx, tenantId, paymentId);
  if (!payment) throw new AppError('PAYMENT_NOT_FOUND', { field });
  const cheque = await findCheque(tx, tenantId, paymentId);
  if (!cheque) {
    const message = `Payment ${payment.reference} is not a cheque`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  if (payment.is_reversed || cheque.cleared_date !== null) {
    const state = payment.is_reversed ? 'reversed' : 'cleared';
    const message = `Payment ${payment.reference} was already ${state}`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  const date = clearedDate.toString();
  await updateCleared(tx, tenantId, { paymentId, date, by: stamp.by });
  return payment;
}
