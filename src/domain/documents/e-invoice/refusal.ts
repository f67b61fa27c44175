import { AppError } from '../../../base/errors.ts';

export function refusal(reason: string): AppError {
  return new AppError('E_INVOICE_NOT_POSSIBLE', { message: `There is no e-invoice: ${reason}` });
}
