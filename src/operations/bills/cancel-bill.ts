import * as Type from 'typebox';
import { type Cancelling, cancelBillStep } from '../../billrun/cancel-bill.ts';
import { billNotFound, findBillKey } from '../../domain/bills/store.ts';
import { empty, filledText, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep, scheduleOperation, stepErrors } from '../scheduling.ts';

export const cancelBillOperation = operation({
  path: '/billing/bills/cancel-bill',
  method: 'Update',
  action: 'Cancel Bill',
  access: { permission: 'bills:post' },
  summary: 'Cancels a posted bill with a credit note; can open a term that bills its days again.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({
      billID: id,
      reason: filledText({ max: 500 }),
      rebill: maybe(
        Type.Boolean({ description: 'opens an OffCycle term for the same subscriptions and days' }),
      ),
    }),
  }),
  response: empty,
  errors: ['BILL_NOT_FOUND', 'SERVICE_ARCHIVED', ...stepErrors],
  example: { data: { billID: 1, reason: 'The meter was misread', rebill: true } },
  async handle(call, { data }) {
    const { billID: billId } = data;
    const found = await findBillKey(call.tx, call.tenant.tenantId, billId);
    if (!found) throw billNotFound(billId, 'data.billID');
    const parameters: Cancelling = { reason: data.reason.trim(), rebill: data.rebill ?? false };
    return requestStep(call, cancelBillStep, {
      termId: found.term_id,
      billId,
      parameters,
      sheduleTime: null,
      audited: { billID: billId, ...parameters },
    });
  },
  settle: awaitJob,
});
