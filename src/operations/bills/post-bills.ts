import * as Type from 'typebox';
import { postBillsStep } from '../../billrun/post.ts';
import { empty, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';
import { acceptDueDate, acceptedDueDate } from './due-date-fields.ts';

export const postBills = operation({
  path: '/billing/bills/post-bills',
  method: 'Post',
  action: 'Post Bills',
  access: { permission: 'bills:post' },
  summary: 'Step 7 of a bill run: numbers the bills and posts them to the ledger.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({
      termID: id,
      sheduleTime,
      skipErrors: maybe(
        Type.Boolean({ description: 'true leaves out bills in error and on hold' }),
      ),
      acceptDueDate,
    }),
    billId: maybe(Type.Unsafe<null>({ type: 'null', description: 'a term is posted as a whole' })),
  }),
  response: empty,
  errors: [
    ...stepErrors,
    'TERM_STALE_GENERATE_AGAIN',
    'TERM_HAS_OPEN_BILLS',
    'NOTHING_TO_POST',
    'DUE_DATE_TOO_EARLY',
    'DUPLICATE',
  ],
  example: {
    operation: 'schedule',
    data: { termID: 1, sheduleTime: '2025-08-01T02:00:00', skipErrors: false },
    billId: null,
  },
  handle(call, { data }) {
    const { termID: termId, sheduleTime: at } = data;
    const parameters = { skipErrors: data.skipErrors ?? false, ...acceptedDueDate(data) };
    const asked = { termId, parameters, sheduleTime: at, audited: parameters };
    return requestStep(call, postBillsStep, asked);
  },
  settle: awaitJob,
});
