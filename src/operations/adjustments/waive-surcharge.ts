import * as Type from 'typebox';
import { waiveSurcharge as waive } from '../../domain/receivables/waive-surcharge.ts';
import { empty, filledText, id } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';

export const waiveSurcharge = operation({
  path: '/billing/adjustments/waive-surcharge',
  method: 'Update',
  action: 'Waive Surcharge',
  access: { permission: 'credits:write' },
  summary: 'Credits the late payment surcharge of a bill; what was paid of it goes to the wallet.',
  request: Type.Object({
    data: Type.Object({ billID: id, reason: filledText({ max: 500 }) }),
  }),
  response: empty,
  errors: ['BILL_NOT_FOUND', 'INVALID_STATE'],
  example: { data: { billID: 991, reason: 'The bank was closed on the due date' } },
  async handle(call, { data }) {
    const { billID: billId } = data;
    const reason = data.reason.trim();
    const wanted = { billId, reason };
    const { amount, toWallet } = await waive(
      call.tx,
      call.tenant.tenantId,
      wanted,
      postingOf(call),
    );
    const after = { waived: amount, toWallet, reason };
    const before = { waived: 0, toWallet: 0, reason: null };
    call.audit({ subject: 'bill', subjectId: billId, before, after });
    return { message: `The surcharge of bill ${billId} is waived`, data: {} };
  },
});
