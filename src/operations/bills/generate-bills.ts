import * as Type from 'typebox';
import { generateBillsStep } from '../../billrun/generate.ts';
import { empty, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';

export const generateBills = operation({
  path: '/billing/bills/generate-bills',
  method: 'Generate',
  action: 'Generate Bills',
  access: { permission: 'bills:write' },
  summary: 'Step 6 of a bill run: generates the drafts of all bills of a term, or one of them.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({ termID: id, sheduleTime }),
    billId: maybe(id),
  }),
  response: empty,
  errors: [...stepErrors, 'READINGS_NOT_POSTED', 'BILL_NOT_FOUND', 'BILL_NOT_IN_TERM'],
  example: {
    operation: 'schedule',
    data: { termID: 1, sheduleTime: '2025-08-01T02:00:00' },
    billId: null,
  },
  handle(call, { data, billId }) {
    const { termID: termId, sheduleTime: at } = data;
    const audited = billId ? { billID: billId } : {};
    return requestStep(call, generateBillsStep, {
      termId,
      billId: billId ?? null,
      sheduleTime: at,
      audited,
    });
  },
  settle: awaitJob,
});
