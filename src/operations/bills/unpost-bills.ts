import * as Type from 'typebox';
import { unpostBillsStep } from '../../billrun/unpost.ts';
import { empty, filledText, id } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';

export const unpostBills = operation({
  path: '/billing/bills/unpost-bills',
  method: 'Update',
  action: 'Unpost Bills',
  access: { permission: 'bills:post' },
  summary:
    'Unposts a term: reverses its journals, retires its numbers and makes its bills drafts again.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({ termID: id, reason: filledText({ max: 500 }), sheduleTime }),
  }),
  response: empty,
  errors: stepErrors,
  example: { operation: 'schedule', data: { termID: 1, reason: 'Wrong fuel price' } },
  handle(call, { data }) {
    const { termID: termId, reason, sheduleTime: at } = data;
    const parameters = { reason };
    const asked = { termId, parameters, sheduleTime: at, audited: parameters };
    return requestStep(call, unpostBillsStep, asked);
  },
  settle: awaitJob,
});
