import * as Type from 'typebox';
import { distributeBillsStep } from '../../billrun/distribute.ts';
import { empty, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';

export const distributeBills = operation({
  path: '/billing/bills/distribute-bills',
  method: 'Distribute',
  action: 'Distribute Bills',
  access: { permission: 'bills:distribute' },
  summary: 'Step 9 of a bill run: sends the published bills of the term, or one, to the customers.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({
      termID: id,
      sheduleTime,
      resend: maybe(
        Type.Boolean({ description: 'Also bills that were sent before; without it, only others' }),
      ),
    }),
    billId: maybe(Type.Integer({ ...id, description: 'That bill, even if it was sent before' })),
  }),
  response: empty,
  errors: [
    ...stepErrors,
    'TERM_NOT_PUBLISHED',
    'BILL_NOT_FOUND',
    'BILL_NOT_IN_TERM',
    'NO_DELIVERY_CHANNEL',
  ],
  example: {
    operation: 'schedule',
    data: { termID: 1, sheduleTime: '2025-08-02T10:00:00' },
    billId: null,
  },
  handle(call, { data, billId }) {
    const isAgain = data.resend === true;
    return requestStep(call, distributeBillsStep, {
      termId: data.termID,
      billId: billId ?? null,
      parameters: isAgain ? { resend: true } : {},
      sheduleTime: data.sheduleTime,
      audited: { billID: billId ?? null, resend: isAgain },
    });
  },
  settle: awaitJob,
});
