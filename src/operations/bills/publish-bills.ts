import * as Type from 'typebox';
import { publishBillsStep } from '../../billrun/publish.ts';
import { empty, id } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';
import { acceptDueDate, acceptedDueDate } from './due-date-fields.ts';

export const publishBills = operation({
  path: '/billing/bills/publish-bills',
  method: 'Publish',
  action: 'Publish Bills',
  access: { permission: 'bills:post' },
  summary:
    'Step 8 of a bill run: creates the documents of the posted bills and shows them to customers.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({ termID: id, sheduleTime, acceptDueDate }),
    billId: Type.Optional(Type.Null({ description: 'Bills are published all together' })),
  }),
  response: empty,
  errors: [...stepErrors, 'DUE_DATE_TOO_EARLY', 'BILLS_NOT_PUBLISHED'],
  example: {
    operation: 'schedule',
    data: { termID: 1, sheduleTime: '2025-08-02T06:00:00' },
    billId: null,
  },
  handle(call, { data }) {
    const { termID: termId, sheduleTime: at } = data;
    const parameters = acceptedDueDate(data);
    const asked = { termId, parameters, sheduleTime: at, audited: parameters };
    return requestStep(call, publishBillsStep, asked);
  },
  settle: awaitJob,
});
